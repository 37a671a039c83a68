/** `preview/traces.html`: head, index, diagnostics, blocks of tokens, script, written as a stream. What it holds: `contract.ts`. */
import { readFileSync } from 'node:fs'
import type { TokenBlocks } from '../../compute/traces/page-blocks.js'
import { refuseSecretsInJson } from '../outputs/json-secrets.js'
import type { FileSummary } from '../outputs/output-file.js'
import { EXPLORER_PAGE, type Generator } from '../outputs/output-names.js'
import type { OutputSet } from '../outputs/output-set.js'
import { documentParts, scriptJson, type DocumentParts } from '../page/shell.js'
import { styleSheet } from '../page/style.js'
import { visible } from '../page/text.js'
import type { ExplorerDocument, ExplorerSnapshot } from './contract.js'
import { EXPLORER_STYLE } from './style.js'

/** The script, as the build made it (`tools/build.ts`): it is no module of the program. */
const SCRIPT = '../../../bundle/explorer.js'

export interface ExplorerPage {
  readonly generator: Generator
  /** whether it has texts of turns */
  readonly texts: boolean
  readonly snapshots: readonly PageSnapshot[]
}

export interface ServedPage extends Omit<ExplorerPage, 'snapshots'> {
  readonly snapshots: ReadonlyArray<Omit<PageSnapshot, 'blocks'>>
}

export interface PageSnapshot {
  readonly snapshot: ExplorerSnapshot
  /** see `ExplorerCollector` */
  readonly blocks: readonly TokenBlocks[]
  /** HTML of its findings and of the critic's quality; null: not diagnosed */
  readonly diagnostics: string | null
}

/** The head, and the end with the script: what a served page has too. The caller puts the elements of `contract.ts` between them. */
export function explorerParts({ generator, snapshots, tokens }: ExplorerDocument): DocumentParts {
  const synthetic = snapshots.some(snapshot => snapshot.synthetic)
  const names = snapshots.map(({ name }) => name).join(', ')
  return documentParts({
    title: visible(`Traces: ${names}`),
    study: { name: names, synthetic },
    generator,
    style: styleSheet({ synthetic, failed: false, diagnostics: true }) + EXPLORER_STYLE,
    failed: '',
    contents: '',
    main: '<noscript><p>This page shows traces with its script, which this browser does not run.</p></noscript>',
    foot: { before: '', after: '' },
    script: { text: explorerScript(), asksServer: tokens === 'served' }
  })
}

/** The index as an element. @throws Fault (exit 3) where a text of it looks like a secret */
export function indexElement(document: ExplorerDocument): string {
  const { snapshots } = document
  // Pictures in base64 are no texts.
  refuseSecretsInJson({ ...document, snapshots: snapshots.map(each => ({ ...each, traces: { ...each.traces, sparks: '' } })) })
  return `<script type="application/json" id="explorer">${scriptJson(document)}</script>\n`
}

export function diagnosticsElement(snapshot: number, html: string): string {
  return `<template id="diagnostics-${snapshot}">${html}</template>\n`
}

/** The page of a server, which has tokens and texts. */
export function servedPage({ generator, texts, snapshots }: ServedPage): string {
  const document: ExplorerDocument = { generator, tokens: 'served', texts, snapshots: snapshots.map(({ snapshot }) => snapshot) }
  const { before, after } = explorerParts(document)
  const diagnoses = snapshots.map(({ diagnostics }, s) => (diagnostics === null ? '' : diagnosticsElement(s, diagnostics)))
  return before + indexElement(document) + diagnoses.join('') + after
}

export async function writeExplorerPage(set: OutputSet, { generator, texts, snapshots }: ExplorerPage): Promise<FileSummary> {
  const document: ExplorerDocument = {
    generator,
    tokens: 'embedded',
    texts,
    snapshots: snapshots.map(({ snapshot }) => snapshot)
  }
  const { before, after } = explorerParts(document)
  const file = await set.file(EXPLORER_PAGE, { sha256: true })
  const write = (text: string): Promise<void> => file.write(Buffer.from(text, 'utf8'))
  await write(before + indexElement(document))
  for (const [s, { blocks, diagnostics }] of snapshots.entries()) {
    if (diagnostics !== null) await write(diagnosticsElement(s, diagnostics))
    for (const [t, block] of blocks.entries()) {
      await write(blockElement(`tokens-${s}-${t}`, block.tokens))
      if (texts && block.texts !== null) await write(blockElement(`texts-${s}-${t}`, block.texts))
    }
  }
  await write(after)
  return file.end()
}

function blockElement(id: string, block: Uint8Array): string {
  return `<script type="application/gzip" id="${id}">${Buffer.from(block.buffer, block.byteOffset, block.length).toString('base64')}</script>\n`
}

function explorerScript(): string {
  return readFileSync(new URL(SCRIPT, import.meta.url), 'utf8')
}

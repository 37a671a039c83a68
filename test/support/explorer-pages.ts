/** Pages of the explorer, made of traces that a test states, with texts, and without a run. */
import { gzipSync } from 'node:zlib'
import type { TraceResult } from '../../src/compute/traces/contract.js'
import { pageBlocks } from '../../src/compute/traces/page-blocks.js'
import type { ExplorerDocument, TraceTexts } from '../../src/render/explorer/contract.js'
import { ExplorerOverview } from '../../src/render/explorer/overview.js'
import { diagnosticsElement, explorerParts, indexElement } from '../../src/render/explorer/page.js'
import type { TraceFields } from '../../src/schema/traces.js'

export interface ExploredTrace {
  readonly values: readonly number[] | Float32Array | Float64Array
  readonly returns?: readonly number[]
  /** first tokens of the turns behind the first one */
  readonly starts?: readonly number[]
  readonly fields?: Partial<TraceFields>
  readonly texts?: TraceTexts
}

export interface ExploredSnapshotOfTest {
  readonly name: string
  readonly traces: readonly ExploredTrace[]
  readonly synthetic?: boolean
  readonly diagnostics?: string
}

interface TraceOfTest {
  readonly values: Float32Array | Float64Array
  readonly returns: Float64Array
  readonly responsePositions: Int32Array
  readonly boundaries: Int32Array
}

function tokensOf({ values, returns, starts = [] }: ExploredTrace): TraceOfTest {
  const { length } = values
  const boundaries = Int32Array.from(starts, start => start - 1)
  const first = new Set(starts)
  const positions = new Int32Array(length)
  // Ten positions of a prompt or a tool lie before each turn.
  for (let i = 0, position = 9; i < length; i++) positions[i] = position += first.has(i) ? 11 : 1
  return {
    values: values instanceof Float32Array ? values : Float64Array.from(values),
    returns: Float64Array.from({ length }, (_, i) => returns?.[i] ?? 1),
    responsePositions: positions,
    boundaries
  }
}

function resultOf(index: number, { fields }: ExploredTrace, { values, returns, boundaries }: TraceOfTest): TraceResult {
  const { length } = values
  const squares = Array.from(values, (value, i) => (value - returns[i]) ** 2)
  const statistics = {
    tokens: length,
    mean: Array.from(values).reduce((a, b) => a + b, 0) / length,
    delta: values[length - 1] - values[0],
    rmse: Math.sqrt(squares.reduce((a, b) => a + b, 0) / length),
    boundary: { transitions: boundaries.length }
  }
  const none = { step: null, outcome: null, score: null, uid: null }
  // The overview takes these fields and statistics, and no others.
  return { index, fields: { ...none, ...fields }, statistics } as unknown as TraceResult
}

/** The page as it is written with `--texts` where every trace has texts. */
export function explorerHtml(snapshots: readonly ExploredSnapshotOfTest[]): string {
  const elements: string[] = []
  const made: ExplorerDocument['snapshots'][number][] = []
  const block = (id: string, bytes: Uint8Array): number =>
    elements.push(`<script type="application/gzip" id="${id}">${Buffer.from(bytes).toString('base64')}</script>\n`)
  for (const [s, { name, traces, synthetic = true, diagnostics }] of snapshots.entries()) {
    const overview = new ExplorerOverview(0.1)
    for (const [t, trace] of traces.entries()) {
      const tokens = tokensOf(trace)
      overview.take(resultOf(t, trace, tokens), tokens)
      block(`tokens-${s}-${t}`, pageBlocks(tokens, null).tokens)
      if (trace.texts !== undefined) block(`texts-${s}-${t}`, gzipSync(JSON.stringify(trace.texts)))
    }
    if (diagnostics !== undefined) elements.push(diagnosticsElement(s, diagnostics))
    made.push(overview.snapshot({ name, synthetic, snapshotTime: null }))
  }
  const document: ExplorerDocument = {
    generator: { name: 'critic-traces', version: '0.0.0' },
    tokens: 'embedded',
    texts: snapshots.every(({ traces }) => traces.every(({ texts }) => texts !== undefined)),
    snapshots: made
  }
  const { before, after } = explorerParts(document)
  return before + indexElement(document) + elements.join('') + after
}

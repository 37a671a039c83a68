/** Inputs of pages: pictures and figures by name, and what a run of the replica filled its templates from. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCanvas } from 'canvas'
import { audit } from '../../src/compute/audit/audit.js'
import type { AuditReport, PageText } from '../../src/compute/audit/contract.js'
import { Documents } from '../../src/compute/documents.js'
import { checkClaims } from '../../src/study/claims.js'
import type { PageFigure, ProseInputs } from '../../src/render/page/index.js'
import type { Claims } from '../../src/schema/claims.js'
import { tree } from './folders.js'
import type { ReplicaRun } from './replica-run.js'

/** An empty picture. */
export function picture(width: number, height: number): Uint8Array {
  return createCanvas(width, height).toBuffer('image/png')
}

export const FIGURE_NAMES = [
  '01-scores',
  '02-efficiency',
  '03-training-by-step',
  '04-training-over-time',
  '05-sao-recipe-training',
  '06-sao-critic-diagnostics',
  '07-multilingual-cases',
  '08-critic-traces',
  'critic-quality',
  'boundary-jumps'
] as const

/** A picture without content. */
export function svg(name: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" role="img" aria-label="${name}"></svg>`
}

export function figures(): readonly PageFigure[] {
  return FIGURE_NAMES.map(name => ({
    name,
    title: `Title of ${name}`,
    description: `What ${name} shows, in words.`,
    picture: { wide: svg(name), column: svg(`${name}-column`) },
    files: ['png', 'svg', 'pdf'].map(format => `figures/${name}.${format}`),
    data: ['wandb/plot_points_with_provenance.csv']
  }))
}

export function claimsOf({ study }: ReplicaRun): Claims {
  const value: unknown = JSON.parse(readFileSync(join(study, 'claims.json'), 'utf8'))
  return checkClaims(value, { format: 'claims', place: {}, paths: [] })
}

/** Outputs that are written when the pages are, or after them: a reference leads to none of these. */
const WRITTEN_LAST = ['audit.json', 'run.json', 'timings.json']

export interface ReplicaProse extends ProseInputs {
  readonly documents: Documents
}

/** What the prose of a run is made of, from its study and its outputs. */
export function proseInputs(run: ReplicaRun): ReplicaProse {
  const outputs = tree(run.out)
  const documents = new Documents(
    new Map(
      outputs
        .filter(path => path.endsWith('.json') && !WRITTEN_LAST.includes(path))
        .map(path => [path, readFileSync(join(run.out, path), 'utf8')])
    )
  )
  const template = (path: string): { path: string; text: string } => ({ path, text: readFileSync(join(run.study, path), 'utf8') })
  const { claims, discrepancies } = auditOf(run, documents, null)
  return {
    templates: { article: template('article/article.md'), notes: template('article/source-notes.md') },
    documents,
    inputsOf: () => [],
    claims,
    discrepancies,
    figures: figures(),
    outputs
  }
}

/** The audit of the replica's claims against `documents`, and of what `pages` say. */
export function auditOf(run: ReplicaRun, documents: Documents, pages: readonly PageText[] | null): AuditReport {
  return audit(claimsOf(run), { synthetic: true, documents, pages, inputsOf: () => [] })
}

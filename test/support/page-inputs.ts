/**
 * Inputs of pages without a run: documents in which every claim and every contradicting source of a claims file stands where
 * the file says, the audit of them, and small pictures. What the pages refer to beyond that is in `EXTRA`.
 */
import { readFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import { audit } from '../../src/compute/audit/audit.js'
import type { AuditReport, PageText } from '../../src/compute/audit/contract.js'
import { Documents, parseReference, pointerTokens } from '../../src/compute/documents.js'
import { checkClaims } from '../../src/ingest/claims.js'
import type { PageFigure, PageInputs } from '../../src/render/page/index.js'
import type { Claims } from '../../src/schema/claims.js'
import { fixture } from './paths.js'

type Node = { [name: string]: Node | unknown }

/** What the replica's templates refer to and no claim does: reference, then value. Titles and the like stand beside a value. */
const EXTRA: ReadonlyArray<readonly [reference: string, value: unknown]> = [
  ['time_display.json#/selections/sao/factor', 0.5],
  ['time_display.json#/selections/gspo/factor', 0.9922277515725694],
  ['wandb/curve_statistics.json#/supplied/metrics/reward/trailing_mean', 10],
  ['wandb/curve_statistics.json#/selections/gspo/thresholds/score68/at_least', 0.68],
  ['wandb/curve_statistics.json#/selections/gspo/thresholds/score68/previous/step', 45],
  ['wandb/curve_statistics.json#/selections/gspo/thresholds/score68/previous/elapsed_hours', 57.855203966961966],
  ['wandb/curve_statistics.json#/selections/sao/thresholds/score68/previous/step', 160],
  ['wandb/curve_statistics.json#/selections/sao/thresholds/score68/previous/elapsed_hours', 74.55954634964466],
  ['wandb/sao_r6_r7_statistics.json#/selections/sao_r6/metrics/explained_variance/windows/steps_40_100/steps', [40, 100]],
  ['wandb/sao_r6_r7_statistics.json#/selections/sao_r6/metrics/turns/windows/steps_120_139/steps', [120, 139]],
  ['training_data/recipe-validation-start.json#/step', 0],
  ['derived_metrics.json#/values/verified.gain.gspo/value', 6.4],
  ['derived_metrics.json#/values/verified.gain.sao/value', 4.6],
  ['data.json#/values/tutorial.sao.steps/value', 180],
  ['data.json#/values/gspo.waiting/value', 61],
  ['data.json#/values/gspo.waiting/published', false],
  ['data.json#/values/sao.waiting/value', 38],
  ['data.json#/values/sao.waiting/published', false],
  ['data.json#/values/sao.multilingual/value', 54.33],
  ['data.json#/values/sao.multilingual/published', false],
  ['data.json#/values/gspo.multilingual/title', 'GSPO on SWE-bench Multilingual'],
  ['data.json#/values/gspo.multilingual/unit', 'percent'],
  ['data.json#/values/gspo.multilingual/file', 'sources/evaluation.xlsx'],
  ['data.json#/values/gspo.multilingual/sha256', 'a'.repeat(64)],
  ['data.json#/values/gspo.multilingual/sheet', '评测矩阵'],
  ['data.json#/values/gspo.multilingual/cell', 'L8'],
  ['data.json#/values/slide5.gspo.multilingual/title', 'GSPO on SWE-bench Multilingual, as slide 5 has it'],
  ['data.json#/values/slide5.gspo.multilingual/excluded', 'the workbook states another score'],
  ['data.json#/values/slide5.gspo.multilingual/file', 'sources/slides.pptx'],
  ['data.json#/values/slide5.gspo.multilingual/slide', 5]
]

export function replicaClaims(): Claims {
  const value: unknown = JSON.parse(readFileSync(fixture('replica', 'claims.json'), 'utf8'))
  return checkClaims(value, { format: 'claims', place: {}, paths: [] })
}

/** Documents in which what `claims` publish stands, exactly; a claim has more digits than a source that is quoted beside another. */
export function documentsOf({ claims, discrepancies }: Claims): Documents {
  const roots = new Map<string, Node>()
  for (const { sources } of discrepancies) {
    for (const { reference, value } of sources) if (reference !== null && value !== null) set(roots, reference, value)
  }
  for (const { value, from, elements, scale } of claims) {
    const places = elements.length > 0 && Array.isArray(value) ? elements.map((place, i) => [place, value[i]] as const) : from.map(place => [place, value] as const)
    for (const [place, found] of places) set(roots, place, typeof found === 'number' ? found / scale : found)
  }
  for (const [reference, value] of EXTRA) set(roots, reference, value)
  return new Documents(new Map([...roots].map(([path, root]) => [path, `${JSON.stringify(root, null, 2)}\n`])))
}

function set(roots: Map<string, Node>, reference: string, value: unknown): void {
  const pointed = parseReference(reference)
  if (pointed === null) throw new Error(`${reference} is no reference`)
  let node = roots.get(pointed.file) ?? {}
  roots.set(pointed.file, node)
  const tokens = pointerTokens(pointed.pointer)
  for (const token of tokens.slice(0, -1)) node = (node[token] ??= {}) as Node
  node[tokens[tokens.length - 1]] = value
}

/** A white picture with a grey border. */
export function picture(width: number, height: number): Uint8Array {
  const rows = Buffer.alloc((width + 1) * height, 255)
  for (let y = 0; y < height; y++) {
    rows[y * (width + 1)] = 0
    if (y === 0 || y === height - 1) rows.fill(120, y * (width + 1) + 1, (y + 1) * (width + 1))
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8 + body.length)
  frame.writeUInt32BE(data.length, 0)
  body.copy(frame, 4)
  frame.writeUInt32BE(crc32(body), 4 + body.length)
  return frame
}

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let k = 0; k < 8; k++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

export const FIGURE_NAMES = [
  '01-scores', '02-efficiency', '03-training-by-step', '04-training-over-time', '05-sao-recipe-training', '06-sao-critic-diagnostics',
  '07-multilingual-cases', '08-critic-traces'
] as const

export function figures(png: (name: string) => Uint8Array = () => picture(700, 480)): readonly PageFigure[] {
  return FIGURE_NAMES.map(name => ({
    name, title: `Title of ${name}`, description: `What ${name} shows, in words.`, png: png(name),
    files: ['png', 'svg', 'pdf'].map(format => `figures/${name}.${format}`), data: ['wandb/plot_points_with_provenance.csv']
  }))
}

export function replicaTemplates(): PageInputs['templates'] {
  const template = (name: string): { path: string; text: string } =>
    ({ path: `article/${name}`, text: readFileSync(fixture('replica', 'article', name), 'utf8') })
  return { article: template('article.md'), notes: template('source-notes.md') }
}

/** An audit of the replica's claims against `documents`. */
export function auditOf(claims: Claims, documents: Documents, pages: readonly PageText[] | null): AuditReport {
  return audit(claims, { synthetic: true, documents, pages, inputsOf: () => [{ path: 'wandb/runs.json', sha256: 'b'.repeat(64) }] })
}

/** The replica's pages before the audit has read them. */
export function replicaInputs(change: Partial<PageInputs> = {}): PageInputs {
  const claims = replicaClaims()
  const documents = documentsOf(claims)
  const report = auditOf(claims, documents, null)
  return {
    templates: replicaTemplates(), documents, inputsOf: () => [], claims: report.claims, discrepancies: report.discrepancies, figures: figures(), outputs: ['data.json'],
    study: { name: 'Synthetic replica', synthetic: true }, manifest: null, generator: { name: 'critic-traces', version: '0.0.0' },
    inputs: [{ path: 'sources/evaluation.xlsx', sha256: 'c'.repeat(64), bytes: 12345 }],
    excluded: [{ path: 'critic_traces/later.npz', sha256: 'd'.repeat(64), bytes: 321 }], ...change
  }
}

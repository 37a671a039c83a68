/**
 * The article of a study and the audit of what it publishes. Claims are compared with the documents that the run wrote, and
 * the prose is searched for the contradictions that it must disclose. Then the pages are written.
 *
 *     documents ──► audit without prose ──► templates filled ──► audit of claims and prose ──► audit.json
 *     figures   ────────────────────────────────┴─────────────────────┴──► article.md, source-notes.md, preview/*.html
 */
import type { AuditReport } from '../compute/audit/contract.js'
import { Documents } from '../compute/documents.js'
import { Fault } from '../core/errors.js'
import { refuseSecrets } from '../core/secret-guard.js'
import type { FigureFile } from '../render/figures/config.js'
import type { PlannedFigure } from '../render/figures/definition.js'
import { writeAudit } from '../render/outputs/audit-document.js'
import { AUDIT_PATH } from '../render/outputs/output-names.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { PageFigure, PagePicture, ProseInputs, Template } from '../render/page/index.js'
import type { HashedFile, Study } from '../schema/study.js'
import { openAudit } from './audit.js'
import type { RunContext } from './context.js'
import { inputsOfRun, type SectionInputs } from './provenance.js'

export interface ArticleRun {
  /** true: the audit is strict, whatever the study says */
  readonly strict: boolean
  /** all figures of the run, drawn or not */
  readonly figures: readonly PlannedFigure[]
  readonly formats: readonly FigureFile[]
  /** pictures by figure name; pages are made only where every figure has one */
  readonly pictures: ReadonlyMap<string, PagePicture>
  /** revisions of the code that made the inputs, as the manifest states them */
  readonly revisions: { readonly [name: string]: unknown }
  /** files from which the sections take what they state */
  readonly inputs: readonly HashedFile[]
  /** every file that was verified before the run */
  readonly listed: readonly HashedFile[]
  readonly sectionInputs: readonly SectionInputs[]
}

/**
 * Writes the audit, and the pages where there are pictures for them, into a set that the caller commits.
 *
 * @returns the audit; null where the study names no claims file
 */
export async function writeArticle(context: RunContext, study: Study, set: OutputSet, run: ArticleRun): Promise<AuditReport | null> {
  const { origin } = context
  const documents = new Documents(set.jsonTexts)
  const inputsOf = inputsOfRun(context, documents, run.sectionInputs)
  // 1. Claims against documents
  const auditor = await openAudit(context, study, { documents, inputsOf, strict: run.strict || study.article?.strict === true })
  const first = auditor?.judge(null)
  if (study.article === null) {
    if (auditor !== null && first !== undefined) await writeAudit(set, first, auditor.file, origin)
    return first ?? null
  }
  // 2. Templates filled
  const { proseTexts, writePages, PAGE_OUTPUTS } = await import('../render/page/index.js')
  const templates = { article: readTemplate(context, study.article.article), notes: readTemplate(context, study.article.notes) }
  const prose: ProseInputs = {
    templates: { article: templates.article.template, notes: templates.notes.template },
    documents,
    inputsOf,
    claims: first?.claims ?? [],
    discrepancies: first?.discrepancies ?? [],
    figures: run.figures.map(figure => pageFigure(figure, run)),
    outputs: [...set.paths, AUDIT_PATH, ...PAGE_OUTPUTS]
  }
  const texts = proseTexts(prose)
  // 3. Claims and prose
  const report = auditor?.judge(texts)
  if (auditor !== null && report !== undefined) await writeAudit(set, report, auditor.file, origin)
  // 4. Pages
  if (run.figures.every(({ config }) => run.pictures.has(config.name))) {
    const read = [...run.inputs, ...(auditor === null ? [] : [auditor.file]), templates.article.file, templates.notes.file]
    const { claims = [], same = [], discrepancies = [], guards = [] } = report ?? {}
    await writePages(set, {
      ...prose,
      byline: study.article,
      claims,
      same,
      discrepancies,
      guards,
      unclaimed: report?.strict === true ? (report.unclaimed ?? []) : [],
      study: { name: study.name, synthetic: study.synthetic },
      manifest: origin.manifest,
      revisions: run.revisions,
      generator: origin.generator,
      inputs: read,
      excluded: run.listed.filter(({ path }) => read.every(file => file.path !== path))
    })
  }
  return report ?? null
}

function readTemplate(context: RunContext, path: string): { readonly template: Template; readonly file: HashedFile } {
  const { bytes, file } = context.read(path, 'template')
  const text = utf8(bytes, context.place(path))
  refuseSecrets(text, 'template', { file: context.place(path) })
  return { template: { path, text }, file }
}

function utf8(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Fault({
      format: 'template',
      problem: 'wrong encoding',
      found: 'bytes that are not UTF-8',
      expected: 'UTF-8',
      place: { file },
      cause
    })
  }
}

function pageFigure({ config: { name, title, description }, drawnFrom, readings }: PlannedFigure, run: ArticleRun): PageFigure {
  return {
    name,
    title,
    description,
    picture: run.pictures.get(name) ?? { wide: '', column: '' },
    files: run.formats.map(format => `figures/${name}.${format}`),
    data: drawnFrom,
    ...(readings === undefined ? {} : { readings })
  }
}

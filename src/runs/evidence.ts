/**
 * Written evidence, from files to outputs. Workbook and slides are read once each, configurations with what they inherit,
 * datasets column by column. Values are then derived from them and from the documents that the run wrote before. The caller
 * draws the figures and commits.
 *
 *     workbook ─┐
 *     slides    ├─► values, each with its place ──► data.json ──► derived ──► derived_metrics.json ──► figures' data
 *     configs   │                            └──► materials/…json
 *     documents ┤                            └──► materials/, the documents as they are
 *     datasets ─┘
 */
import { cellValue } from '../compute/evidence/cell-values.js'
import { configValues } from '../compute/evidence/config-values.js'
import type {
  BarFigureData,
  DerivedResult,
  FoundConfig,
  FoundDataset,
  FoundDocument,
  FoundEvidence,
  FoundValue
} from '../compute/evidence/contract.js'
import { deriveValues } from '../compute/evidence/derive.js'
import { documentLines, documentValue } from '../compute/evidence/document-values.js'
import { valueUnreadable } from '../compute/evidence/faults.js'
import { barFigures } from '../compute/evidence/figures.js'
import { TextSearch } from '../compute/evidence/match.js'
import { slideValue } from '../compute/evidence/slide-values.js'
import { Documents } from '../compute/documents.js'
import { printable } from '../core/errors.js'
import { resolveConfig } from '../ingest/config/resolve.js'
import { openPresentation } from '../ingest/office/presentation.js'
import { openWorkbook, type Sheet } from '../ingest/office/workbook.js'
import { auditParquet, type DatasetRequest } from '../ingest/parquet/audit.js'
import { canonicalRelative } from '../core/paths.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { Done, RunContext } from './context.js'
import type { HashedFile } from '../schema/study.js'
import type { DatasetSource, EvidenceStudy, TextDocument } from '../schema/evidence.js'
import { documentCopy, EVIDENCE_DOCUMENTS } from '../schema/outputs.js'

export interface MeasuredEvidence extends FoundEvidence {
  readonly derived: readonly DerivedResult[]
  readonly figures: readonly BarFigureData[]
  /** relative to the study, each file once */
  readonly inputs: readonly HashedFile[]
}

/**
 * Reads everything that the study names, writes nothing.
 *
 * @param onBytes takes the bytes of the files read so far
 * @throws Fault for what cannot be read or is not what the study says
 */
export async function readEvidence(
  context: RunContext,
  study: EvidenceStudy,
  onBytes?: Done
): Promise<FoundEvidence & { readonly inputs: readonly HashedFile[] }> {
  const reading = new Reading(context, onBytes)
  const workbook = study.workbook === null ? null : await reading.workbook(study.workbook)
  const slides = study.slides === null ? null : await reading.slides(study.slides)
  const configs: FoundConfig[] = []
  for (const [i, source] of study.configs.entries()) configs.push(await reading.config(source, `evidence.configs[${i}]`))
  const datasets: FoundDataset[] = []
  for (const source of study.datasets) datasets.push(await reading.dataset(source))
  const documents: FoundDocument[] = []
  const documented: FoundValue[] = []
  for (const [i, source] of study.documents.entries()) {
    const { document, values } = reading.document(source, `evidence.documents[${i}]`)
    documents.push(document)
    documented.push(...values)
  }
  const quoted = study.quoted.map(
    ({ name, value, unit, title, source }): FoundValue => ({
      name,
      value,
      reason: null,
      unit,
      title,
      published: true,
      excluded: null,
      labels: [],
      origin: { source: 'quoted', text: source }
    })
  )
  return {
    workbook: workbook?.file ?? null,
    slides: slides?.file ?? null,
    configs,
    datasets,
    documents,
    values: [...(workbook?.values ?? []), ...(slides?.values ?? []), ...configs.flatMap(config => config.values), ...documented, ...quoted],
    inputs: reading.inputs
  }
}

export type ReadEvidence = Awaited<ReturnType<typeof readEvidence>>

/** Reads the evidence and writes what was read: derived values refer to the text that readers will see. Needs no other section. */
export async function stateEvidence(context: RunContext, study: EvidenceStudy, set: OutputSet, onBytes?: Done): Promise<ReadEvidence> {
  const found = await readEvidence(context, study, onBytes)
  const { writeCaseEvidence, writeDocumentCopies, writeEvidenceData } = await import('../render/outputs/evidence-documents.js')
  await writeEvidenceData(set, found, context.origin)
  await writeCaseEvidence(set, found, context.origin)
  await writeDocumentCopies(set, found)
  return found
}

/**
 * Derives values, and the data of figures, from the evidence and from the other sections' documents in the set.
 *
 * @param legend titles of series that other figures of the study draw, in the order of their colours
 */
export async function deriveEvidence(
  { origin }: RunContext,
  study: EvidenceStudy,
  set: OutputSet,
  found: ReadEvidence,
  legend: readonly string[] = []
): Promise<MeasuredEvidence> {
  const { writeDerivedMetrics } = await import('../render/outputs/evidence-documents.js')
  // 1. Derive
  const documents = new Documents(set.jsonTexts)
  const derived = deriveValues(study.derived, documents)
  await writeDerivedMetrics(set, derived, origin)
  // 2. What figures draw
  documents.add(EVIDENCE_DOCUMENTS.derived, set.jsonTexts.get(EVIDENCE_DOCUMENTS.derived) ?? '')
  return { ...found, derived, figures: barFigures(study.figures, documents, { synthetic: origin.synthetic, legend }) }
}

/** Reads the files of one study and verifies each when it has been read. */
class Reading {
  readonly #context: RunContext
  readonly #onBytes: Done | undefined
  readonly #search = new TextSearch()
  readonly #inputs = new Map<string, HashedFile>()
  #done = 0

  constructor(context: RunContext, onBytes?: Done) {
    this.#context = context
    this.#onBytes = onBytes
  }

  get inputs(): HashedFile[] {
    return [...this.#inputs.values()]
  }

  async workbook({ path, values }: NonNullable<EvidenceStudy['workbook']>): Promise<{ file: HashedFile; values: FoundValue[] }> {
    const { bytes, file } = this.#whole(path, 'xlsx')
    const book = await openWorkbook(bytes, { place: { file: file.path } })
    const names = new Set(book.sheets.map(sheet => sheet.name))
    const sheets = new Map<string, Sheet>()
    const found: FoundValue[] = []
    for (const [i, request] of values.entries()) {
      const at = `evidence.workbook.values[${i}]`
      if (!names.has(request.sheet)) {
        const listed = [...names]
          .slice(0, 12)
          .map(name => printable(JSON.stringify(name), 40))
          .join(', ')
        const wanted = printable(JSON.stringify(request.sheet))
        throw valueUnreadable({ at, name: request.name }, `the sheets ${listed}`, `a sheet ${wanted}`, file.path)
      }
      this.#context.throwIfInterrupted()
      const sheet = sheets.get(request.sheet) ?? (await book.readSheet(request.sheet))
      sheets.set(request.sheet, sheet)
      found.push(cellValue(request, at, sheet, file, this.#search))
    }
    return { file, values: found }
  }

  async slides({ path, pages, values }: NonNullable<EvidenceStudy['slides']>): Promise<{ file: HashedFile; values: FoundValue[] }> {
    const { bytes, file } = this.#whole(path, 'pptx')
    const presentation = await openPresentation(bytes, { place: { file: file.path } })
    const found = values.map((request, i) => slideValue(request, `evidence.slides.values[${i}]`, presentation, pages, file, this.#search))
    return { file, values: found }
  }

  async config(source: EvidenceStudy['configs'][number], at: string): Promise<FoundConfig> {
    this.#context.throwIfInterrupted()
    const resolved = await resolveConfig(this.#context.dir, source.path, { allow: source.values.map(value => value.key) })
    for (const file of resolved.chain) this.#input(file)
    return configValues(source, at, resolved)
  }

  async dataset({ name, title, path, ...source }: DatasetSource): Promise<FoundDataset> {
    const context = this.#context
    context.throwIfInterrupted()
    const start = this.#done
    const audit = await auditParquet(context.place(path), requestOf(source), {
      signal: context.signal,
      onBytes: bytes => {
        this.#add(bytes)
      }
    }).catch((error: unknown) => {
      context.throwIfInterrupted()
      throw error
    })
    this.#done = start
    this.#input({ path: canonicalRelative(path), sha256: audit.sha256, bytes: audit.bytes })
    return { name, title, path: canonicalRelative(path), audit }
  }

  document({ name, title, path, values }: TextDocument, at: string): { document: FoundDocument; values: FoundValue[] } {
    const { bytes, file } = this.#whole(path, 'document')
    const lines = documentLines(bytes, file.path)
    return {
      document: { ...file, name, title, copy: documentCopy(file.path), content: bytes },
      values: values.map((request, i) => documentValue(request, { at: `${at}.values[${i}]`, document: name }, lines, file, this.#search))
    }
  }

  #whole(path: string, format: string): { readonly bytes: Uint8Array; readonly file: HashedFile } {
    this.#context.throwIfInterrupted()
    const { bytes, file } = this.#context.read(canonicalRelative(path), format)
    return { bytes, file: this.#input(file) }
  }

  /** Adds a file to the inputs. A file that several configurations share counts once. */
  #input({ path, sha256, bytes }: HashedFile): HashedFile {
    const file = this.#context.require({ path, sha256, bytes })
    if (!this.#inputs.has(path)) this.#add(bytes)
    this.#inputs.set(path, file)
    return file
  }

  #add(bytes: number): void {
    this.#done += bytes
    this.#onBytes?.(this.#done)
  }
}

function requestOf({ task_path, patterns, field, decode }: Omit<DatasetSource, 'name' | 'title' | 'path'>): DatasetRequest {
  return {
    decode,
    ...(task_path === null ? {} : { texts: { columns: [task_path], patterns } }),
    ...(field === null ? {} : { field })
  }
}

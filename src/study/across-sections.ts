/**
 * Checks between the sections of a study: all figures have different names, and what is derived or drawn refers to
 * documents that the study's own sections write.
 */
import { FETCHED_PLACES } from '../schema/fetch.js'
import type { SectionKey, Study } from '../schema/study.js'
import type { EvidenceStudy } from '../schema/evidence.js'
import { documentCopy, EVIDENCE_DOCUMENTS, TRACE_DOCUMENTS } from '../schema/outputs.js'
import { describeValue, type CheckContext } from '../core/checker.js'
import { CrossChecks, fold, type NamedField } from './cross-checks.js'
import type { HistoryStudy } from '../schema/histories.js'
import { operandsOf, splitReference } from './reference.js'

type Sections = Pick<Study, SectionKey | 'manifest'>

type WithFigures = { readonly figures: readonly { readonly name: string }[] }

/** Every section that names figures: the compiler asks for a new one. A figure with a fixed name stands in RESERVED_FIGURES instead. */
const NAMES_FIGURES: { readonly [K in SectionKey as NonNullable<Study[K]> extends WithFigures ? K : never]: true } = {
  histories: true,
  evidence: true
}

export function checkAcrossSections(study: Sections, context: CheckContext): void {
  const checks = new CrossChecks(context)
  const figures = (Object.keys(NAMES_FIGURES) as (keyof typeof NAMES_FIGURES)[]).flatMap(section =>
    (study[section]?.figures ?? []).map(({ name }, i) => ({ at: `${section}.figures[${i}].name`, value: name }))
  )
  checks.unique(figures, fold)
  checkFetched(study, checks)
  checkDrawn(study, checks)
  if (study.evidence === null) return
  checkCopies(study, study.evidence, checks)
  const documents = documentsOf(study)
  for (const { at, value } of referencesOf(study.evidence)) {
    const { path } = splitReference(value)
    checks.known(path, at, documents, `${describeValue(value)} to begin with a document that the study writes`)
  }
}

/** Checks that no output of an analysis has the path of a document's copy. */
function checkCopies({ histories }: Sections, { documents }: EvidenceStudy, checks: CrossChecks): void {
  const outputs = (histories?.analyses ?? []).flatMap(({ outputs, shared_reference: shared }) =>
    [...Object.values(outputs), shared?.output].filter(path => typeof path === 'string')
  )
  documents.forEach(({ path }, i) => checks.free(`evidence.documents[${i}].path`, documentCopy(path), outputs, 'output'))
}

/** Checks that fetched runs go where the histories are read, and that a further list overwrites nothing of the study. */
function checkFetched({ fetch, histories, manifest }: Sections, checks: CrossChecks): void {
  if (fetch === null) return
  const places = histories ?? FETCHED_PLACES
  const folder = `${places.folder}/`
  fetch.views.forEach(({ path }, i) => {
    const at = `fetch.views[${i}].path`
    checks.free(at, path, [places.runs, 'study.json', manifest], "study's file")
    if (path.startsWith(folder)) checks.refuse('name taken', `${at} lies in ${folder}`, "a file outside the histories' folder")
  })
}

/** Checks the references of curves and guides. They are resolved before histories are read, so only evidence may be used. */
function checkDrawn({ histories, evidence }: Sections, checks: CrossChecks): void {
  for (const { at, value } of drawnReferences(histories)) {
    const {
      path,
      tokens: [group, name = '', ...rest]
    } = splitReference(value)
    if (path !== EVIDENCE_DOCUMENTS.data || group !== 'values' || rest.join('/') !== 'value') {
      checks.refuse('wrong field', `${at} is ${describeValue(value)}`, `${EVIDENCE_DOCUMENTS.data}#/values/<name>/value`)
    }
    if (evidence === null) checks.refuse('missing section', `${at} without evidence`, 'evidence, which the value stands in')
    const read = [...(evidence.workbook?.values ?? []), ...(evidence.slides?.values ?? [])]
    const named = [...read, ...evidence.configs.flatMap(config => config.values), ...evidence.quoted]
    checks.known(
      name,
      at,
      named.map(one => one.name),
      `${path}#/values/<name>/value, with one of the values`
    )
    if (read.some(one => one.name === name && one.excluded !== null)) {
      checks.refuse('contradiction', `${at} is ${describeValue(value)}, which is excluded`, 'a value that is not excluded')
    }
  }
}

function drawnReferences(histories: HistoryStudy | null): NamedField[] {
  const stated = (at: string, from: string | null): NamedField[] => (from === null ? [] : [{ at: `${at}.from`, value: from }])
  return [
    ...(histories?.analyses ?? []).flatMap((analysis, i) =>
      stated(`histories.analyses[${i}].shared_reference`, analysis.shared_reference?.from ?? null)
    ),
    ...(histories?.figures ?? []).flatMap(({ panels }, i) =>
      panels.flatMap(({ guides }, k) => guides.flatMap(({ from }, n) => stated(`histories.figures[${i}].panels[${k}].guides[${n}]`, from)))
    )
  ]
}

/** The documents that a derived value may refer to: those written before, and that of the derived values. */
function documentsOf({ critic_traces: traces, histories }: Sections): string[] {
  return [
    ...Object.values(EVIDENCE_DOCUMENTS),
    ...(traces === null ? [] : TRACE_DOCUMENTS),
    ...(histories?.analyses ?? []).flatMap(({ outputs, shared_reference: shared }) =>
      [outputs.statistics, outputs.time_display, shared?.output].filter(path => typeof path === 'string')
    )
  ]
}

function referencesOf({ derived, figures }: EvidenceStudy): NamedField[] {
  const operands = derived.flatMap(({ operation }, i) =>
    operandsOf(operation).map(({ at, value }) => ({ at: `evidence.derived[${i}].operation.${at}`, value }))
  )
  const drawn = figures.flatMap(({ panels }, i) =>
    panels.flatMap(({ series }, k) =>
      series.flatMap(({ values }, m) =>
        values.flatMap((value, n) =>
          value === null ? [] : [{ at: `evidence.figures[${i}].panels[${k}].series[${m}].values[${n}]`, value }]
        )
      )
    )
  )
  return [...operands, ...drawn]
}

/**
 * The inputs of values in outputs that do not state theirs. Quotations, and settings that an output repeats, come from the
 * study file alone. Statistics do not list their inputs: each section gives those of its own documents.
 */
import type { InputHash } from '../compute/audit/contract.js'
import type { InputsOf } from '../compute/audit/provenance.js'
import { parseReference, pointerTokens, type Documents, type Pointed } from '../compute/documents.js'
import { DIAGNOSTIC_PATHS, OUTPUT_PATHS } from '../render/outputs/output-names.js'
import { EVIDENCE_DOCUMENTS, FIGURE_CONSTANTS } from '../schema/outputs.js'
import type { HashedFile } from '../schema/study.js'
import { STUDY_FILE } from '../study/label.js'
import type { RunContext } from './context.js'
import type { MeasuredHistories } from './histories.js'

/** Inputs of a value in a section's documents; null: the document is not the section's. */
export type SectionInputs = (pointed: Pointed) => readonly InputHash[] | null

export function inputsOfRun(context: RunContext, documents: Documents, sections: readonly SectionInputs[]): InputsOf {
  return reference => {
    const pointed = parseReference(reference)
    if (pointed === null) return []
    const quoted = pointed.file === EVIDENCE_DOCUMENTS.data && documents.enclosing(reference).some(object => object['source'] === 'quoted')
    // Constants of figures come from the study. What figures take from elsewhere is stated there as an operand.
    if (quoted || pointed.file === FIGURE_CONSTANTS) return studyFile(context)
    for (const inputsOf of sections) {
      const inputs = inputsOf(pointed)
      if (inputs !== null) return inputs.map(({ path, sha256 }) => ({ path, sha256 }))
    }
    return []
  }
}

function studyFile(context: RunContext): InputHash[] {
  const sha256 = context.verifiedHash(STUDY_FILE)
  return sha256 === undefined ? [] : [{ path: STUDY_FILE, sha256 }]
}

const OF_TRACES: readonly string[] = [OUTPUT_PATHS.statistics, OUTPUT_PATHS.audit, DIAGNOSTIC_PATHS.document]
/** Pointers into documents of critic traces: to values that repeat a setting of the study, and to values that depend on one. */
const SETTING = /^\/(?:threshold|success_threshold|end_marker|settings\/.*|quality\/sampling)$/
const BY_SETTING = /jump|end_marker|^\/examples|^\/exceptions|score_agrees|undefined_reasons|^\/audit\/told/

/** The inputs of critic traces: the page and the NPZ files of its traces. Values that depend on a setting have the study file too. */
export function traceInputs(context: RunContext, snapshot: readonly HashedFile[]): SectionInputs {
  return ({ file, pointer }) => {
    if (!OF_TRACES.includes(file)) return null
    if (SETTING.test(pointer)) return studyFile(context)
    return BY_SETTING.test(pointer) ? [...studyFile(context), ...snapshot] : snapshot
  }
}

/**
 * The inputs of histories: the list of runs, and the histories of the selection that the pointer leads into, or else of the
 * whole analysis.
 */
export function historyInputs({ analyses, selections, list, files }: MeasuredHistories): SectionInputs {
  return ({ file, pointer }) => {
    const analysis = analyses.find(({ analysis: { outputs } }) => outputs.statistics === file || outputs.time_display === file)?.analysis
    if (analysis === undefined) return null
    const [section, name] = pointerTokens(pointer)
    const names = section === 'selections' ? [name] : analysis.selections
    const own = new Set(names.flatMap(name => selections.get(name)?.files.map(history => history.file) ?? []))
    return [list, ...files.filter(file => own.has(file))]
  }
}

/** `critic-diagnostics.json`: the diagnostics of one set of samples, and of the set that it is compared with. */
import { commonSteps, type DiagnosedSet, type Diagnosis } from '../../compute/diagnostics/contract.js'
import type { CriticDiagnosticsDocument } from '../../schema/outputs/critic-diagnostics.js'
import { envelope } from './documents.js'
import { jsonText } from './json-text.js'
import { DIAGNOSTIC_PATHS, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

/** A set without its envelope, in the order of the schema. */
function setContent({
  source,
  audit,
  findings,
  quality
}: DiagnosedSet): Pick<CriticDiagnosticsDocument, 'source' | 'audit' | 'findings' | 'quality'> {
  return {
    source: { ...source, files: source.files.map(({ path, sha256, bytes }) => ({ path, sha256, bytes })) },
    audit,
    findings,
    quality
  }
}

function settingsContent({
  settings: { successThreshold, jumpThreshold, history },
  quality
}: Diagnosis): CriticDiagnosticsDocument['settings'] {
  return {
    success_threshold: successThreshold,
    jump_threshold: jumpThreshold,
    history:
      history === null
        ? null
        : {
            file: history.file,
            key: history.key,
            step_key: history.stepKey,
            points: history.byStep.size,
            common_steps: commonSteps(history, quality),
            left_out: history.leftOut
          }
  }
}

export function diagnosticsDocument(diagnosis: Diagnosis, origin: Origin): CriticDiagnosticsDocument {
  const { against } = diagnosis
  return {
    ...envelope('critic-diagnostics', origin),
    settings: settingsContent(diagnosis),
    ...setContent(diagnosis),
    against: against === null ? null : { ...setContent(against), comparison: against.comparison }
  }
}

export async function writeDiagnostics(set: OutputSet, diagnosis: Diagnosis, origin: Origin): Promise<void> {
  await set.write(DIAGNOSTIC_PATHS.document, jsonText(diagnosticsDocument(diagnosis, origin)))
}

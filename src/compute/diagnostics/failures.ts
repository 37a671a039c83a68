/** What makes a diagnosis fail: told values that differ, and findings of the kinds that the user named. */
import { EXIT, Fault } from '../../core/errors.js'
import type { LambdaAdvantages, StatedDiagnosis, ToldValue } from './contract.js'
import type { FindingKind } from '../../schema/diagnostics.js'

export interface DiagnosisFailures {
  readonly told: readonly ToldValue[]
  readonly kinds: readonly FindingKind[]
}

/**
 * A failed check for each value that was told and that the traces contradict.
 *
 * @param file the document of the diagnosis. @param teller who told them
 */
export function toldFaults(told: readonly ToldValue[], file: string, teller = 'as the study says'): Fault[] {
  return told
    .filter(({ agrees }) => agrees === false)
    .map(
      ({ name, told, recovered }) =>
        new Fault({
          format: 'estimator',
          problem: `${name} differs`,
          found: `${inWords(recovered)} in the numbers`,
          expected: `${inWords(told)} ${teller}`,
          place: { file },
          exitCode: EXIT.checkFailed
        })
    )
}

/** Everything that fails a diagnosis, as faults. @param file its document */
export function failureFaults(diagnosis: StatedDiagnosis, failOn: readonly FindingKind[], file: string): Fault[] {
  const { told, kinds } = diagnosisFailures(diagnosis, failOn)
  const found = kinds.map(
    kind =>
      new Fault({
        format: 'diagnosis',
        problem: `${kind} was found`,
        expected: 'none, as --fail-on asks',
        place: { file },
        exitCode: EXIT.checkFailed
      })
  )
  return [...toldFaults(told, file, 'as it was told'), ...found]
}

function inWords(value: LambdaAdvantages | null): string {
  return typeof value === 'object' && value !== null ? `adaptive:${value.adaptive_alpha}` : String(value)
}

/** What is told is told of the first set; findings of either set count. */
export function diagnosisFailures({ audit, findings, against }: StatedDiagnosis, failOn: readonly FindingKind[]): DiagnosisFailures {
  const all = [...findings, ...(against?.findings ?? [])]
  return {
    told: audit.told.filter(({ agrees }) => agrees === false),
    kinds: failOn.filter(kind => all.some(finding => finding.kind === kind))
  }
}

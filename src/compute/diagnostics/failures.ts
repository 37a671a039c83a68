/** What makes a diagnosis fail: told values that differ, and findings of the kinds that the user named. */
import { EXIT, Fault } from '../../core/errors.js'
import type { LambdaAdvantages, StatedDiagnosis, ToldValue } from './contract.js'
import type { FindingKind } from '../../schema/diagnostics.js'

export interface DiagnosisFailures {
  readonly told: readonly ToldValue[]
  readonly kinds: readonly FindingKind[]
}

/** A failed check for each value that a study told and its traces contradict. @param file the document of the diagnosis */
export function toldFaults(told: readonly ToldValue[], file: string): Fault[] {
  return told
    .filter(({ agrees }) => agrees === false)
    .map(
      ({ name, told, recovered }) =>
        new Fault({
          format: 'estimator',
          problem: `${name} differs`,
          found: `${inWords(recovered)} in the numbers`,
          expected: `${inWords(told)} as the study says`,
          place: { file },
          exitCode: EXIT.checkFailed
        })
    )
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

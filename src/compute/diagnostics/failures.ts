/** What makes a diagnosis fail: told values that differ, and findings of the kinds that the user named. */
import type { StatedSet, ToldValue } from './contract.js'
import type { FindingKind } from '../../schema/diagnostics.js'

export interface DiagnosisFailures {
  readonly told: readonly ToldValue[]
  readonly kinds: readonly FindingKind[]
}

export function diagnosisFailures({ audit, findings }: StatedSet, failOn: readonly FindingKind[]): DiagnosisFailures {
  return {
    told: audit.told.filter(({ agrees }) => agrees === false),
    kinds: failOn.filter(kind => findings.some(finding => finding.kind === kind))
  }
}

/** The kinds of findings, in the order in which they are reported. */
import { criticFrozen } from './critic-frozen.js'
import { explainedVarianceLog } from './explained-variance-log.js'
import { finalRewardMasked } from './final-reward-masked.js'
import type { Case, FaultKind, DiagnosticFinding } from './finding.js'
import { foreignBootstrap } from './foreign-bootstrap.js'
import { maskedBootstrap } from './masked-bootstrap.js'
import { maskedZeroed } from './masked-zeroed.js'
import { observationsCutReturn } from './observations-cut-return.js'
import { paddingLeak } from './padding-leak.js'
import { rewardsOffByOne } from './rewards-off-by-one.js'
import { truncation } from './truncation.js'
import { valuesOffByOne } from './values-off-by-one.js'
import { whiteningGroups } from './whitening-groups.js'

export const FAULT_KINDS: readonly FaultKind[] = [
  finalRewardMasked,
  maskedBootstrap,
  maskedZeroed,
  observationsCutReturn,
  valuesOffByOne,
  rewardsOffByOne,
  paddingLeak,
  whiteningGroups,
  foreignBootstrap,
  explainedVarianceLog,
  criticFrozen,
  truncation
]

export function findingsOf(seen: Case): DiagnosticFinding[] {
  return FAULT_KINDS.flatMap(({ kind, severity, report, find }) => {
    const found = find(seen)
    return found === null ? [] : [{ kind, severity, ...found, report }]
  })
}

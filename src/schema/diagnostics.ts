/** The words of the diagnostics of a critic, which their document, their faults and the command line share. */

/** Rules for masked tokens, in the order in which the first that fits is named. */
export const RULE_NAMES = ['every-token', 'carry', 'trainable-only', 'zeroed-values', 'reset'] as const
export type RuleName = (typeof RULE_NAMES)[number]

/** Over what advantages were whitened. */
export const WHITENINGS = ['none', 'batch', 'rank', 'sample', 'within-sample'] as const
export type Whitening = (typeof WHITENINGS)[number]

export const FINDING_KINDS = [
  'final-reward-masked',
  'masked-bootstrap',
  'masked-zeroed',
  'observations-cut-return',
  'values-off-by-one',
  'rewards-off-by-one',
  'padding-leak',
  'whitening-groups',
  'foreign-bootstrap',
  'explained-variance-log',
  'critic-frozen',
  'truncation'
] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

/** `every trajectory`: all that the steps had, or a part of them that was drawn without a look at the outcome. */
export const SAMPLING_DESIGNS = ['every trajectory', 'stratified by outcome', 'not stated'] as const
export type SamplingDesign = (typeof SAMPLING_DESIGNS)[number]

/** `property`: how some trainers work, with consequences; not an error of this run. */
export const FINDING_SEVERITIES = ['fault', 'property'] as const
export type FindingSeverity = (typeof FINDING_SEVERITIES)[number]

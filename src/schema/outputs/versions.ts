/**
 * Every JSON and Arrow output by the name of its schema, with the version of its shape. A change of shape raises it:
 * CONTRIBUTING.md. Which files have which schema is in docs/outputs.md.
 */
export const SCHEMA_VERSIONS = {
  'case-evidence': 1,
  'claims-audit': 1,
  'critic-diagnostics': 1,
  'critic-trace-index': 2,
  'critic-trace-snapshots': 2,
  'critic-trace-statistics': 2,
  'critic-traces': 2,
  'critic-turn-boundary-audit': 1,
  'csv-metadata': 1,
  'derived-metrics': 1,
  'evidence-data': 1,
  'figure-constants': 1,
  'history-observations': 1,
  'history-points': 1,
  'history-shared-reference': 1,
  'history-statistics': 1,
  'history-time-display': 1,
  run: 1,
  'sample-statistics': 1,
  timings: 1
} as const

export type SchemaName = keyof typeof SCHEMA_VERSIONS

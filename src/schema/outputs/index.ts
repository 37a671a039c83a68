/** Every JSON output. `npm run docs` and tests read this list; no command does. */
import type { Fields } from '../../core/checker.js'
import { BOUNDARY_AUDIT } from './boundary-audit.js'
import { CASE_EVIDENCE } from './case-evidence.js'
import { CLAIMS_AUDIT } from './claims-audit.js'
import { CRITIC_DIAGNOSTICS } from './critic-diagnostics.js'
import { CSV_METADATA } from './csv-metadata.js'
import { DERIVED_METRICS } from './derived-metrics.js'
import type { OutputKind } from './document.js'
import { EVIDENCE_DATA } from './evidence-data.js'
import { FIGURE_CONSTANTS_DOCUMENT } from './figure-constants.js'
import { HISTORY_SHARED_REFERENCE } from './history-shared-reference.js'
import { HISTORY_STATISTICS } from './history-statistics.js'
import { HISTORY_TIME_DISPLAY } from './history-time-display.js'
import { RUN } from './run.js'
import { SAMPLE_STATISTICS } from './sample-statistics.js'
import { TIMINGS } from './timings.js'
import { TRACE_INDEX } from './trace-index.js'
import { TRACE_SNAPSHOTS } from './trace-snapshots.js'
import { TRACE_STATISTICS } from './trace-statistics.js'

export const JSON_OUTPUTS: readonly OutputKind<Fields>[] = [
  BOUNDARY_AUDIT,
  CASE_EVIDENCE,
  CLAIMS_AUDIT,
  CRITIC_DIAGNOSTICS,
  CSV_METADATA,
  DERIVED_METRICS,
  EVIDENCE_DATA,
  FIGURE_CONSTANTS_DOCUMENT,
  HISTORY_SHARED_REFERENCE,
  HISTORY_STATISTICS,
  HISTORY_TIME_DISPLAY,
  RUN,
  SAMPLE_STATISTICS,
  TIMINGS,
  TRACE_INDEX,
  TRACE_SNAPSHOTS,
  TRACE_STATISTICS
]

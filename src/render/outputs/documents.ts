/**
 * The JSON outputs: trace index, turn-boundary audit, statistics. Each is one object with an envelope and its content.
 * The schemas are docs/schemas/*.schema.json. The order of keys is fixed. Nothing depends on clock, machine or thread
 * count.
 */
import type { SnapshotStatistics, TraceResult } from '../../compute/traces/contract.js'
import { MAX_LISTED_EXCEPTIONS } from '../../schema/outputs.js'
import type { BoundaryAuditDocument } from '../../schema/outputs/boundary-audit.js'
import type { Envelope } from '../../schema/outputs/document.js'
import type { TraceIndexDocument } from '../../schema/outputs/trace-index.js'
import type { TraceStatisticsDocument } from '../../schema/outputs/trace-statistics.js'
import { SCHEMA_VERSIONS, type SchemaName } from '../../schema/outputs/versions.js'
import { jsonText } from './json-text.js'
import type { FileSummary } from './output-file.js'
import { OUTPUT_PATHS, tracePrefix, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'
import { whyNoMarked } from '../../schema/end-marker.js'
import { rowOfPlace, type ReadDump } from '../../schema/samples.js'
import type { HashedFile } from '../../schema/study.js'

/** The first members of every JSON output. */
export function envelope<N extends SchemaName>(schema: N, { synthetic, manifest, generator: { name, version } }: Origin): Envelope<N> {
  return {
    schema_version: SCHEMA_VERSIONS[schema],
    schema,
    synthetic,
    inputs_verified: manifest === null ? null : { manifest_sha256: manifest.sha256 },
    generator: { name, version }
  }
}

/** An NPZ file in the snapshot's folder that the snapshot does not name. */
export interface ExcludedNpz {
  /** relative to the snapshot folder */
  readonly path: string
  /** step from its 0-d step member or its name; null where neither states one */
  readonly step: number | null
  readonly sha256: string
  readonly bytes: number
}

export interface SnapshotIndex {
  /** false where any trace has one source only, page or NPZ file */
  readonly verified: boolean
  readonly html: HashedFile | null
  readonly dump: ReadDump | null
  /** verbatim */
  readonly snapshotTime: string | null
  readonly alignment: string | null
  /** canonical order */
  readonly traces: readonly TraceResult[]
  /** sorted by path, as they are listed */
  readonly excluded: readonly ExcludedNpz[]
}

export function traceIndexDocument(data: SnapshotIndex, origin: Origin): TraceIndexDocument {
  return {
    ...envelope('critic-trace-index', origin),
    verified: data.verified,
    html: data.html === null ? null : { path: data.html.path, sha256: data.html.sha256, bytes: data.html.bytes },
    dump: data.dump === null ? null : dumpOf(data.dump),
    snapshot_time: data.snapshotTime,
    alignment: data.alignment,
    traces: data.traces.map(({ index, fields, outcomeFrom, statistics, npz, sample, compared }) => ({
      index,
      uid: fields.uid,
      step: fields.step,
      outcome: fields.outcome,
      outcome_from: outcomeFrom,
      score: fields.score,
      tokens: statistics.tokens,
      npz: npz === null ? null : { path: npz.path, sha256: npz.sha256, bytes: npz.bytes },
      sample: sample === null ? null : { file: sample.file, row: sample.row },
      compared,
      archive_prefix: tracePrefix(index)
    })),
    excluded: data.excluded.map(({ path, step, sha256, bytes }) => ({ path, step, sha256, bytes }))
  }
}

function dumpOf({ facts, inputs, leftOut, tokenizer }: ReadDump): TraceIndexDocument['dump'] {
  const { kind, mask, end, notes } = facts
  return {
    kind,
    mask,
    end,
    notes,
    files: inputs.map(({ path, sha256, bytes }) => ({ path, sha256, bytes })),
    tokenizer: tokenizer === null ? null : { sha256: tokenizer.sha256, bytes: tokenizer.bytes },
    left_out: leftOut.map(({ index, place, reason }) => ({ index, file: place.file ?? null, row: rowOfPlace(place), reason }))
  }
}

export interface BoundaryAudit {
  /** hash of the source HTML; null where there is none */
  readonly htmlSha256: string | null
  /** null where the study names none */
  readonly endMarker: string | null
  /** canonical order */
  readonly traces: readonly TraceResult[]
}

/** Appends a trace's exceptions up to the limit. Returns their number. */
function collectExceptions(trace: TraceResult, listed: BoundaryAuditDocument['exceptions'][number][]): number {
  const { index, fields, spans, statistics, boundariesWithMarker } = trace
  if (spans === null || boundariesWithMarker === null) return 0
  let found = 0
  for (let span = 0; span < statistics.boundary.transitions; span++) {
    if (spans.endsWithMarker[span] === 1) continue
    found += 1
    if (listed.length < MAX_LISTED_EXCEPTIONS) {
      listed.push({ trace: index, uid: fields.uid, step: fields.step, outcome: fields.outcome, span })
    }
  }
  if (found !== statistics.boundary.transitions - boundariesWithMarker) {
    throw new Error(
      `trace ${index} has ${boundariesWithMarker} boundaries with the marker and ${found} without, ` +
        `of ${statistics.boundary.transitions}`
    )
  }
  return found
}

export function boundaryAuditDocument(data: BoundaryAudit, origin: Origin): BoundaryAuditDocument {
  const reasons: Record<string, string> = {}
  const { endMarker: marker } = data
  const boundaries = data.traces.reduce((sum, trace) => sum + trace.statistics.boundary.transitions, 0)
  const why = whyNoMarked({
    marker,
    traces: data.traces.length,
    withTexts: data.traces.filter(trace => trace.spans !== null).length,
    boundaries
  })
  if (data.htmlSha256 === null) reasons['/source_html_sha256'] = 'there was no HTML snapshot'
  if (marker === null) reasons['/end_marker'] = 'no end marker is named'
  const listed: BoundaryAuditDocument['exceptions'][number][] = []
  let withMarker = 0
  let exceptions = 0
  const traces = data.traces.map((trace, i) => {
    const { index, fields, statistics, boundariesWithMarker } = trace
    const { transitions } = statistics.boundary
    exceptions += collectExceptions(trace, listed)
    withMarker += boundariesWithMarker ?? 0
    // For a single trace the count stands beside its number of boundaries, so it is 0 for a trace without boundaries.
    const unknown = whyNoMarked({ marker, traces: 1, withTexts: trace.spans === null ? 0 : 1, boundaries: null })
    if (unknown !== null) reasons[`/traces/${i}/boundaries_with_end_marker`] = unknown
    return {
      index,
      uid: fields.uid,
      step: fields.step,
      outcome: fields.outcome,
      boundaries: transitions,
      boundaries_with_end_marker: boundariesWithMarker
    }
  })
  if (why !== null) {
    reasons['/boundaries_with_end_marker'] = why
    reasons['/exceptions_total'] = why
  }
  return {
    ...envelope('critic-turn-boundary-audit', origin),
    source_html_sha256: data.htmlSha256,
    end_marker: marker,
    boundaries,
    boundaries_with_end_marker: why === null ? withMarker : null,
    traces,
    exceptions_total: why === null ? exceptions : null,
    exceptions_listed: listed.length,
    exceptions: listed,
    undefined_reasons: reasons
  }
}

export function statisticsDocument(data: SnapshotStatistics, origin: Origin): TraceStatisticsDocument {
  return {
    ...envelope('critic-trace-statistics', origin),
    verified: data.verified,
    snapshot_time: data.snapshot_time,
    traces: data.traces,
    tokens: data.tokens,
    distinct_uids: data.distinct_uids,
    steps: data.steps,
    per_step: data.per_step,
    threshold: data.threshold,
    success_threshold: data.success_threshold,
    outcome_from: data.outcome_from,
    stated: data.stated,
    one_source: data.one_source,
    boundary: data.boundary,
    internal: data.internal,
    jump_rate_ratio: data.jump_rate_ratio,
    traces_with_both_kinds: data.traces_with_both_kinds,
    traces_boundary_exceeds_internal: data.traces_boundary_exceeds_internal,
    success: data.success,
    failure: data.failure,
    examples: data.examples,
    examples_rule: data.examples_rule,
    mean_values: data.mean_values,
    by_step: data.by_step,
    checks: data.checks,
    notes: data.notes,
    undefined_reasons: data.undefined_reasons
  }
}

export function writeTraceIndex(set: OutputSet, data: SnapshotIndex, origin: Origin): Promise<FileSummary> {
  return set.write(OUTPUT_PATHS.index, jsonText(traceIndexDocument(data, origin)))
}

export function writeBoundaryAudit(set: OutputSet, data: BoundaryAudit, origin: Origin): Promise<FileSummary> {
  return set.write(OUTPUT_PATHS.audit, jsonText(boundaryAuditDocument(data, origin)))
}

export function writeStatistics(set: OutputSet, data: SnapshotStatistics, origin: Origin): Promise<FileSummary> {
  return set.write(OUTPUT_PATHS.statistics, jsonText(statisticsDocument(data, origin)))
}

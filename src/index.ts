/**
 * The library: what the command line uses, typed. `analyseSnapshot` and `runBatch` are the whole way from files to outputs;
 * the readers below them take bytes, never paths, where they can. Documented in `docs/library.md`.
 *
 * Worker threads find their code beside this package's. The native canvas is loaded only where figures are asked for.
 */
export { runBatch, batchExitCode, type BatchRun, type SnapshotResult } from './runs/batch.js'
export type * from './compute/traces/contract.js'
export { type CheckReport, type Judge } from './compute/traces/expectations.js'
export { openTracePool, type TracePool } from './compute/traces/pool.js'
export { boundaryIndexes, traceStatistics, type StatisticsOptions } from './compute/traces/statistics.js'
export { EXIT, Failures, Fault, type FaultDetails, type Place } from './core/errors.js'
export { defaultCacheDir, ensureReplica } from './replica/index.js'
export { DataElement } from './ingest/html/data-element.js'
export { findSnapshots, type SnapshotPlan } from './study/inventory.js'
export { TraceSlicer } from './ingest/json/slicer.js'
export { parseTrace, TraceScratch, type TraceSlice } from './ingest/json/trace.js'
export { formatSha256sum, readManifest, verifyManifest, type Manifest, type ManifestReport } from './study/manifest.js'
export { asFloat64, readNpy, type NpyArray } from './ingest/npz/npy.js'
export { openNpz, type Npz } from './ingest/npz/npz.js'
export { NpzWriter } from './ingest/npz/write.js'
export { loadStudy, type StudyFile } from './study/study.js'
export { analyseSnapshot, type SnapshotOutcome, type SnapshotRun, type SnapshotSettings } from './runs/snapshot.js'
export { renderFigure, warmCanvas } from './render/canvas/index.js'
export { openFigurePool, type DrawnFigure, type FigurePool, type FigureTask } from './render/canvas/pool.js'
export { FIGURE_FORMATS, type FigureFormat } from './render/figures/config.js'
export { buildFigures, FIGURES } from './render/figures/index.js'
export type * from './schema/evidence.js'
export type * from './schema/fetch.js'
export type * from './schema/histories.js'
export type * from './schema/study.js'
export type * from './schema/traces.js'
export { DEFAULT_CRITIC_TRACE_STUDY, DEFAULT_KEYS, REPORTED_WITHOUT_STUDY } from './schema/traces.js'
export { analyseStudy, type StudyOutcome, type StudyRun } from './runs/study.js'

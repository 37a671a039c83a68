/** A case of fixtures/outputs as the data that the pipeline hands to the writers, over SharedArrayBuffers. */
import { existsSync, readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { SnapshotStatistics, TraceColumns, TraceResult } from '../../src/compute/traces/contract.js'
import { encodeNpy } from '../../src/ingest/npz/write.js'
import type { ExcludedNpz } from '../../src/render/outputs/documents.js'
import type { HashedFile } from '../../src/schema/study.js'
import type { Generator } from '../../src/render/outputs/output-names.js'

/** The repository's root, from dist/test/support. */
export const ROOT = new URL('../../../', import.meta.url)

interface PlainSpans {
  readonly count: number
  readonly endsWithMarker: readonly number[]
}

type PlainResult = Omit<TraceResult, 'spans'> & { readonly spans: PlainSpans | null }

interface FixtureFile {
  readonly generator: Generator
  readonly html: HashedFile
  readonly alignment: string
  readonly end_marker: string
  readonly excluded: readonly ExcludedNpz[]
  readonly statistics: SnapshotStatistics
  readonly traces: ReadonlyArray<{
    readonly result: PlainResult
    readonly values: readonly number[]
    readonly returns: readonly number[]
    readonly response_positions: readonly number[]
  }>
}

export interface OutputFixture extends Omit<FixtureFile, 'traces'> {
  readonly results: readonly TraceResult[]
  readonly columns: readonly TraceColumns[]
}

function sharedFloats(numbers: readonly number[]): Float32Array {
  const array = new Float32Array(new SharedArrayBuffer(4 * numbers.length))
  array.set(numbers)
  return array
}

function npy(bytes: Uint8Array): { bytes: Uint8Array; crc32: number } {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
  shared.set(bytes)
  return { bytes: shared, crc32: crc32(bytes) }
}

/** Columns as compute hands them over; values and returns were float32 in the file, positions int64 and small. */
export function traceColumns(values: readonly number[], returns: readonly number[], positions: readonly number[]): TraceColumns {
  const responsePositions = new Int32Array(new SharedArrayBuffer(4 * positions.length))
  responsePositions.set(positions)
  return {
    values: sharedFloats(values),
    returns: sharedFloats(returns),
    responsePositions,
    boundaries: Int32Array.from(positions.flatMap((p, i) => (i > 0 && p - positions[i - 1] !== 1 ? [i - 1] : []))),
    npy: {
      values: npy(encodeNpy(Float32Array.from(values))),
      returns: npy(encodeNpy(Float32Array.from(returns))),
      response_positions: npy(encodeNpy(BigInt64Array.from(positions, BigInt)))
    }
  }
}

/** The expected content of an output, or, where `<file>.sha256` is there instead, its hash. */
export function expectedFile(name: string, file: string): { readonly text: string; readonly hashed: boolean } {
  const url = new URL(`fixtures/outputs/${name}/expected/${file}`, ROOT)
  const hash = new URL(`${url.href}.sha256`)
  if (existsSync(hash)) return { text: readFileSync(hash, 'utf8').trim(), hashed: true }
  return { text: readFileSync(url, 'utf8'), hashed: false }
}

export function outputFixture(name: string): OutputFixture {
  const file: FixtureFile = JSON.parse(readFileSync(new URL(`fixtures/outputs/${name}/input.json`, ROOT), 'utf8'))
  const { traces, ...rest } = file
  return {
    ...rest,
    results: traces.map(({ result }) => ({
      ...result,
      spans: result.spans && { ...result.spans, endsWithMarker: Uint8Array.from(result.spans.endsWithMarker) }
    })),
    columns: traces.map(t => traceColumns(t.values, t.returns, t.response_positions))
  }
}

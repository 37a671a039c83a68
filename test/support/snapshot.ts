/** Small snapshots for tests: a page with embedded traces and an NPZ a trace, spelt as Python would spell them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeNpy, encodeNpyFloat, encodeNpyInt, encodeNpyText, NpzWriter } from '../../src/ingest/npz/write.js'
import type { Random } from '../../src/replica/random.js'

export interface TestTrace {
  step: number
  outcome: 'success' | 'failure'
  score: number | null
  uid: string
  prediction_stage: string
  npz: string
  values: number[]
  returns: number[]
  response_positions: number[]
  segment_texts: string[]
  value_mean?: number
  value_rmse?: number
}

export interface SnapshotOptions {
  /** dtype of values and returns in the NPZ; default float64 */
  readonly float32?: boolean
  readonly deflate?: boolean
  /** further members of every NPZ */
  readonly members?: ReadonlyArray<readonly [name: string, npy: Uint8Array]>
  /** the page around the JSON */
  readonly page?: (json: string) => string
  /** last word on the JSON text */
  readonly editJson?: (json: string) => string
}

export const SNAPSHOT_TIME = '2026-01-02T03:04:05.678901+00:00'

export function page(json: string): string {
  return `<!doctype html><html><head><title>traces</title></head><body>\n<script id="data" type="application/json">${json}</script></body></html>\n`
}

/** Mean and RMSE by plain sums: within 1e-12 for the small numbers of these tests, or given by the caller. */
export function withStored(trace: TestTrace): TestTrace {
  const n = trace.values.length
  const mean = trace.values.reduce((a, b) => a + b, 0) / n
  const rmse = Math.sqrt(trace.values.reduce((sum, v, i) => sum + (v - trace.returns[i]) ** 2, 0) / n)
  return { value_mean: mean, value_rmse: rmse, ...trace }
}

/** A success and a failure at each of `steps` steps, positions with gaps, texts that end as they should. */
export function randomTraces(random: Random, steps: number, tokens: (trace: number) => number): TestTrace[] {
  const traces: TestTrace[] = []
  for (let i = 0; i < 2 * steps; i++) {
    const outcome = i % 2 === 0 ? 'success' : 'failure'
    const n = tokens(i)
    const values: number[] = []
    const positions: number[] = []
    let value = random.uniform()
    let position = Math.floor(random.uniform() * 50)
    let boundaries = 0
    for (let k = 0; k < n; k++) {
      value += (random.uniform() - 0.5) * (random.uniform() < 0.05 ? 0.8 : 0.08)
      values.push(Math.fround(value))
      positions.push(position)
      const gap = random.uniform() < 0.1 ? 2 + Math.floor(random.uniform() * 300) : 1
      if (gap !== 1 && k < n - 1) boundaries++
      position += gap
    }
    traces.push({
      step: 10 + (i >> 1),
      outcome,
      score: outcome === 'success' ? 1 : 0,
      uid: `uid-${i}-${Math.floor(random.uniform() * 1e9).toString(36)}`,
      prediction_stage: 'before_critic_update',
      npz: `step_${10 + (i >> 1)}_${outcome}.npz`,
      values,
      returns: values.map(() => (outcome === 'success' ? 1 : 0)),
      response_positions: positions,
      segment_texts: Array.from({ length: boundaries + 1 }, (_, k) => `turn ${k}: "quoted" \\ <b> 漢字 😀\n<|im_end|>`)
    })
  }
  return traces
}

/** Writes `folder/index.html` and the NPZ files. The NPZ hold the traces' own arrays. */
export async function writeSnapshot(folder: string, traces: readonly TestTrace[], options: SnapshotOptions = {}): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const json = JSON.stringify({
    snapshot_time: SNAPSHOT_TIME,
    alignment: 'value before the token',
    traces: traces.map(withStored)
  }).replaceAll('</', '<\\/')
  const edited = options.editJson?.(json) ?? json
  writeFileSync(join(folder, 'index.html'), (options.page ?? page)(edited))
  for (const trace of traces) writeFileSync(join(folder, trace.npz), await npzOf(trace, options))
}

export async function npzOf(trace: TestTrace, options: SnapshotOptions = {}): Promise<Uint8Array> {
  const floats = (x: readonly number[]) => encodeNpy(options.float32 === true ? Float32Array.from(x) : Float64Array.from(x))
  const chunks: Uint8Array[] = []
  const npz = new NpzWriter(bytes => {
    chunks.push(bytes.slice())
  })
  const deflate = options.deflate === true
  await npz.add('values', floats(trace.values), { deflate })
  await npz.add('returns', floats(trace.returns), { deflate })
  await npz.add('response_positions', encodeNpy(BigInt64Array.from(trace.response_positions, BigInt)), { deflate })
  await npz.add('step', encodeNpyInt(trace.step))
  if (trace.score !== null) await npz.add('score', encodeNpyFloat(trace.score))
  await npz.add('uid', encodeNpyText(trace.uid))
  for (const [name, npy] of options.members ?? []) await npz.add(name, npy)
  await npz.finish()
  return Buffer.concat(chunks)
}

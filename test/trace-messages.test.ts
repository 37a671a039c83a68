/** Messages on traces: the file in each of a folder of NPZ files, and the likely cause where single precision explains a difference. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkEqual, checkStored } from '../src/compute/traces/checks.js'
import { equalAsFloat32, meansInFloat32, rmsesInFloat32 } from '../src/compute/traces/float32.js'
import { readNpy } from '../src/ingest/npz/npy.js'
import { encodeNpy, encodeNpyFloat, encodeNpyText, NpzWriter, type NumericArray } from '../src/ingest/npz/write.js'
import { Random } from '../src/replica/random.js'
import { runCli } from './support/cli.js'
import { randomTraces, writeSnapshot } from './support/snapshot.js'

function temp(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'critic-traces-messages-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

t.test('mean and RMSE in single precision are those of numpy', t => {
  // numpy 2.4.6: x.mean() and sqrt(((x - r) ** 2).mean()) of float32 arrays, then a loop of float32 additions
  const cases: ReadonlyArray<readonly [n: number, mean: number, rmse: number, inOrder: number]> = [
    [1, 0.0, 0.0001068115234375, 0.0],
    [7, 0.4255305826663971, 8.627505303593352e-5, 0.4255305826663971],
    [8, 0.41311895847320557, 8.309848635690287e-5, 0.41311898827552795],
    [20, 0.4713229238986969, 5.644069824484177e-5, 0.4713229238986969],
    [127, 0.49519631266593933, 0.0004396804142743349, 0.4951963722705841],
    [128, 0.49515819549560547, 0.00044383545173332095, 0.49515822529792786],
    [129, 0.4921596646308899, 0.0004479908966459334, 0.4921596944332123],
    [300, 0.4994143545627594, 0.0011619918514043093, 0.4994143545627594],
    [1000, 0.49997636675834656, 0.04467770457267761, 0.49997642636299133],
    [4099, 0.4999677240848541, 0.11972970515489578, 0.49996790289878845]
  ]
  for (const [n, mean, rmse, inOrder] of cases) {
    const values = Float64Array.from({ length: n }, (_, i) => (Math.imul(i, 2654435761) >>> 0) / 2 ** 32)
    const returns = Float64Array.from({ length: n }, (_, i) => ((i * 40503 + 7) % 65536) / 65536)
    const means = meansInFloat32(values)
    t.ok(means.includes(mean) && means.includes(inOrder), `${n}: mean ${mean}`)
    t.ok(rmsesInFloat32(values, returns).includes(rmse), `${n}: rmse ${rmse}`)
    t.ok(means.length <= 2)
  }
  t.ok(equalAsFloat32(Float64Array.of(0.1, 1), Float64Array.of(Math.fround(0.1), 1)))
  t.notOk(equalAsFloat32(Float64Array.of(0.1, 1), Float64Array.of(Math.fround(0.1), 1.001)))
  t.end()
})

t.test('a difference that rounding explains is told with its cause, and fails', t => {
  const npy = (data: NumericArray) => readNpy(encodeNpy(data))
  const of = (...x: number[]) => Float64Array.from(x)
  const file = { file: 'a.npz' }
  t.throws(() => checkEqual('values', of(0.5, 0.1), npy(Float32Array.of(0.5, 0.1)), file), {
    message:
      'trace NPZ value differs: 0.10000000149011612 in a.npz, expected 0.1 as embedded; equal as float32 (all 2): one of the two was rounded, ' +
      'write both from the same array (values, index 1)',
    exitCode: 1
  })
  t.throws(() => checkEqual('values', of(0.5, 0.1), npy(Float32Array.of(0.25, 0.1)), file), {
    message: 'trace NPZ value differs: 0.25 in a.npz, expected 0.5 as embedded (values, index 0)'
  })
  const cause = '; equal when computed in float32: compute in float64'
  t.throws(() => checkStored('value_mean', Math.fround(0.1), 0.1), {
    message: `trace stored value_mean differs: 0.10000000149011612, expected 0.1 as recomputed, within 1e-12${cause}`,
    exitCode: 1
  })
  t.throws(() => checkStored('value_rmse', 0.25000003, 0.25, () => [Math.fround(0.25000003)]), { message: new RegExp(`${cause}$`) })
  t.throws(() => checkStored('value_rmse', 0.26, 0.25, () => [0.25]), {
    message: 'trace stored value_rmse differs: 0.26, expected 0.25 as recomputed, within 1e-12'
  })
  let asked = 0
  checkStored('value_mean', 0.5, 0.5, () => {
    asked++
    return []
  })
  t.equal(asked, 0, 'nothing is computed again where the two agree')
  t.end()
})

t.test('a page whose statistics were computed in float32', async t => {
  const dir = temp(t)
  const [trace] = randomTraces(new Random('single'), 1, () => 4099)
  const [mean] = meansInFloat32(Float64Array.from(trace.values))
  await writeSnapshot(join(dir, 'snap'), [{ ...trace, value_mean: mean }], { float32: true })
  const run = await runCli(['traces', 'snap', '--out', 'out', '--no-figures', '-q'], { cwd: dir })
  t.match(run, {
    code: 1,
    stderr: /stored value_mean differs: .*; equal when computed in float32: compute in float64 \(snap\/index\.html, trace 0/
  })
})

t.test('every message on a folder of NPZ files names the file', async t => {
  const dir = temp(t)
  const good = { values: Float64Array.of(1, 2), returns: Float64Array.of(0, 1), response_positions: BigInt64Array.of(0n, 1n) }
  type Members = { readonly [name: string]: Uint8Array | NumericArray | null }
  const cases: ReadonlyArray<readonly [name: string, members: Members, message: RegExp]> = [
    ['lengths', { returns: Float64Array.of(0) }, /^trace unequal lengths: 1 returns, expected 2 as in values/],
    ['infinite', { values: Float64Array.of(1, Infinity) }, /^trace not finite: Infinity, expected a finite number/],
    ['order', { response_positions: BigInt64Array.of(3n, 3n) }, /^trace positions not increasing: 3 after 3/],
    [
      'empty',
      { values: new Float64Array(0), returns: new Float64Array(0), response_positions: new BigInt64Array(0) },
      /^trace empty arrays/
    ],
    ['overflow', { values: Float64Array.of(1e308, -1e308), returns: Float64Array.of(0, 0) }, /^trace \S+ overflows: a sum beyond/],
    [
      'missing',
      { returns: null },
      /^npz missing array: only .*, expected an array 'returns'; where it has another name: --key NAME=THEIRS, or keys of a study /
    ],
    [
      'misnamed',
      { returns: null, returns_: Float64Array.of(0, 0) },
      /^npz missing array: .*, expected an array 'returns' \(is it returns_\?\); where/
    ],
    ['dtype', { values: Int32Array.of(1, 2) }, /^npz wrong dtype: <i4, expected float32 or float64/],
    ['step', { step: encodeNpyFloat(1.5) }, /^npz wrong member: 1\.5, expected an integer/],
    ['outcome', { outcome: encodeNpyText('perhaps') }, /^npz wrong member: "perhaps", expected "success"/],
    ['huge', { response_positions: BigInt64Array.of(0n, 2n ** 60n) }, /^npy integer out of range: 1152921504606846976/],
    ['torn', {}, /^zip /]
  ]
  for (const [name, members, message] of cases) {
    const folder = join(dir, name)
    mkdirSync(folder)
    for (const file of ['a', 'b']) {
      const chunks: Uint8Array[] = []
      const npz = new NpzWriter(bytes => {
        chunks.push(bytes.slice())
      })
      for (const [member, data] of Object.entries({ ...good, ...(file === 'b' ? members : {}) })) {
        if (data !== null) await npz.add(member, data instanceof Uint8Array ? data : encodeNpy(data))
      }
      await npz.finish()
      const bytes = Buffer.concat(chunks)
      writeFileSync(join(folder, `${file}.npz`), name === 'torn' && file === 'b' ? bytes.subarray(0, 300) : bytes)
    }
    const run = await runCli(['traces', name, '--out', 'out', '--no-figures', '-q', '--json'], { cwd: dir })
    const { snapshots } = JSON.parse(run.stdout) as {
      readonly snapshots: ReadonlyArray<{
        readonly faults: ReadonlyArray<{ readonly message: string; readonly place: { readonly file: string } }>
      }>
    }
    const [fault] = snapshots[0].faults
    t.match(fault.message, message, name)
    t.equal(fault.place.file, `${name}/b.npz`, name)
  }
})

t.test('an expectation that a trace of an NPZ folder fails names its file', async t => {
  const dir = temp(t)
  const study = { schema_version: 1, name: 'n', critic_traces: { snapshot: 'snap', expectations: { returns_equal_outcome: true } } }
  const traces = randomTraces(new Random('expected'), 1, () => 20)
  await writeSnapshot(
    join(dir, 'study/snap'),
    traces.map(trace => ({ ...trace, returns: trace.values.map(() => 0.5) }))
  )
  rmSync(join(dir, 'study/snap/index.html'))
  writeFileSync(join(dir, 'study/study.json'), JSON.stringify(study))
  const run = await runCli(['traces', 'study/snap', '--study', 'study', '--out', 'out', '--no-figures', '-q'], { cwd: dir })
  t.equal(run.code, 1)
  t.match(run.stderr, /^critic-traces: snapshot returns equal outcome: .* \(study\/snap\/step_10_failure\.npz, trace 0/)
  t.match(run.stderr, /\(study\/snap\/step_10_success\.npz, trace 1/)
  t.throws(() => readFileSync(join(dir, 'out/snap/run.json')))
})

/** Shards and their merge: the cut, the codec, what is refused, what is not done twice. test/all/shards has the rest. */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import t, { type Test } from 'tap'
import { openTracePool } from '../src/compute/traces/pool.js'
import { Failures, Fault } from '../src/core/errors.js'
import { checkOutputs } from '../src/runs/outputs-check.js'
import { combinePartials } from '../src/runs/shards/combine.js'
import type { PlannedSnapshot } from '../src/runs/shards/contract.js'
import { partsOf } from '../src/runs/shards/cut.js'
import { packValue, unpackValue } from '../src/core/packed.js'
import { decodePartial, readPartial } from '../src/runs/shards/partial-file.js'
import { partialChunks } from '../src/runs/shards/partial-write.js'
import { runShard } from '../src/runs/shards/run-shard.js'
import { tree } from './support/folders.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'
import { runCli } from './support/cli.js'
import { inShards, merged, onOneMachine, outputsOf, shardSettings, statesOf, writeInputs } from './support/shards.js'

const pool = openTracePool(1)
t.teardown(() => pool.destroy())

async function messagesOf(work: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await work.then(
    () => null,
    thrown => thrown
  )
  if (error instanceof Failures) return error.faults.map(({ message }) => message)
  if (error instanceof Fault) return [error.message]
  throw new Error(`expected a refusal, got ${String(error)}`)
}

t.test('every byte of the line is in one shard, whatever the number of shards', t => {
  const random = new Random(seedOf(1))
  for (let round = 0; round < rounds(200); round++) {
    const snapshots = Array.from({ length: 1 + random.below(4) }, () => {
      const files = Array.from({ length: 1 + random.below(5) }, (_, i) => ({
        path: `f${i}`,
        bytes: random.chance(0.2) ? 0 : random.below(50)
      }))
      const kind = random.chance(0.3) ? 'npz-folder' : 'dump'
      // Sound: the cut looks at the kind and the files alone.
      return { plan: { kind }, files } as unknown as PlannedSnapshot
    })
    const count = 1 + random.below(90)
    const seen = snapshots.map(() => [] as number[])
    for (let index = 0; index < count; index++) {
      for (const { snapshot, part } of partsOf(snapshots, { index, count }))
        for (let at = part.from; at < part.to; at++) seen[snapshot].push(at)
    }
    const lengths = snapshots.map(({ plan, files }) =>
      plan.kind === 'npz-folder' ? files.length : files.reduce((sum, { bytes }) => sum + Math.max(1, bytes), 0)
    )
    t.strictSame(
      seen,
      lengths.map(length => Array.from({ length }, (_, i) => i)),
      `${count} shards of ${JSON.stringify(snapshots)}`
    )
  }
  t.end()
})

/** A value of the kinds that states hold, and of those that JSON would lose. */
function randomValue(random: Random, depth: number): unknown {
  const number = (): number => {
    const view = new DataView(new ArrayBuffer(8))
    view.setUint32(0, random.uint32())
    view.setUint32(4, random.uint32())
    return [0, -0, NaN, Infinity, -Infinity, 5e-324, 2 ** 53 + 2, view.getFloat64(0)][random.below(8)]
  }
  const kinds: readonly (() => unknown)[] = [
    number,
    () => null,
    () => undefined,
    () => random.chance(0.5),
    () => ['', 'ü\u0000\ud83d\ude00', '\ud800', '{"a":1}'][random.below(4)],
    () => BigInt(random.uint32()) * BigInt(random.uint32()) ** 2n,
    () => Float64Array.from({ length: random.below(4) }, number),
    () => Float32Array.from({ length: random.below(4) }, number),
    () => Uint32Array.from({ length: random.below(4) }, () => random.uint32()),
    () => BigInt64Array.from({ length: random.below(3) }, () => BigInt(random.uint32())),
    () => (depth === 0 ? number() : Array.from({ length: random.below(4) }, () => randomValue(random, depth - 1))),
    () => (depth === 0 ? number() : Object.fromEntries(['a', 'b', '__proto__ ', 'c'].map(key => [key, randomValue(random, depth - 1)])))
  ]
  return kinds[random.below(kinds.length)]()
}

function sameBits(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return Object.is(a, b)
  if (a.constructor !== b.constructor) return false
  const [own, other] = [Object.entries(a), Object.entries(b)]
  return own.length === other.length && own.every(([key, value], i) => key === other[i][0] && sameBits(value, other[i][1]))
}

t.test('a value comes back bit by bit', t => {
  const random = new Random(seedOf(2))
  for (let round = 0; round < rounds(500); round++) {
    const value = { result: randomValue(random, 3), source: null, lengths: randomValue(random, 2) }
    t.ok(sameBits(unpackValue(packValue(value)), value), `round ${round}`)
  }
  t.end()
})

async function twoShards(
  t: Test
): Promise<{ readonly out: string; readonly inputs: Readonly<Record<string, string>>; readonly file: (i: number) => string }> {
  const out = t.testdir()
  const inputs = await writeInputs(join(out, 'inputs'))
  await inShards([inputs['lines']], 2, join(out, 'shards'), pool)
  return { out, inputs, file: i => join(out, 'shards/partials', `shard-${i}-of-2.arrow`) }
}

t.test('three shards of a page and of dumps have the bytes of one machine', async t => {
  const out = t.testdir()
  const inputs = await writeInputs(join(out, 'inputs'))
  const paths = [inputs['page'], inputs['lines']]
  await onOneMachine(paths, join(out, 'whole'), pool)
  await inShards(paths, 3, join(out, 'shards'), pool)
  await merged([join(out, 'shards/partials')], join(out, 'merged'))
  t.strictSame(outputsOf(join(out, 'merged')), outputsOf(join(out, 'whole')))
})

t.test('the samples at both sides of a cut are looked at', async t => {
  const out = t.testdir()
  const inputs = await writeInputs(join(out, 'inputs'))
  const paths = ['padded', 'lines', 'ranks'].map(name => inputs[name])
  for (const count of [1, 9]) await inShards(paths, count, join(out, String(count)), pool)
  const whole = statesOf(join(out, '1/partials'))
  t.ok(whole.length > 30)
  t.strictSame(statesOf(join(out, '9/partials')), whole)
})

t.test('a partial is an Arrow file that says what it holds', async t => {
  const { file } = await twoShards(t)
  const { schema, numRows, batches } = tableFromIPC(readFileSync(file(0)))
  t.strictSame(
    schema.fields.map(({ name, type, nullable }) => `${name} ${String(type)}${nullable ? ', null' : ''}`),
    [
      'snapshot Int32',
      'trace Int32',
      'step Float64, null',
      'outcome Utf8, null',
      'uid Utf8, null',
      'tokens Int32',
      'head Binary',
      'record Binary',
      'curve Binary'
    ]
  )
  t.equal(schema.metadata.get('schema'), 'critic-trace-partial')
  const rows = [...readPartial(file(0)).rows(), ...readPartial(file(1)).rows()]
  t.strictSame(
    rows.map(({ trace }) => trace),
    rows.map((_, i) => i),
    'each trace once'
  )
  t.ok(numRows > 0 && numRows < rows.length && batches.length === 1)
  t.equal(rows.filter(({ curve }) => curve.length > 0).length <= 4, true, 'few curves')
})

t.test('a partial of which any byte was changed, or that was cut, is named', async t => {
  const { file, out } = await twoShards(t)
  const bytes = readFileSync(file(0))
  const { meta, planned, rows } = decodePartial(bytes, 'x')
  const small = Buffer.concat([...partialChunks({ ...meta, planned: planned() }, [...rows()].slice(0, 1))])
  const messageOf = (changed: Uint8Array): string => {
    try {
      return JSON.stringify(decodePartial(changed, 'x').meta)
    } catch (error) {
      return error instanceof Fault ? error.message : String(error)
    }
  }
  const random = new Random(seedOf(3))
  const unseen = small.findIndex((_, at) => {
    const changed = Buffer.from(small)
    changed[at] ^= 1 << random.below(8)
    return !/^partial (?:torn|not recognised): /.test(messageOf(changed))
  })
  t.equal(unseen, -1, 'the first byte whose change is not seen')
  const lengthened = Buffer.from(bytes)
  // The length of the first batch: the library would search for its end for ever.
  lengthened[8] = 0xef
  t.match(messageOf(lengthened), /^partial torn: /)
  t.match(messageOf(Buffer.from('{"a": 1}')), /^partial not recognised: a file that is not a partial, /)
  for (const length of [0, 1, 8, 1000, bytes.length - 1]) {
    writeFileSync(join(out, 'cut.arrow'), bytes.subarray(0, length))
    t.match(
      await messagesOf(merged([join(out, 'cut.arrow'), file(1)], join(out, 'm'))),
      [
        length === 0 ? /^partial empty: 0 bytes, expected a whole partial, .*cut\.arrow\)$/ : /^partial torn: .*cut\.arrow\)$/,
        /^partial missing: no shard 0, /
      ],
      `${length} bytes`
    )
  }
})

t.test('partials that do not belong together are refused, each by its name', async t => {
  const { out, inputs, file } = await twoShards(t)
  const m = join(out, 'm')
  const only = async (paths: readonly string[]): Promise<readonly string[]> => messagesOf(merged(paths, m))
  t.strictSame(await only([file(0)]), ['partial missing: no shard 1, expected every shard of 2'])
  copyFileSync(file(0), join(out, 'again.arrow'))
  t.match(await only([file(0), file(1), join(out, 'again.arrow')]), [
    /^partial doubled: shard 0, also in .*, expected each shard once \(.*again\.arrow\)$/
  ])
  await inShards([inputs['lines']], 3, join(out, 'three'), pool)
  const foreign = join(out, 'three/partials/shard-1-of-3.arrow')
  t.match(await only([file(0), file(1), foreign]), [
    /^partial foreign: 3 shards, expected 2 shards, as .*shard-0-of-2\.arrow has \(.*shard-1-of-3\.arrow\)$/
  ])
  t.strictSame(await only([join(out, 'three/partials/shard-0-of-3.arrow')]), ['partial missing: no shards 1-2, expected every shard of 3'])
  t.strictSame(await only([foreign]), ['partial missing: no shards 0, 2, expected every shard of 3'])
  const torn = join(out, 'torn.arrow')
  writeFileSync(torn, readFileSync(file(1)).subarray(0, 5000))
  t.match(
    await only([file(0), join(out, 'again.arrow'), foreign, torn]),
    [
      /^partial torn: .*torn\.arrow\)$/,
      /^partial foreign: 3 shards, /,
      /^partial doubled: shard 0, /,
      /^partial missing: no shard 1, expected every shard of 2$/
    ],
    'all at once'
  )
  const longer = join(out, 'longer/lines')
  mkdirSync(longer, { recursive: true })
  const [name] = readdirSync(inputs['lines'])
  const bytes = readFileSync(join(inputs['lines'], name))
  const foreignTo = async (paths: readonly string[], folder: string): Promise<readonly string[]> => {
    await inShards(paths, 2, join(out, folder), pool)
    return only([file(0), file(1), join(out, folder, 'partials/shard-1-of-2.arrow')])
  }
  writeFileSync(join(longer, name), Buffer.concat([bytes, bytes]))
  const [has, grouped] = [
    `, as .*shard-[01]-of-2\\.arrow has \\(.*partials/shard-1-of-2\\.arrow\\)$`,
    (n: number) => n.toLocaleString('en')
  ]
  const sized = `^partial foreign: lines/${name}, ${grouped(2 * bytes.length)} bytes, expected ${grouped(bytes.length)} bytes`
  t.match(await foreignTo([longer], 'longer-out'), [new RegExp(sized + has)], 'the path that has another size')
  writeFileSync(join(longer, name), bytes)
  t.match(await foreignTo([longer], 'fewer'), [new RegExp(`^partial foreign: no lines/dump_b\\.jsonl, expected one${has}`)])
  t.match(await foreignTo([inputs['lines'], inputs['padded']], 'more'), [/^partial foreign: 2 snapshots, expected 1 snapshot, as /])
  t.match(await foreignTo([inputs['lines'], join(out, 'nothing')], 'nowhere'), [
    /^partial foreign: paths that lead to no snapshot: nothing, expected paths that lead to no snapshot: none, as /
  ])
  await inShards([inputs['lines']], 2, join(out, 'set'), pool, { skipBad: true })
  const set = join(out, 'set/partials/shard-1-of-2.arrow')
  t.match(await only([file(0), file(1), set]), [
    /^partial differently set: snapshot\.dump\.skipBad is true, not false, expected the settings of .* \(.*set\/partials\/shard-1-of-2\.arrow\)$/
  ])
  const { meta, planned, rows } = readPartial(file(1))
  writeFileSync(
    join(out, 'old.arrow'),
    Buffer.concat([...partialChunks({ ...meta, planned: planned(), versions: { ...meta.versions, node: '18.0.0' } }, rows())])
  )
  t.match(await only([file(0), file(1), join(out, 'old.arrow')]), [
    /^partial of another program: node 18\.0\.0, expected the version .* of .*shard-0-of-2\.arrow \(.*old\.arrow\)$/
  ])
  t.match(await only([file(0), torn, join(out, 'no.arrow')]), [
    /^partial not found: .*no\.arrow\)$/,
    /^partial torn: .*torn\.arrow\)$/,
    /^partial missing: no shard 1, /
  ])
  mkdirSync(join(out, 'empty'))
  t.match(await only([join(out, 'empty')]), [/^partial not found: a folder without any, .*empty\)$/])
  t.match(await messagesOf(combinePartials([file(0)], file(0))), [/^usage output is an input: /])
  t.notOk(readdirSync(out).includes('m'), 'nothing was written')
})

t.test('a partial whose snapshot would lead out of the output folder is refused', async t => {
  const { out, file } = await twoShards(t)
  const { meta, planned: plannedOf, rows } = readPartial(file(1))
  const planned = plannedOf().map(snapshot => ({ ...snapshot, plan: { ...snapshot.plan, name: '../../x' } }))
  mkdirSync(join(out, 'bad'))
  writeFileSync(join(out, 'bad/b.arrow'), Buffer.concat([...partialChunks({ ...meta, planned }, rows())]))
  t.match(await messagesOf(merged([join(out, 'bad/b.arrow'), file(0)], join(out, 'm'))), [/^partial unsafe name: /])
})

t.test('a shard that is there and whole is not done twice', async t => {
  const { out, inputs, file } = await twoShards(t)
  const shards = join(out, 'shards')
  const run = (index: number) =>
    runShard({ paths: [inputs['lines']], settings: shardSettings(), shard: { index, count: 2 }, pool, out: shards })
  const written = (): unknown => [
    tree(shards).map(path => [path, path.endsWith('.arrow') ? '' : readFileSync(join(shards, path)).toString('hex')]),
    statesOf(join(shards, 'partials'))
  ]
  const before = written()
  t.match(await run(0), { status: 'unchanged', faults: [] })
  // Torn, and a file of the dataset gone: done again, to the same.
  writeFileSync(file(0), readFileSync(file(0)).subarray(0, 3000))
  t.match(await run(0), { status: 'done' })
  const part = tree(shards).find(path => path.includes('part-1-')) ?? ''
  // A run that was killed before its partial stood may have left files too.
  copyFileSync(join(shards, part), join(shards, part.replace('part-1-', 'part-1-9')))
  rmSync(join(shards, part))
  t.match(await run(1), { status: 'done' })
  t.strictSame(written(), before)
  const input = join(inputs['lines'], readdirSync(inputs['lines'])[0])
  const { atime, mtime } = statSync(input)
  writeFileSync(input, readFileSync(input, 'utf8').replace('0.', '1.'))
  utimesSync(input, atime, mtime)
  t.match(await run(0), { status: 'done' }, 'another input of the same size and time')
  t.match(
    await messagesOf(runShard({ paths: [inputs['lines']], settings: shardSettings(), shard: { index: 0, count: 3 }, pool, out: shards })),
    [/^usage other shards in the output folder: partials\/shard-0-of-2\.arrow, expected shards of 3/]
  )
})

t.test('the partial of a run over other inputs is not replaced', async t => {
  const { out, inputs, file } = await twoShards(t)
  const before = readFileSync(file(0))
  const paths = [inputs['padded'], inputs['lines']]
  const run = (names: readonly string[], folder: string) =>
    runShard({ paths: names, settings: shardSettings(), shard: { index: 0, count: 2 }, pool, out: join(out, folder) })
  t.match(await messagesOf(run(paths, 'shards')), [
    /^usage partial of other inputs in the output folder: lines, expected padded, as these inputs have: take another --out, or delete it \(.*shard-0-of-2\.arrow\)$/
  ])
  t.ok(readFileSync(file(0)).equals(before))
  await run(paths, 'ordered')
  t.match(await messagesOf(run([...paths].reverse(), 'ordered')), [
    /^usage partial of other inputs in the output folder: padded, expected lines, /
  ])
})

t.test('merged into their own folder, partials and dataset are recorded; a file of it that is gone or changed is named', async t => {
  const { out, file } = await twoShards(t)
  const shards = join(out, 'shards')
  await merged([join(shards, 'partials')], shards)
  const whole = await checkOutputs(shards)
  t.strictSame(
    whole.files.filter(({ status }) => status !== 'ok' && status !== 'beside'),
    []
  )
  const parts = tree(shards).filter(path => path.endsWith('.parquet'))
  const kept = [...parts, 'partials/shard-0-of-2.arrow', 'partials/shard-1-of-2.arrow'].sort()
  const record = JSON.parse(readFileSync(join(shards, 'merge-run.json'), 'utf8')) as Record<
    'inputs' | 'outputs',
    { path: string; sha256: string }[]
  >
  t.strictSame(record.outputs.map(({ path }) => path).sort(), kept)
  t.strictSame(
    record.outputs.map(({ path, sha256 }) => [path, sha256]),
    record.outputs.map(({ path }) => [
      path,
      createHash('sha256')
        .update(readFileSync(join(shards, path)))
        .digest('hex')
    ])
  )
  t.strictSame(
    record.inputs.map(({ path }) => path),
    kept.slice(0, 2),
    'what was read'
  )
  const [part] = parts
  const bytes = readFileSync(join(shards, part))
  writeFileSync(
    join(shards, part),
    bytes.map((byte, at) => (at === 40 ? byte ^ 1 : byte))
  )
  const problemsOf = async (): Promise<unknown> => {
    const { files } = await checkOutputs(shards)
    return files.filter(({ status }) => status !== 'ok' && status !== 'beside').map(({ path, status }) => [path, status])
  }
  t.strictSame(await problemsOf(), [[part, 'mismatch']])
  writeFileSync(join(shards, part), bytes.subarray(1))
  const [least, size] = [bytes.length - 1, bytes.length].map(n => n.toLocaleString('en'))
  const cut = new RegExp(
    `^dataset changed file: ${least} bytes, expected ${size} bytes, as shard \\d wrote it: run that shard again \\(.*${part}\\)$`
  )
  t.match(await messagesOf(merged([join(shards, 'partials')], shards)), [cut])
  rmSync(join(shards, part))
  t.strictSame(await problemsOf(), [[part, 'missing']])
  const gone = new RegExp(
    `^dataset missing file: nothing, expected [\\d,]+ bytes, as shard \\d wrote it: run that shard again \\(.*${part}\\)$`
  )
  t.match(await messagesOf(merged([join(shards, 'partials')], shards)), [gone])
  // A tree: what is merged lies elsewhere, the dataset does not.
  writeFileSync(join(shards, part), bytes)
  await combinePartials([file(0), file(1)], join(out, 'all.arrow'))
  await merged([join(out, 'all.arrow')], shards)
  t.strictSame(await problemsOf(), [])
  rmSync(join(shards, part))
  t.match(await messagesOf(merged([join(out, 'all.arrow')], shards)), [gone])
  await merged([join(out, 'all.arrow')], join(out, 'elsewhere'))
  t.notOk(tree(join(out, 'elsewhere')).includes('merge-run.json'), 'nothing of the shards lies there')
})

t.test('of two cuts that run at once into one folder, the one that ends last is refused and leaves nothing', async t => {
  const out = t.testdir()
  const inputs = await writeInputs(join(out, 'inputs'))
  const paths = [inputs['lines']]
  const [ours, theirs] = [join(out, 'ours'), join(out, 'theirs')]
  await inShards(paths, 2, theirs, pool)
  const onPart = () => {
    mkdirSync(join(ours, 'partials'), { recursive: true })
    copyFileSync(join(theirs, 'partials/shard-0-of-2.arrow'), join(ours, 'partials/shard-0-of-2.arrow'))
    return () => {}
  }
  t.match(await messagesOf(runShard({ paths, settings: shardSettings(), shard: { index: 0, count: 3 }, pool, out: ours, onPart })), [
    /^usage other shards in the output folder: partials\/shard-0-of-2\.arrow/
  ])
  t.strictSame(
    tree(ours).filter(path => !path.endsWith('/')),
    ['partials/shard-0-of-2.arrow']
  )
})

t.test('on the command line', async t => {
  const out = t.testdir()
  const inputs = await writeInputs(join(out, 'inputs'))
  const env = { JOB_COMPLETION_INDEX: '0', SHARD_COUNT: '1' }
  const shard = await runCli(['traces', inputs['bad'], '--shard', 'auto', '--out', join(out, 'shards')], { env })
  t.equal(shard.code, 1, 'as a batch ends')
  t.match(shard.stderr, 'critic-traces: trace not finite: NaN')
  t.match(shard.stdout, /^shard 0 of 1 done: 0 traces of 1 snapshot, 0 tokens in 0 files\n2 faults: the merge reports them\npartial: /)
  const merge = await runCli(['merge', join(out, 'shards/partials'), '--no-figures', '--out', join(out, 'shards')])
  t.equal(merge.code, 1)
  t.match(merge.stderr, 'critic-traces: trace not finite: NaN')
  t.match(merge.stdout, 'FAILED')
  await runCli(['diagnose', inputs['lines'], '--gamma', '1', '--shard', '0/1', '--out', join(out, 'told')])
  const told = ['merge', join(out, 'told/partials'), '--no-figures', '--out', join(out, 'told')]
  const reason = /^critic-traces: estimator gamma differs: 0\.9\d* in the numbers, expected 1 as it was told \(/
  t.match(await runCli([...told, '-q']), { code: 1, stdout: '', stderr: reason })
  t.match((await runCli(told)).stdout, /^verdict: FAILED, estimator gamma differs, 1 snapshot: 1 done, 0 unchanged, 0 failed$/m)
  t.match(JSON.parse((await runCli([...told, '--json'])).stdout), {
    exit_code: 1,
    snapshots: [{ audit: { told: [{ name: 'gamma', told: 1, agrees: false }] }, faults: [{ exit_code: 1, message: /gamma differs/ }] }]
  })
  for (const [argv, message] of [
    [['traces', 'x', '--shard', '0/2', '--no-figures'], 'usage contradiction: --shard and --no-figures'],
    [['diagnose', 'x', '--shard', '0/2', '--against', 'y'], 'usage contradiction: --shard and --against'],
    [['merge'], 'usage no path: merge without PARTIALS'],
    [['merge', 'x', '--partial', 'y', '--out', 'z'], 'usage contradiction: --partial and --out'],
    [['traces', 'x', '--shard', '0/2', '--shard', '1/2'], 'usage contradiction: --shard twice']
  ] as const) {
    const { code, stderr } = await runCli(argv)
    t.equal(code, 2)
    t.match(stderr, message)
  }
})

/** Records whose large parts lie in a file: the same bits, in any order of reading, and no file that stays. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { recordOfSample } from '../src/compute/diagnostics/trace-record.js'
import { diagnosedSet } from '../src/compute/diagnostics/reduce.js'
import { neighbourValues } from '../src/compute/diagnostics/record.js'
import { sweepThresholds } from '../src/compute/diagnostics/quality/changes.js'
import { RecordSpill } from '../src/runs/record-spill.js'
import { CLEAN, diagnosticDump } from './support/diagnostic-dumps.js'
import { seedOf } from './support/rounds.js'

const THRESHOLDS = sweepThresholds(0.1)

function recordsOf(samples: number) {
  const dump = diagnosticDump({ ...CLEAN, samples, seed: seedOf(17) })
  return dump.samples.map(sample => recordOfSample(sample, neighbourValues(null, null), { successThreshold: 0.5, thresholds: THRESHOLDS }))
}

t.test('what is read is what was taken', async t => {
  const dir = join(t.testdir({}), 'not', 'there', 'yet')
  const records = recordsOf(40)
  for (const inMemory of [0, 20_000]) {
    const spill = new RecordSpill(dir, inMemory)
    t.teardown(() => spill.close())
    // Some are read before the others are written.
    const kept = records.map(record => {
      const taken = spill.take(record)
      if (record.quality.index % 7 === 0) void taken.quality.histogram.cells
      return taken
    })
    t.equal(kept.filter((record, i) => record === records[i]).length > 0, inMemory > 0, 'the first stay where they are')
    for (const i of [...kept.keys(), 39, 0, 20]) {
      const { sums, counts, cells, below0, above1 } = kept[i].quality.histogram
      t.ok(isDeepStrictEqual({ cells, counts, sums, below0, above1 }, records[i].quality.histogram), `histogram ${i}`)
      const { count, numbers } = kept[i].estimator.ends?.gaps ?? {}
      t.ok(isDeepStrictEqual({ count, numbers }, { ...records[i].estimator.ends?.gaps }), `gaps ${i}`)
    }
    const asked = {
      source: { name: 'a', kind: 'dump', format: null, mask: null, end: null, notes: [], files: [], samples: 40, left_out: 0 },
      synthetic: true,
      told: {},
      settings: { successThreshold: 0.5, jumpThreshold: 0.1, sampling: 'not stated', history: null }
    } as const
    const diagnosed = (of: typeof records) =>
      diagnosedSet(
        of.map(record => ({ record, source: null })),
        asked
      )
    t.ok(isDeepStrictEqual(await diagnosed(kept), await diagnosed(records)), 'the same diagnosis')
    t.same(readdirSync(dir), [], 'the file has no name')
  }
  t.end()
})

t.test('a folder that cannot be written', t => {
  const dir = t.testdir({ file: '' })
  const spill = new RecordSpill(join(dir, 'file'), 0)
  const [record] = recordsOf(1)
  const taken = spill.take(record)
  t.throws(() => taken.quality.histogram.cells, { message: /^output unwritable/, exitCode: 3 })
  spill.close()
  t.end()
})

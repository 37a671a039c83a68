/** Records whose large parts lie in a file: the same bits, in any order of reading, and no file that stays. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { recordOfSample, type SampleDiagnosticRecord } from '../src/compute/diagnostics/trace-record.js'
import { diagnosedSet } from '../src/compute/diagnostics/reduce.js'
import { neighbourValues } from '../src/compute/diagnostics/record.js'
import { sweepThresholds } from '../src/compute/diagnostics/quality/changes.js'
import { packRecord } from '../src/compute/diagnostics/packed-record.js'
import { RecordSpill } from '../src/runs/record-spill.js'
import { CLEAN, diagnosticDump } from './support/diagnostic-dumps.js'
import { seedOf } from './support/rounds.js'

const THRESHOLDS = sweepThresholds(0.1)

function recordsOf(samples: number) {
  const dump = diagnosticDump({ ...CLEAN, samples, seed: seedOf(17) })
  return dump.samples.map(sample => recordOfSample(sample, neighbourValues(null, null), { successThreshold: 0.5, thresholds: THRESHOLDS }))
}

/** With the arrays that a view of a record reads when it is asked for them. */
function plain({ index, omitted, estimator, quality }: SampleDiagnosticRecord) {
  const { sums, counts, cells, below0, above1 } = quality.histogram
  const { ends } = estimator
  const gaps = ends === null ? null : { count: ends.gaps.count, numbers: ends.gaps.numbers }
  return {
    index,
    omitted,
    estimator: { ...estimator, ends: ends === null ? null : { ...ends, gaps } },
    quality: { ...quality, histogram: { sums, counts, cells, below0, above1 } }
  }
}

t.test('what is read is what was taken', async t => {
  const dir = join(t.testdir({}), 'not', 'there', 'yet')
  const [first, ...others] = recordsOf(40)
  const records = [{ ...first, omitted: ['token_rewards', 'ref_log_probs'] as const }, ...others]
  for (const inMemory of [0, 20_000]) {
    const spill = new RecordSpill(dir, inMemory, 3000)
    t.teardown(() => spill.close())
    // Some are read before the others are written.
    const kept = records.map(record => {
      const bytes = packRecord(record)
      const taken = spill.take(bytes)
      bytes.fill(0)
      if (record.quality.index % 7 === 0) void taken.quality.histogram.cells
      return taken
    })
    for (const i of [...kept.keys(), 39, 0, 20]) {
      t.ok(isDeepStrictEqual(plain(kept[i]), plain(records[i])), `record ${i}`)
    }
    const asked = {
      source: { name: 'a', kind: 'dump', format: null, mask: null, end: null, notes: [], files: [], samples: 40, left_out: 0 },
      synthetic: true,
      told: {},
      settings: { successThreshold: 0.5, jumpThreshold: 0.1, sampling: 'not stated', history: null }
    } as const
    const diagnosed = async (of: typeof records) =>
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
  const spill = new RecordSpill(join(dir, 'file'), 0, 3000)
  const [record] = recordsOf(1)
  t.throws(() => spill.take(packRecord(record)), { message: /^output unwritable/, exitCode: 3 })
  spill.close()
  t.end()
})

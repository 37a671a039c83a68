/**
 * Records of two halves of a dump, each made by another thread and the second half first, are the records of the whole: put
 * together in canonical order they give the same bytes of `critic-diagnostics.json`.
 */
import t from 'tap'
import { sweepThresholds } from '../src/compute/diagnostics/quality/changes.js'
import { neighbourValues } from '../src/compute/diagnostics/record.js'
import { diagnosedSet, type SourcedRecord } from '../src/compute/diagnostics/reduce.js'
import { recordOfSample } from '../src/compute/diagnostics/trace-record.js'
import { diagnosticsDocument } from '../src/render/outputs/diagnostics.js'
import { jsonText } from '../src/render/outputs/json-text.js'
import { originOf } from '../src/runs/context.js'
import { CLEAN, diagnosticDump } from './support/diagnostic-dumps.js'

const { samples } = diagnosticDump({ ...CLEAN, samples: 25, steps: 3, fault: 'foreign-bootstrap', rule: 'every-token' })

/** Records of the samples [from, to), each as a thread gives it: a copy. */
function recordsOf(from: number, to: number): SourcedRecord[] {
  return samples.slice(from, to).map(sample => {
    const neighbours = neighbourValues(samples[sample.index - 1] ?? null, samples[sample.index + 1] ?? null)
    const record = recordOfSample(sample, neighbours, { successThreshold: 0, thresholds: sweepThresholds(0.1) })
    return { record: structuredClone(record), source: { file: 'a.jsonl', row: sample.index } }
  })
}

async function bytesOf(records: readonly SourcedRecord[]): Promise<string> {
  const settings = { successThreshold: 0, jumpThreshold: 0.1, sampling: 'not stated', history: null } as const
  const source = { name: 'a', kind: 'dump', format: 'one row a sample', mask: null, end: null, notes: [], files: [], left_out: 0 } as const
  const set = await diagnosedSet(records, { source: { ...source, samples: records.length }, synthetic: false, told: {}, settings })
  return jsonText(diagnosticsDocument({ ...set, settings, against: null }, originOf(false, null)))
}

t.test('two halves, the second made first', async t => {
  const whole = await bytesOf(recordsOf(0, samples.length))
  t.match(JSON.parse(whole), { findings: [{ kind: 'foreign-bootstrap' }] }, 'found by the values of neighbours, on either side of the cut')
  for (const cut of [1, 12, 24]) {
    const second = recordsOf(cut, samples.length)
    const first = recordsOf(0, cut)
    t.equal(await bytesOf([...first, ...second]), whole, `cut at ${cut}`)
  }
  t.end()
})

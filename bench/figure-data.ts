/** What Figure 8 draws of a snapshot, as a JSON file that both sides of the comparison read. */
import { readFileSync } from 'node:fs'
import type { CriticTraceFigureData, ExampleTrace } from '../src/compute/contract.js'
import { boundaryIndexes, traceStatistics } from '../src/compute/statistics.js'
import { TraceSlicer } from '../src/ingest/json/slicer.js'
import { parseTrace, TraceScratch } from '../src/ingest/json/trace.js'
import { DEFAULT_KEYS, type CriticTraceStudy, type Outcome } from '../src/schema.js'
import { contentOf } from './content.js'

/** The examples are those that the study names. */
export function figureDataOf(page: string, selectors: CriticTraceStudy['examples']): string {
  const slices = new TraceSlicer({ keys: DEFAULT_KEYS }).push(contentOf(readFileSync(page)))
  const scratch = new TraceScratch()
  const traces: CriticTraceFigureData['traces'][number][] = []
  const examples: Partial<Record<Outcome, ExampleTrace>> = {}
  for (const slice of slices) {
    const { fields, values, returns, positions } = parseTrace(slice, { keys: DEFAULT_KEYS, endMarker: null, scratch })
    const { outcome, step, uid } = fields
    const s = traceStatistics(values, returns, positions, { jumpThreshold: 0.1, outcome })
    traces.push({ step, outcome, mean: s.mean, delta: s.delta })
    if (outcome === null || selectors[outcome]?.step !== step) continue
    examples[outcome] = {
      outcome, step, uid, values: values.slice(), boundaries: boundaryIndexes(positions), maxBoundaryJump: s.maxBoundaryJump
    }
  }
  const data: CriticTraceFigureData = { synthetic: true, traces, success: examples.success ?? null, failure: examples.failure ?? null }
  return JSON.stringify(data, (_key, value: unknown) => (ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value))
}

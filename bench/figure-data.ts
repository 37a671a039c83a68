/** What the figures draw, as a JSON file that both sides of the comparison read. */
import { readFileSync } from 'node:fs'
import type { CriticTraceFigureData, ExampleTrace } from '../src/compute/contract.js'
import type { CurveFigureData } from '../src/compute/histories/contract.js'
import { boundaryIndexes, traceStatistics } from '../src/compute/statistics.js'
import { TraceSlicer } from '../src/ingest/json/slicer.js'
import { parseTrace, TraceScratch } from '../src/ingest/json/trace.js'
import type { FigureInputs } from '../src/render/figures/definition.js'
import { DEFAULT_KEYS, type CriticTraceStudy, type Outcome } from '../src/schema.js'
import { curveFigureData } from '../test/support/curve-data.js'
import { contentOf } from './content.js'

type Listed = Omit<ExampleTrace, 'values' | 'boundaries'> & { readonly values: number[]; readonly boundaries: number[] }

export interface FigureDataFile {
  readonly curves: readonly CurveFigureData[]
  readonly criticTraces: Omit<CriticTraceFigureData, 'success' | 'failure'> & { readonly success: Listed | null; readonly failure: Listed | null }
}

/** The curves that are drawn: made up, of the size of the study's. */
export function benchCurves(): readonly CurveFigureData[] {
  return curveFigureData()
}

function critics(page: string, selectors: CriticTraceStudy['examples']): CriticTraceFigureData {
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
  return { synthetic: true, traces, success: examples.success ?? null, failure: examples.failure ?? null }
}

/** The examples are those that the study names. */
export function figureDataOf(page: string, selectors: CriticTraceStudy['examples']): string {
  const data: FigureInputs = { curves: benchCurves(), criticTraces: critics(page, selectors) }
  return JSON.stringify(data, (_key, value: unknown) => (ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value))
}

function typed(example: Listed | null): ExampleTrace | null {
  return example && { ...example, values: Float64Array.from(example.values), boundaries: Int32Array.from(example.boundaries) }
}

export function inputsOf({ curves, criticTraces }: FigureDataFile): FigureInputs {
  return { curves, criticTraces: { ...criticTraces, success: typed(criticTraces.success), failure: typed(criticTraces.failure) } }
}

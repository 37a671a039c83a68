/** What the figures draw, as a JSON file that both sides of the comparison read. */
import { readFileSync } from 'node:fs'
import type { CriticTraceFigureData, ExampleTrace } from '../../src/compute/traces/contract.js'
import type { CurveFigureData } from '../../src/compute/histories/contract.js'
import { boundaryIndexes, traceStatistics } from '../../src/compute/traces/statistics.js'
import { TraceSlicer } from '../../src/ingest/json/slicer.js'
import { parseTrace, TraceScratch } from '../../src/ingest/json/trace.js'
import { originOf, RunContext } from '../../src/runs/context.js'
import { figureData, readHistories } from '../../src/runs/histories.js'
import type { Study } from '../../src/schema/study.js'
import type { FigureInputs } from '../../src/render/figures/definition.js'
import type { CriticTraceStudy } from '../../src/schema/critic-traces.js'
import { DEFAULT_CRITIC_TRACE_STUDY, DEFAULT_KEYS, type Outcome } from '../../src/schema/traces.js'
import { contentOf } from './content.js'

type Listed = Omit<ExampleTrace, 'values' | 'boundaries'> & { readonly values: number[]; readonly boundaries: number[] }

export interface FigureDataFile {
  readonly curves: readonly CurveFigureData[]
  readonly criticTraces: Omit<CriticTraceFigureData, 'success' | 'failure'> & {
    readonly success: Listed | null
    readonly failure: Listed | null
  }
}

async function critics(page: string, selectors: CriticTraceStudy['examples']): Promise<CriticTraceFigureData> {
  const slices = new TraceSlicer({ keys: DEFAULT_KEYS }).push(await contentOf(readFileSync(page)))
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
      outcome,
      step,
      uid,
      values: values.slice(),
      boundaries: boundaryIndexes(positions),
      maxBoundaryJump: s.maxBoundaryJump
    }
  }
  return {
    synthetic: true,
    source: 'critic_traces',
    labels: DEFAULT_CRITIC_TRACE_STUDY.labels,
    traces,
    success: examples.success ?? null,
    failure: examples.failure ?? null
  }
}

/** What the study's figures draw; the examples are those that it names. */
export async function figureDataOf(dir: string, page: string, study: Study): Promise<string> {
  const curves: CurveFigureData[] = []
  if (study.histories !== null) {
    const context = new RunContext({ dir, origin: originOf(study.synthetic, null) })
    for await (const data of figureData(context, study.histories, await readHistories(context, study.histories))) curves.push(data)
  }
  const { examples } = study.critic_traces ?? DEFAULT_CRITIC_TRACE_STUDY
  const data: FigureInputs = { curves, criticTraces: await critics(page, examples) }
  return JSON.stringify(data, (_key, value: unknown) =>
    ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value
  )
}

function typed(example: Listed | null): ExampleTrace | null {
  return example && { ...example, values: Float64Array.from(example.values), boundaries: Int32Array.from(example.boundaries) }
}

export function inputsOf({ curves, criticTraces }: FigureDataFile): FigureInputs {
  return { curves, criticTraces: { ...criticTraces, success: typed(criticTraces.success), failure: typed(criticTraces.failure) } }
}

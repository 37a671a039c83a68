/** The analysis of histories at one go, and displayed curves as a person would write them down: a list of points. */
import { analyseHistories, joinHistories, type AnalysedHistories } from '../../src/compute/histories/analyse.js'
import type { CurveFigureData, CurvePlace, SelectionHistory } from '../../src/compute/histories/contract.js'
import { curvePlaces, displayedCurve } from '../../src/compute/histories/display.js'
import { curveFigureData } from '../../src/compute/histories/figures.js'
import { finish } from '../../src/compute/histories/work.js'
import type { ListedRun, RunHistory } from '../../src/ingest/histories/types.js'
import type { HistoryAnalysis, HistoryStudy, MetricDefinition } from '../../src/schema/histories.js'

export function analysed(study: HistoryStudy, runs: readonly ListedRun[], histories: readonly RunHistory[]): AnalysedHistories {
  return finish(analyseHistories(study, finish(joinHistories(study, runs, histories))))
}

export function figuresOf(study: HistoryStudy, { selections }: AnalysedHistories, synthetic: boolean): CurveFigureData[] {
  return study.figures.map(request => finish(curveFigureData(request, study, selections, synthetic)))
}

export interface PlainPoint {
  readonly x: number
  readonly value: number
  readonly sourceRun: string | null
  readonly sourceStep: number | null
  readonly provenance: string
}

export interface PlainCurve extends CurvePlace {
  readonly points: readonly PlainPoint[]
  readonly trailingMean: readonly number[] | null
}

export function plainCurves(
  analysis: HistoryAnalysis,
  metrics: readonly MetricDefinition[],
  selections: ReadonlyMap<string, SelectionHistory>
): PlainCurve[] {
  return curvePlaces(analysis).map(place => {
    const { x, value, source, sources, observation, trailingMean } = finish(displayedCurve(analysis, metrics, selections, place))
    const points = Array.from(value, (one, k): PlainPoint => {
      const { provenance, history, curve } = sources[source[k]]
      const i = observation[k]
      return {
        x: x[k],
        value: one,
        provenance,
        sourceRun: history === null || curve === null ? null : history.sessions[curve.session[i]].run,
        sourceStep: curve === null ? null : curve.step[i]
      }
    })
    return { ...place, points, trailingMean: trailingMean === null ? null : [...trailingMean] }
  })
}

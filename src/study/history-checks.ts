/**
 * Checks between the fields of the section on training histories, which a JSON Schema cannot express: names are unique,
 * references have targets, outputs do not overwrite each other, no field contradicts another. The first fault is thrown,
 * with the field's path.
 */
import type {
  CurveFigureRequest,
  DrawnNumber,
  HistoryAnalysis,
  HistoryStudy,
  MetricDefinition,
  StatisticsRequest
} from '../schema/histories.js'
import { csvMetadataPath, RESERVED_FIGURES, RESERVED_OUTPUTS } from '../schema/outputs.js'
import { describeValue, type CheckContext } from '../core/checker.js'
import { CrossChecks, fold, type NamedField } from './cross-checks.js'
import { isSafeRelative } from '../core/paths.js'

export function checkHistories(study: HistoryStudy, at: string, context: CheckContext): void {
  new HistoryChecks(study, at, context).all()
}

class HistoryChecks extends CrossChecks {
  constructor(
    readonly study: HistoryStudy,
    readonly at: string,
    context: CheckContext
  ) {
    super(context)
  }

  all(): void {
    const { study, at } = this
    this.#keys()
    for (const list of ['selections', 'metrics', 'analyses'] as const) {
      this.unique(study[list].map(({ name }, i) => ({ at: `${at}.${list}[${i}].name`, value: name })))
    }
    this.unique(study.companion_suffixes.map((value, i) => ({ at: `${at}.companion_suffixes[${i}]`, value })))
    this.#selections()
    this.#metrics()
    study.analyses.forEach((analysis, i) => this.#analysis(analysis, `${at}.analyses[${i}]`))
    this.#outputs()
    this.#figures()
  }

  #pair(pair: { readonly reference: string; readonly target: string }, at: string, selections: readonly string[]): void {
    this.known(pair.reference, `${at}.reference`, selections, IN_ANALYSIS.selection)
    this.known(pair.target, `${at}.target`, selections, IN_ANALYSIS.selection)
    if (pair.reference === pair.target) {
      this.refuse('contradiction', `${at}.reference and ${at}.target are both ${describeValue(pair.target)}`, 'two selections')
    }
  }

  #keys(): void {
    const at = `${this.at}.keys`
    const stated = Object.entries(this.study.keys).flatMap(([name, value]) => (value === null ? [] : [{ at: `${at}.${name}`, value }]))
    this.unique(stated)
  }

  #selections(): void {
    const { study } = this
    study.selections.forEach((selection, i) => {
      const at = `${this.at}.selections[${i}]`
      const { label, display_time: time } = selection
      if (label !== null) {
        if (!isSafeRelative(label)) {
          this.refuse(
            'unsafe path',
            `${at}.label is ${describeValue(label)}`,
            `a folder inside ${this.at}.folder ("/" between names, no "..")`
          )
        }
        this.context.paths.push({ at: `${at}.label`, path: `${study.folder}/${label}` })
      }
      if (time !== null && 'best_of' in time) {
        this.known(
          time.best_of,
          `${at}.display_time.best_of`,
          study.metrics.map(m => m.name),
          'one of the metrics'
        )
      }
      if (time !== null) this.#needsTime(`${at}.display_time is an object`)
      // Companions are never selected, so the selection would be empty.
      study.selections.forEach((main, j) =>
        study.companion_suffixes.forEach((suffix, k) => {
          if (selection.display_name !== main.display_name + suffix) return
          this.refuse(
            'contradiction',
            `${at}.display_name is ${describeValue(selection.display_name)}, ` +
              `a companion of ${this.at}.selections[${j}] by ${this.at}.companion_suffixes[${k}]`,
            "a display name that is no companion's"
          )
        })
      )
    })
  }

  #metrics(): void {
    const { metrics } = this.study
    this.unique(metrics.map(({ key }, i) => ({ at: `${this.at}.metrics[${i}].key`, value: key })))
    metrics.forEach(({ sparse, trailing_mean: window }, i) => {
      if (!sparse || window === null) return
      const at = `${this.at}.metrics[${i}]`
      this.refuse(
        'contradiction',
        `${at}.trailing_mean is ${window} and ${at}.sparse is true`,
        'null: a sparse metric is drawn without one'
      )
    })
  }

  #needsTime(found: string): void {
    if (this.study.keys.timestamp !== null) return
    this.refuse('contradiction', `${found} and ${this.at}.keys.timestamp is null`, 'the key of a timestamp')
  }

  #analysis(analysis: HistoryAnalysis, at: string): void {
    const { selections, metrics, supplied, shared_reference: shared, statistics } = analysis
    this.references(
      selections,
      `${at}.selections`,
      this.study.selections.map(s => s.name),
      'one of the selections'
    )
    this.references(
      metrics,
      `${at}.metrics`,
      this.study.metrics.map(m => m.name),
      'one of the metrics'
    )
    if (supplied !== null) {
      this.#pair(supplied, `${at}.supplied`, selections)
      for (const list of ['step_prefix', 'same_step'] as const) {
        this.references(supplied[list], `${at}.supplied.${list}`, metrics, IN_ANALYSIS.metric)
      }
      const both = supplied.same_step.findIndex(name => supplied.step_prefix.includes(name))
      if (both >= 0) {
        this.refuse(
          'contradiction',
          `${at}.supplied.same_step[${both}] is ${describeValue(supplied.same_step[both])}, which is in ${at}.supplied.step_prefix too`,
          'a metric in one of the two'
        )
      }
      if (supplied.time_prefix) this.#needsTime(`${at}.supplied.time_prefix is true`)
    }
    if (shared !== null) {
      this.known(shared.metric, `${at}.shared_reference.metric`, metrics, IN_ANALYSIS.metric)
      this.references(shared.selections, `${at}.shared_reference.selections`, selections, IN_ANALYSIS.selection)
      this.#drawnNumber(shared, `${at}.shared_reference`)
    }
    this.#statistics(statistics, `${at}.statistics`, analysis)
  }

  /** Checks that a number is stated in one way. The target of its reference is checked across sections. */
  #drawnNumber({ value, from, scale }: DrawnNumber, at: string): void {
    if (value === null && from === null) this.refuse('missing field', `${at} has neither value nor from`, 'one of them')
    if (value !== null && from !== null) {
      this.refuse('contradiction', `${at}.value is ${value} and ${at}.from is ${describeValue(from)}`, 'one of them')
    }
    if (from === null && scale !== 1) {
      this.refuse('contradiction', `${at}.scale is ${scale} and ${at}.from is null`, '1: what stands at from is multiplied')
    }
  }

  #statistics(statistics: StatisticsRequest, at: string, { selections, metrics }: HistoryAnalysis): void {
    for (const list of ['best', 'max_abs', 'below_zero'] as const) {
      this.references(statistics[list], `${at}.${list}`, metrics, IN_ANALYSIS.metric)
    }
    this.references(
      statistics.constant,
      `${at}.constant`,
      this.study.metrics.map(m => m.name),
      'one of the metrics'
    )
    for (const one of ['ends', 'final'] as const) {
      const counted = statistics[one]
      if (counted !== null) this.references(counted.metrics, `${at}.${one}.metrics`, metrics, IN_ANALYSIS.metric)
    }
    for (const list of ['windows', 'first_rows', 'shares'] as const) {
      statistics[list].forEach((item, i) => this.references(item.metrics, `${at}.${list}[${i}].metrics`, metrics, IN_ANALYSIS.metric))
    }
    for (const list of ['windows', 'thresholds', 'first_rows', 'shares'] as const) {
      this.unique(statistics[list].map(({ name }, i) => ({ at: `${at}.${list}[${i}].name`, value: name })))
    }
    statistics.windows.forEach(({ from, to }, i) => {
      if (from > to) this.refuse('contradiction', `${at}.windows[${i}].from is ${from} and ${at}.windows[${i}].to is ${to}`, 'from <= to')
    })
    statistics.thresholds.forEach(({ metric }, i) => this.known(metric, `${at}.thresholds[${i}].metric`, metrics, IN_ANALYSIS.metric))
    if (statistics.compare !== null) {
      this.#pair(statistics.compare, `${at}.compare`, selections)
      if (statistics.best.length === 0 && statistics.thresholds.length === 0) {
        this.refuse(
          'contradiction',
          `${at}.compare is an object, ${at}.best and ${at}.thresholds are empty`,
          'something to compare: best or thresholds'
        )
      }
    }
  }

  /** Checks over all analyses that no two outputs have the same path. */
  #outputs(): void {
    const stated: NamedField[] = this.study.analyses.flatMap(({ outputs, shared_reference: shared }, i) => {
      const at = `${this.at}.analyses[${i}]`
      const paths = Object.entries(outputs).flatMap(([name, value]) => (value === null ? [] : [{ at: `${at}.outputs.${name}`, value }]))
      return shared === null ? paths : [...paths, { at: `${at}.shared_reference.output`, value: shared.output }]
    })
    for (const { at, value } of stated) this.free(at, value, RESERVED_OUTPUTS, 'output')
    const metadata = stated
      .filter(({ value }) => value.endsWith('.csv'))
      .map(({ at, value }) => ({ at: `the metadata of ${at}`, value: csvMetadataPath(value) }))
    this.unique([...stated, ...metadata], fold)
  }

  #figures(): void {
    const { figures, analyses } = this.study
    const names = figures.map(({ name }, i) => ({ at: `${this.at}.figures[${i}].name`, value: name }))
    for (const { at, value } of names) this.free(at, value, RESERVED_FIGURES, 'figure')
    this.unique(names, fold)
    figures.forEach((figure, i) => {
      const at = `${this.at}.figures[${i}]`
      this.known(
        figure.analysis,
        `${at}.analysis`,
        analyses.map(a => a.name),
        'one of the analyses'
      )
      if (figure.view === 'time') this.#needsTime(`${at}.view is "time"`)
      const analysis = analyses.find(a => a.name === figure.analysis)
      if (analysis !== undefined) this.#panels(figure, at, analysis)
    })
  }

  #panels(figure: CurveFigureRequest, at: string, { selections, metrics }: HistoryAnalysis): void {
    figure.panels.forEach((panel, i) => {
      const here = `${at}.panels[${i}]`
      this.known(panel.metric, `${here}.metric`, metrics, IN_ANALYSIS.metric)
      const metric = this.study.metrics.find(m => m.name === panel.metric)
      panel.guides.forEach((guide, k) => {
        const { value, selection } = guide
        this.#drawnNumber(guide, `${here}.guides[${k}]`)
        if (selection !== null) this.known(selection, `${here}.guides[${k}].selection`, selections, IN_ANALYSIS.selection)
        if (panel.scale.kind === 'log' && metric !== undefined && value !== null && !(plotted(value, metric) > 0)) {
          this.refuse(
            'wrong field',
            `${here}.guides[${k}].value is ${value}`,
            'a value that is plotted above 0, where the axis is logarithmic'
          )
        }
      })
    })
  }
}

const IN_ANALYSIS = { metric: 'one of the metrics of its analysis', selection: 'one of the selections of its analysis' } as const

function plotted(value: number, { multiply, divide }: MetricDefinition): number {
  return (value * multiply) / divide
}

/**
 * The groups of a chart in an SVG, as a plugin of Chart.js. A panel states its axes (`data-x-min` and so on: the values at
 * the ends; `data-x-from` and `data-x-to`: where they are, in points), so that the values of drawn points can be read
 * back. Each series is a group with its name. It must be registered before the plugins that draw.
 */
import type { Chart, Plugin, Scale } from 'chart.js'
import type { PanelConfig } from '../figures/config.js'
import type { ChartGroups, PanelCanvas } from './context.js'
import { NO_GROUPS, type SvgAttributes, type Groups } from './svg-context.js'

/** The letter of a panel's label. */
export function panelLetter({ label }: Pick<PanelConfig, 'label'>): string {
  return label.replace(/[()]/g, '')
}

function of({ canvas }: Chart): ChartGroups {
  return (canvas as unknown as PanelCanvas).groups ?? { groups: NO_GROUPS, letter: '', x: 0, y: 0 }
}

function axisAttributes(axis: 'x' | 'y', scale: Scale, offset: number): SvgAttributes {
  const { type, min, max, options } = scale
  const [from, to] = axis === 'x' ? [scale.left, scale.right] : [scale.bottom, scale.top]
  const { linearTo } = options as unknown as { readonly linearTo?: number }
  return {
    [`data-${axis}-scale`]: type === 'logarithmic' ? 'log' : type,
    [`data-${axis}-linear-to`]: linearTo ?? null,
    [`data-${axis}-min`]: min,
    [`data-${axis}-max`]: max,
    [`data-${axis}-from`]: offset + from,
    [`data-${axis}-to`]: offset + to
  }
}

function next(groups: Groups, attributes: SvgAttributes): void {
  groups.close()
  groups.open(attributes)
}

export const groupsPlugin: Plugin = {
  id: 'groups',
  beforeDraw(chart) {
    const { groups, x, y } = of(chart)
    groups.amend({ ...axisAttributes('x', chart.scales['x'], x), ...axisAttributes('y', chart.scales['y'], y) })
    groups.open({ class: 'axes' })
  },
  beforeDatasetsDraw(chart) {
    next(of(chart).groups, { class: 'annotation' })
  },
  beforeDatasetDraw(chart, { index }) {
    const { groups, letter } = of(chart)
    next(groups, { class: 'series', 'data-panel': letter, 'data-series': chart.data.datasets[index].label ?? null })
  },
  afterDatasetsDraw(chart) {
    next(of(chart).groups, { class: 'annotation' })
  },
  afterDraw(chart) {
    of(chart).groups.close()
  }
}

/** Reading a plain figure configuration in a test, and the small fixture that the goldens are made from. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CriticTraceFigureData, ExampleTrace } from '../../src/compute/traces/contract.js'
import type { FigureConfig, Plain } from '../../src/render/figures/config.js'

export const FIXTURES = fileURLToPath(new URL('../../../fixtures/figures/', import.meta.url))

type Listed = Omit<ExampleTrace, 'values' | 'boundaries'> & { readonly values: readonly number[]; readonly boundaries: readonly number[] }
type DataFile = Omit<CriticTraceFigureData, 'success' | 'failure'> & { readonly success: Listed; readonly failure: Listed }

function typed(example: Listed): ExampleTrace {
  return { ...example, values: Float64Array.from(example.values), boundaries: Int32Array.from(example.boundaries) }
}

export async function smallData(): Promise<CriticTraceFigureData> {
  const { success, failure, ...rest } = JSON.parse(await readFile(join(FIXTURES, '08-critic-traces.data.json'), 'utf8')) as DataFile
  return { ...rest, success: typed(success), failure: typed(failure) }
}

export interface Point {
  readonly x: number
  readonly y: number | null
}
export interface Series {
  readonly label: string
  readonly data: readonly Point[]
  readonly pointRadius?: number
}
export interface Limits {
  readonly type: string
  readonly min: number
  readonly max: number
  readonly linearTo?: number
}
export interface Annotations {
  [name: string]: { [option: string]: Plain }
}

interface Options {
  readonly scales: { readonly x: Limits; readonly y: Limits }
  readonly plugins: { readonly annotation: { readonly annotations: Annotations } }
}

function optionsOf(config: FigureConfig, panel: number): Options {
  return config.panels[panel].chart.options as unknown as Options
}

export function seriesOf(config: FigureConfig, panel: number): readonly Series[] {
  return config.panels[panel].chart.data.datasets as unknown as readonly Series[]
}

export function scalesOf(config: FigureConfig, panel: number): Options['scales'] {
  return optionsOf(config, panel).scales
}

export function annotationsOf(config: FigureConfig, panel: number): Annotations {
  return optionsOf(config, panel).plugins.annotation.annotations
}

/** A copy of a configuration that a test takes things out of. */
export interface LooseFigure {
  readonly panels: Array<{
    readonly chart: {
      readonly data: { readonly datasets: Array<{ readonly data: unknown[]; pointBackgroundColor: string }> }
      readonly options: { readonly plugins: { readonly annotation: { readonly annotations: Annotations } } }
    }
  }>
  readonly texts: unknown[]
  readonly legend: unknown[]
}

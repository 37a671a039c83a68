/**
 * What an SVG of a figure draws: its panels with their axes, and the paths of each series, in the file's units. The groups and
 * their attributes are those of docs/outputs.md, "Files of a figure". Nothing outside the groups of series is kept.
 *
 * Refused: what could move a path or draw one otherwise (`transform`, `style`, `use`, nested `svg`), a series outside its
 * panel, an element other than `path` in a series, an axis without its numbers.
 */
import { Fault, printable, type Place } from '../../core/errors.js'
import { comparingWords } from '../../core/still.js'
import { readWhole } from '../../core/still-file.js'
import type { AxisScale } from '../../schema/histories.js'
import { parseXml, type XmlAttributes, type XmlHandler, type XmlName } from '../office/xml.js'
import { readPath, type SubPath } from './path.js'

export interface SvgAxis {
  readonly scale: AxisScale
  /** values at the ends */
  readonly min: number
  readonly max: number
  /** where the ends are, in the file's units */
  readonly from: number
  readonly to: number
}

export interface SvgPath {
  readonly data: string
  readonly parts: readonly SubPath[]
  readonly filled: boolean
  readonly stroked: boolean
}

export interface SvgSeries {
  readonly name: string
  readonly paths: readonly SvgPath[]
}

export interface SvgPanel {
  readonly letter: string
  readonly x: SvgAxis
  readonly y: SvgAxis
  readonly series: readonly SvgSeries[]
}

/** Largest file. The largest figure of the replica has 0.4 MB. */
const MAX_BYTES = 64 * 1024 * 1024
const SVG_URI = 'http://www.w3.org/2000/svg'

class DrawnFigureReader implements XmlHandler {
  readonly panels: (Omit<SvgPanel, 'series'> & { readonly series: { readonly name: string; readonly paths: SvgPath[] }[] })[] = []
  readonly #place: Place
  #depth = 0
  /** depth of the open panel, and of the open series; 0: none */
  #panel = 0
  #series = 0

  constructor(place: Place) {
    this.#place = place
  }

  open({ uri, local }: XmlName, attributes: XmlAttributes): void {
    this.#depth++
    if (uri !== SVG_URI || (local === 'svg') !== (this.#depth === 1)) throw this.#fault('unknown element', local, 'SVG elements in one svg')
    const moved = ['transform', 'style'].find(name => attributes.get(name) !== undefined)
    if ((moved !== undefined && local !== 'text') || local === 'use' || local === 'style')
      throw this.#fault('unknown element', `${local} with ${moved ?? 'other elements'}`, 'elements where their coordinates are')
    if (this.#series > 0) this.#path(local, attributes)
    else if (local === 'g' && attributes.get('class') === 'panel') this.#openPanel(attributes)
    else if (local === 'g' && attributes.get('class') === 'series') this.#openSeries(attributes)
  }

  close(): void {
    if (this.#depth === this.#series) this.#series = 0
    if (this.#depth === this.#panel) this.#panel = 0
    this.#depth--
  }

  text(): void {
    // Texts are not checked.
  }

  #openPanel(attributes: XmlAttributes): void {
    const letter = attributes.get('data-panel') ?? ''
    if (this.#panel > 0 || letter === '' || this.panels.some(panel => panel.letter === letter))
      throw this.#fault('wrong panel', `panel "${letter}"`, 'panels of one letter each, none inside another')
    this.#panel = this.#depth
    this.panels.push({ letter, x: this.#axis('x', letter, attributes), y: this.#axis('y', letter, attributes), series: [] })
  }

  #axis(axis: 'x' | 'y', letter: string, attributes: XmlAttributes): SvgAxis {
    const number = (name: string): number => {
      const text = attributes.get(`data-${axis}-${name}`) ?? ''
      const value = Number(text)
      if (text.trim() !== '' && Number.isFinite(value)) return value
      throw this.#fault('wrong attribute', `data-${axis}-${name}="${text}" of panel ${letter}`, 'a number')
    }
    const kind = attributes.get(`data-${axis}-scale`)
    const ends = { min: number('min'), max: number('max'), from: number('from'), to: number('to') }
    const linearTo = kind === 'symlog' ? number('linear-to') : 1
    const isDefined = ends.max > ends.min && ends.from !== ends.to && linearTo > 0 && (kind !== 'log' || ends.min > 0)
    if (!isDefined) throw this.#fault('wrong axis', `${axis} of panel ${letter}`, 'min below max, and a length')
    if (kind === 'linear' || kind === 'log') return { scale: { kind }, ...ends }
    if (kind === 'symlog') return { scale: { kind, linear_to: linearTo }, ...ends }
    throw this.#fault('wrong attribute', `data-${axis}-scale="${kind ?? ''}" of panel ${letter}`, 'linear, log or symlog')
  }

  #openSeries(attributes: XmlAttributes): void {
    const panel = this.panels.at(-1)
    const name = attributes.get('data-series')
    if (this.#panel === 0 || panel === undefined || name === undefined || attributes.get('data-panel') !== panel.letter)
      throw this.#fault('wrong series', `series "${name ?? ''}"`, 'a name, inside the panel that it names')
    this.#series = this.#depth
    panel.series.push({ name, paths: [] })
  }

  #path(local: string, attributes: XmlAttributes): void {
    const data = attributes.get('d')
    if (local !== 'path' || data === undefined) throw this.#fault('unknown element', `${local} in a series`, 'paths')
    const isPainted = (name: string): boolean => !['none', undefined].includes(attributes.get(name))
    const path = { data, parts: readPath(data, this.#place), filled: isPainted('fill'), stroked: isPainted('stroke') }
    this.panels.at(-1)?.series.at(-1)?.paths.push(path)
  }

  #fault(problem: string, found: string, expected: string): Fault {
    return new Fault({ format: 'svg', problem, found: printable(found), expected, place: this.#place })
  }
}

/** @throws Fault exit 3 for a file that is no figure of this program */
export async function readDrawnFigure(file: string): Promise<readonly SvgPanel[]> {
  const place = { file }
  const reader = new DrawnFigureReader(place)
  await parseXml(await readWhole(file, comparingWords('svg'), MAX_BYTES), reader, place)
  return reader.panels
}

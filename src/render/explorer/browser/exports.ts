/** What is in view as a file: PNG and SVG of the drawing, CSV of every token. */
import { formatFigureCount } from '../../figures/format.js'
import { textCell } from '../../outputs/csv-text.js'
import { visible } from '../../page/text.js'
import type { TraceReference, TraceView } from '../contract.js'
import type { PaneState } from './address.js'
import { element } from './dom.js'
import { paintScene, type Scene, type SceneItem } from './scene.js'
import { ownRange, paneTraces, type ExplorerSources } from './sources.js'
import { sceneSvg } from './svg.js'
import type { TokenRange } from './tokens.js'

export const EXPORT_KINDS = ['png', 'svg', 'csv'] as const
export type ExportKind = (typeof EXPORT_KINDS)[number]

const CSV_HEAD = 'snapshot,trace,uid,index,position,turn,value,return,change\r\n'
/** tokens that are loaded and written at a time */
const CSV_PART = 100_000
const HEADING = 40
const PNG_DENSITY = 2

/** Rows of a view that keeps every token. Turns count from 1, as on the page. The change of a first token is empty. */
export function csvRows(view: TraceView, lead: string): string {
  const rows: string[] = []
  const cell = (value: number): string => (Number.isNaN(value) ? '' : Object.is(value, -0) ? '-0' : String(value))
  for (let k = 0; k < view.index.length; k++) {
    const numbers = [view.index[k], view.position[k], view.turn[k] + 1, view.value[k], view.return[k], view.change[k]]
    rows.push(`${lead},${numbers.map(cell).join(',')}\r\n`)
  }
  return rows.join('')
}

/** The first cells of each row of a trace. What cannot be seen in a text, or turns it around, is an escape. */
export function csvLead(name: string, trace: number, uid: string | null): string {
  return [textCell(visible(name)), String(trace), uid === null ? '' : textCell(visible(uid))].join(',')
}

/** All tokens in view of all traces that are drawn, with the numbers that the inputs have: no more digits, no fewer. */
async function viewCsv({ page, store }: ExplorerSources, state: PaneState, range: TokenRange): Promise<Blob> {
  const { name, traces } = page.snapshots[state.snapshot]
  const parts = [CSV_HEAD]
  for (const drawn of paneTraces(page, state)) {
    const own = ownRange(drawn, range)
    const uid = traces.uid[drawn.trace]
    const lead = csvLead(name, drawn.trace, uid)
    const reference: TraceReference = { snapshot: state.snapshot, trace: drawn.trace }
    for (let from = own?.[0] ?? 0; own !== null && from < own[1]; from += CSV_PART) {
      const to = Math.min(own[1], from + CSV_PART)
      parts.push(csvRows(await store.view(reference, from, to, to - from), lead))
    }
  }
  return new Blob(parts, { type: 'text/csv' })
}

/** A drawing with a heading that says what it shows, and that synthetic data are synthetic. */
export function headedScene(scene: Scene, title: string, under: string): Scene {
  const text = { kind: 'text', x: 12, align: 'left', fill: '#1a1a1a' } as const
  const heading: readonly SceneItem[] = [
    { ...text, y: 18, text: title, size: 13, bold: true },
    { ...text, y: 34, text: under, size: 11 }
  ]
  const moved = scene.layers.map(({ clip, items }) => ({
    clip: clip === null ? null : { ...clip, y: clip.y + HEADING },
    items: items.map(lowered)
  }))
  return { ...scene, height: scene.height + HEADING, layers: [{ clip: null, items: heading }, ...moved] }
}

function lowered(item: SceneItem): SceneItem {
  if (item.kind === 'box') return { ...item, box: { ...item.box, y: item.box.y + HEADING } }
  if (item.kind === 'text') return { ...item, y: item.y + HEADING }
  return { ...item, points: Float64Array.from(item.points, (at, i) => (i % 2 === 1 ? at + HEADING : at)) }
}

function svgFile(scene: Scene): Blob {
  return new Blob([sceneSvg(scene)], { type: 'image/svg+xml' })
}

async function pngFile(scene: Scene): Promise<Blob> {
  const canvas = element('canvas')
  paintScene(canvas, scene, PNG_DENSITY)
  const file = await new Promise<Blob | null>(resolve => {
    canvas.toBlob(resolve, 'image/png')
  })
  if (file === null) throw new Error('the drawing is too large for a picture')
  return file
}

function saveFile(file: Blob, name: string): void {
  const address = URL.createObjectURL(file)
  element('a', { attributes: { href: address, download: name } }).click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

export interface SavedView {
  readonly state: PaneState
  readonly range: TokenRange
  /** a line on the chosen trace */
  readonly about: string
  scene(): Scene
}

/** Has the browser save what is in view. The file's name and the heading of a picture say what that is. */
export async function saveView(sources: ExplorerSources, kind: ExportKind, { state, range, about, scene }: SavedView): Promise<void> {
  const { snapshot, trace, overlay } = state
  const { name, synthetic } = sources.page.snapshots[snapshot]
  const [first, last] = [range[0], range[1] - 1]
  const file = `critic-trace-${trace}-tokens-${first}-${last}.${kind}`
  if (kind === 'csv') {
    saveFile(await viewCsv(sources, state, range), file)
    return
  }
  const title = `${visible(name)}: trace ${trace}${overlay === null ? '' : ` and ${overlay} (dashed)`}`
  const mark = synthetic ? 'Synthetic data, not measurements. ' : ''
  const drawing = headedScene(scene(), title, `${mark}Tokens ${formatFigureCount(first)} to ${formatFigureCount(last)}. ${about}`)
  saveFile(kind === 'svg' ? svgFile(drawing) : await pngFile(drawing), file)
}

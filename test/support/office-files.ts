/** Small workbooks and presentations, written part by part, and how their readings are put into words. */
import { zipSync } from 'fflate'
import { Fault } from '../../src/core/errors.js'
import type { Cell } from '../../src/ingest/office/workbook.js'
import { cpuMs } from './cpu.js'

export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
export const STRICT_MAIN = 'http://purl.oclc.org/ooxml/spreadsheetml/main'
export const REL = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
export const STRICT_REL = 'http://purl.oclc.org/ooxml/officeDocument/relationships'
const PACKAGE_REL = 'http://schemas.openxmlformats.org/package/2006/relationships'
const P = 'http://schemas.openxmlformats.org/presentationml/2006/main'
const A = 'http://schemas.openxmlformats.org/drawingml/2006/main'
const MC = 'http://schemas.openxmlformats.org/markup-compatibility/2006'

export type Parts = Readonly<Record<string, string | Uint8Array>>

export function pack(parts: Parts): Uint8Array {
  const encoder = new TextEncoder()
  const files = Object.entries(parts).map(([name, part]) => [name, typeof part === 'string' ? encoder.encode(part) : part])
  return zipSync(Object.fromEntries(files) as Record<string, Uint8Array>)
}

/** A `.rels` part: `[id, kind, target]`; a kind with a colon is a whole type. */
export function rels(list: readonly (readonly [string, string, string, string?])[], base = REL): string {
  const items = list.map(
    ([id, kind, target, mode]) =>
      `<Relationship Id="${id}" Type="${kind.includes(':') ? kind : `${base}/${kind}`}" Target="${target}"${
        mode === undefined ? '' : ` TargetMode="${mode}"`
      }/>`
  )
  return `<Relationships xmlns="${PACKAGE_REL}">${items.join('')}</Relationships>`
}

/** One sheet's part around what stands in it. */
export function worksheet(inside: string): string {
  return `<worksheet xmlns="${MAIN}">${inside}</worksheet>`
}

/** The parts of a workbook of one sheet `S`; `changed` adds and replaces some. */
export function bookParts(sheetData: string, changed: Parts = {}): Parts {
  return {
    '_rels/.rels': rels([['rId1', 'officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${REL}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': rels([
      ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
      ['rId2', 'sharedStrings', 'sharedStrings.xml'],
      ['rId3', 'styles', 'styles.xml']
    ]),
    'xl/sharedStrings.xml': `<sst xmlns="${MAIN}"><si><t>zero</t></si><si><t>one</t></si></sst>`,
    'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': worksheet(`<sheetData>${sheetData}</sheetData>`),
    ...changed
  }
}

export function book(sheetData: string, changed: Parts = {}): Uint8Array {
  return pack(bookParts(sheetData, changed))
}

/** A slide's part around the shapes in it. */
export function slide(shapes: string, root = 'sld', attributes = ''): string {
  return (
    `<p:${root} xmlns:p="${P}" xmlns:a="${A}" xmlns:r="${REL}" xmlns:mc="${MC}"${attributes}>` +
    `<p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:${root}>`
  )
}

/** A shape with one paragraph of one run for each text. */
export function shape(...texts: readonly string[]): string {
  return `<p:sp><p:txBody>${texts.map(text => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp>`
}

/** A presentation of these slide parts, in this order, with other parts. */
export function deck(slides: readonly (readonly [part: string, xml: string])[], more: Parts = {}): Uint8Array {
  const list = slides.map((_, i) => `<p:sldId id="${256 + i}" r:id="r${i}"/>`).join('')
  return pack({
    '_rels/.rels': rels([['x', 'officeDocument', '/ppt/presentation.xml']]),
    'ppt/presentation.xml': `<p:presentation xmlns:p="${P}" xmlns:r="${REL}"><p:sldIdLst>${list}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': rels(slides.map(([part], i) => [`r${i}`, 'slide', `/${part}`] as const)),
    ...Object.fromEntries(slides),
    ...more
  })
}

/** `A1 number 1`, one a cell, in the order of the map. */
export function words(cells: Iterable<Cell>): string[] {
  return [...cells].map(cell => `${cell.ref} ${cell.kind} ${JSON.stringify(cell.value)}`)
}

/** The fault that `run` is refused with; anything else thrown, or nothing, is an error. */
export async function faultOf(run: () => Promise<unknown>): Promise<Fault> {
  try {
    await run()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

export interface Turns {
  /** turns of the event loop while it ran */
  readonly count: number
  /** most CPU time of this process between two of them, in milliseconds */
  readonly longest: number
  /** CPU time of this process, in milliseconds */
  readonly ms: number
}

/** How `run` shares the event loop. CPU time, not wall time: the machine may be busy with something else. */
export async function turnsOf(run: () => Promise<unknown>): Promise<Turns> {
  let [count, longest, going] = [0, 0, true]
  let before = process.cpuUsage()
  const turn = (): void => {
    longest = Math.max(longest, cpuMs(before))
    before = process.cpuUsage()
    count++
    if (going) setImmediate(turn)
  }
  setImmediate(turn)
  const start = process.cpuUsage()
  try {
    await run()
  } finally {
    going = false
    turn()
  }
  return { count, longest, ms: cpuMs(start) }
}

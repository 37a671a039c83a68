/** What the script of a page reads of its figures (`browser/figures.ts`), and that script. */
import { readFileSync } from 'node:fs'
import type { FigureReadings } from '../../compute/histories/contract.js'
import type { PageName, Prose } from './prose.js'
import { scriptJson, type PageDocument } from './shell.js'
import { escapeHtml, visible } from './text.js'

/** The script, as the build made it (`tools/build.ts`): it is no module of the program. */
const SCRIPT = '../../../bundle/figures.js'

/** The readings of a figure as an element, for the script. Texts of a study have no unseen characters there, as everywhere on a page. */
export function readingsElement(name: string, readings: FigureReadings): string {
  const seen = (_: string, value: unknown): unknown => (typeof value === 'string' ? visible(value) : value)
  return `<script type="application/json" id="figure-data-${escapeHtml(name)}">${scriptJson(readings, seen)}</script>`
}

/** Undefined where no figure of the page has readings. */
export function figureScript(prose: Prose, page: PageName): PageDocument['script'] {
  const isRead = prose[page].blocks.some(block => block.kind === 'figure' && (prose.figure(block.slot).readings ?? null) !== null)
  return isRead ? { text: readFileSync(new URL(SCRIPT, import.meta.url), 'utf8'), asksServer: false } : undefined
}

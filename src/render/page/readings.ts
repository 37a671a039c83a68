/** What the script of a page reads of its figures (`browser/figures.ts`), and that script. */
import { readFileSync } from 'node:fs'
import type { FigureReadings } from '../../compute/histories/contract.js'
import type { PageName, Prose } from './prose.js'
import { scriptJson, type PageDocument } from './shell.js'
import { escapeHtml, visible } from './text.js'

/** The script, as the build made it (`tools/build.ts`): it is no module of the program. */
const SCRIPT = '../../../bundle/figures.js'

/** The readings of the page's figures as elements, for the script. Texts of a study have no unseen characters there, as everywhere on a page. */
export function readingsElements(prose: Prose, page: PageName): string {
  return readFigures(prose, page)
    .map(
      ([name, readings]) => `<script type="application/json" id="figure-data-${escapeHtml(name)}">${scriptJson(readings, seen)}</script>\n`
    )
    .join('')
}

function seen(_: string, value: unknown): unknown {
  return typeof value === 'string' ? visible(value) : value
}

/** Undefined where no figure of the page has readings. */
export function figureScript(prose: Prose, page: PageName): PageDocument['script'] {
  if (readFigures(prose, page).length === 0) return undefined
  return { text: readFileSync(new URL(SCRIPT, import.meta.url), 'utf8'), asksServer: false }
}

function readFigures(prose: Prose, page: PageName): (readonly [name: string, FigureReadings])[] {
  return prose[page].blocks.flatMap(block => {
    if (block.kind !== 'figure') return []
    const { name, readings } = prose.figure(block.slot)
    return readings === undefined || readings === null ? [] : [[name, readings] as const]
  })
}

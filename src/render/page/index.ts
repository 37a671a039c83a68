/**
 * The article and the notes on its evidence: two templates, filled, as Markdown and as self-contained pages.
 *
 *     templates ──► prose ── proseTexts ──► the audit looks for disclosures and for what must not be said
 *                     └───── renderPages ─► article.md, source-notes.md, preview/article.html, preview/source-notes.html
 *
 * All functions except `writePages` are pure. The same inputs give the same bytes.
 */
import type { PageText } from '../../compute/audit/contract.js'
import { Fault } from '../../core/errors.js'
import type { FileSummary } from '../outputs/output-file.js'
import type { OutputSet } from '../outputs/output-set.js'
import { fillMarkdown } from './fill.js'
import type { PageInputs, ProseInputs } from './inputs.js'
import { pageHtml } from './page.js'
import { citedValues, PAGE_FILES, proseText, readProse, type PageName } from './prose.js'

export type { DocumentSource, PageFigure, PagePicture, PageInputs, ProseInputs } from './inputs.js'
export { findTypedNumbers, type Finding } from './lint.js'
export { PAGE_FILES, type PageName } from './prose.js'
export type { Template } from './references.js'

/** Output paths of the pages, in the order in which they are written. */
export const PAGE_OUTPUTS: readonly string[] = [
  PAGE_FILES.article.markdown,
  PAGE_FILES.notes.markdown,
  PAGE_FILES.article.html,
  PAGE_FILES.notes.html
]

const PAGES: readonly PageName[] = ['article', 'notes']

/** Limit of the size of both pages together, in bytes. */
export const MAX_PAGE_BYTES = 8_000_000

/**
 * The prose of both pages as plain text, and the values that it cites. The audit reads both.
 * @throws Fault for a template that cannot be filled
 */
export function proseTexts(inputs: ProseInputs): readonly PageText[] {
  const prose = readProse(inputs)
  return PAGES.map(page => ({ name: PAGE_FILES[page].markdown, text: proseText(prose, page), cited: citedValues(prose, page, inputs) }))
}

/**
 * Texts by output path, in the order of `PAGE_OUTPUTS`.
 * @throws Fault where the pages are too large
 */
export function renderPages(inputs: PageInputs): ReadonlyMap<string, string> {
  const prose = readProse(inputs)
  const files = new Map([
    ...PAGES.map(page => [PAGE_FILES[page].markdown, fillMarkdown(prose, page, inputs)] as const),
    ...PAGES.map(page => [PAGE_FILES[page].html, pageHtml(prose, page, inputs)] as const)
  ])
  const bytes = PAGES.reduce((sum, page) => sum + Buffer.byteLength(files.get(PAGE_FILES[page].html) ?? ''), 0)
  if (bytes > MAX_PAGE_BYTES) {
    throw new Fault({
      format: 'page',
      problem: 'too large',
      found: `${bytes} bytes in both pages`,
      expected: `at most ${MAX_PAGE_BYTES}: fewer or smaller figures`
    })
  }
  return files
}

export async function writePages(set: OutputSet, inputs: PageInputs): Promise<readonly FileSummary[]> {
  const summaries: FileSummary[] = []
  for (const [path, text] of renderPages(inputs)) summaries.push(await set.write(path, text))
  return summaries
}

/** The article's pages: a body of blocks, with contents and a foot. */
import { hasStandIns, STAND_IN_NOTE, verifiedText } from './fill.js'
import { auditFailure } from './failure.js'
import { BodyWriter, failureHtml, HEADING_PREFIX, SECTION_DEPTH } from './html.js'
import type { Byline, PageInputs } from './inputs.js'
import { plainText } from './markdown.js'
import { bdi, pageHref } from './panel.js'
import type { PageName, Prose } from './prose.js'
import { contentsHtml, documentParts } from './shell.js'
import { figureScript, readingsElements } from './readings.js'
import { styleSheet } from './style.js'
import { escapeHtml, escapeMarkup } from './text.js'

export function pageHtml(prose: Prose, page: PageName, inputs: PageInputs): string {
  const { title, blocks } = prose[page]
  const failure = auditFailure(inputs)
  const checked = verifiedText(inputs)
  const script = figureScript(prose, page)
  const { before, after } = documentParts({
    title,
    study: inputs.study,
    generator: inputs.generator,
    style: styleSheet({ synthetic: inputs.study.synthetic, failed: failure !== null }),
    failed: failure === null ? '' : failureHtml(failure, prose, page),
    contents: contents(prose, page),
    byline: `${page === 'article' ? bylineHtml(inputs.byline) : ''}${HINT}`,
    main: new BodyWriter(prose, page, inputs).page(blocks),
    ...(script === undefined ? {} : { script }),
    foot: {
      before: `${hasStandIns(prose, page) ? `<p>${escapeHtml(STAND_IN_NOTE)}</p>\n` : ''}${checked === null ? '' : `<p>${escapeHtml(checked)}</p>\n`}`,
      after: ''
    }
  })
  return before + readingsElements(prose, page) + after
}

/** Without headings there is only the link to the other page. */
function contents(prose: Prose, page: PageName): string {
  const items = prose[page].blocks.flatMap(block =>
    block.kind !== 'heading' || block.depth !== SECTION_DEPTH
      ? []
      : [{ id: `${HEADING_PREFIX}${block.id}`, text: escapeMarkup(plainText(block.content)) }]
  )
  const other = page === 'article' ? 'notes' : 'article'
  const also = `<p>Also: <a href="${pageHref(other)}">${escapeMarkup(prose[other].title)}</a></p>`
  return items.length === 0 ? `<nav class="contents" aria-label="Other page">${also}</nav>` : contentsHtml(items, `${also}\n`)
}

/** That numbers answer, where a reader meets it before the first number. */
const HINT =
  '<p class="how">Every number answers: click or tap it to see where it comes from. With the keyboard, the button at the end of a ' +
  'paragraph lists its numbers.</p>\n'

function bylineHtml({ date, cite, compared }: Byline): string {
  const works = compared.map(({ title, url }) => `<a href="${escapeHtml(url)}" rel="noreferrer">${bdi(title)}</a>`)
  const items = [
    ...(date === null ? [] : [`<time datetime="${escapeHtml(date)}">${escapeHtml(date)}</time>`]),
    ...(works.length === 0 ? [] : [`<span>Compared with ${works.join(', ')}</span>`])
  ]
  const line = items.length === 0 ? '' : `<p class="byline">${items.join(' · ')}</p>\n`
  return `${line}${cite === null ? '' : `<details class="cite"><summary>How to cite</summary><p>${escapeHtml(cite)}</p></details>\n`}`
}

/** The article's pages: a body of blocks, with contents and a foot. */
import { hasStandIns, STAND_IN_NOTE, verifiedText } from './fill.js'
import { auditFailure } from './failure.js'
import { BodyWriter, failureHtml, HEADING_PREFIX } from './html.js'
import type { PageInputs } from './inputs.js'
import { plainText } from './markdown.js'
import { pageHref } from './panel.js'
import type { PageName, Prose } from './prose.js'
import { documentHtml } from './shell.js'
import { styleSheet } from './style.js'
import { escapeHtml, escapeMarkup } from './text.js'

export function pageHtml(prose: Prose, page: PageName, inputs: PageInputs): string {
  const { title, blocks } = prose[page]
  const failure = auditFailure(inputs)
  const checked = verifiedText(inputs)
  return documentHtml({
    title,
    study: inputs.study,
    generator: inputs.generator,
    style: styleSheet({ synthetic: inputs.study.synthetic, failed: failure !== null }),
    failed: failure === null ? '' : failureHtml(failure, prose, page),
    contents: contents(prose, page),
    main: new BodyWriter(prose, page, inputs).blocks(blocks),
    foot: {
      before: `${hasStandIns(prose, page) ? `<p>${escapeHtml(STAND_IN_NOTE)}</p>\n` : ''}${checked === null ? '' : `<p>${escapeHtml(checked)}</p>\n`}`,
      after: '<p class="how">Point at a number, tap it, or move to it with the Tab key, to see where it comes from.</p>\n'
    }
  })
}

/** Without headings there is only the link to the other page. */
function contents(prose: Prose, page: PageName): string {
  const items = prose[page].blocks.flatMap(block =>
    block.kind !== 'heading' || block.depth !== 2
      ? []
      : [`<li><a href="#${HEADING_PREFIX}${escapeHtml(block.id)}">${escapeMarkup(plainText(block.content))}</a></li>`]
  )
  const other = page === 'article' ? 'notes' : 'article'
  const also = `<p>Also: <a href="${pageHref(other)}">${escapeMarkup(prose[other].title)}</a></p>`
  return items.length === 0
    ? `<nav class="contents" aria-label="Other page">${also}</nav>`
    : `<nav class="contents" aria-label="Contents"><div>\n<strong>Contents</strong>\n<ul>\n${items.join('\n')}\n</ul>\n${also}\n</div></nav>`
}

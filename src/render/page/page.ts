/**
 * A page is one self-contained HTML document. It contains its pictures and its style sheet, and has no script. Its
 * content security policy forbids all requests. It allows only `data:` pictures and the one style sheet, by its hash.
 */
import { createHash } from 'node:crypto'
import { generatedBy, hasStandIns, STAND_IN_NOTE, syntheticText, verifiedText } from './fill.js'
import { auditFailure } from './failure.js'
import { BodyWriter, failureHtml, HEADING_PREFIX } from './html.js'
import type { PageInputs } from './inputs.js'
import { plainText } from './markdown.js'
import { pageHref } from './panel.js'
import type { PageName, Prose } from './prose.js'
import { styleSheet } from './style.js'
import { escapeHtml, escapeMarkup } from './text.js'

export function pageHtml(prose: Prose, page: PageName, inputs: PageInputs): string {
  const { title, blocks } = prose[page]
  const { study, generator } = inputs
  const failure = auditFailure(inputs)
  const style = styleSheet({ synthetic: study.synthetic, failed: failure !== null })
  const headTitle = study.synthetic ? `[synthetic] ${title}` : title
  const label = syntheticText(study)
  const notice = study.synthetic ? `<p class="notice" role="note">${escapeHtml(label)}</p>\n` : ''
  const failed = failure === null ? '' : failureHtml(failure, prose, page)
  const checked = verifiedText(inputs)
  const verified = checked === null ? '' : `<p>${escapeHtml(checked)}</p>\n`
  const strip = '<aside class="strip" aria-label="Kind of data">Synthetic data, not measurements</aside>\n'
  const standIns = hasStandIns(prose, page) ? `<p>${escapeHtml(STAND_IN_NOTE)}</p>\n` : ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="${escapeHtml(`${generator.name} ${generator.version}`)}">
<meta name="synthetic" content="${String(study.synthetic)}">
<title>${escapeMarkup(headTitle)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
${study.synthetic ? strip : ''}<header class="title">
<h1>${escapeMarkup(title)}${study.synthetic ? ' <span class="mark">synthetic</span>' : ''}</h1>
${failed}${notice}</header>
${contents(prose, page)}
<main id="main">
${new BodyWriter(prose, page, inputs).blocks(blocks)}
</main>
<footer>
${notice}${standIns}${verified}<p>${escapeHtml(generatedBy(generator))}</p>
<p class="how">Point at a number, tap it, or move to it with the Tab key, to see where it comes from.</p>
</footer>
</body>
</html>
`
}

function policy(style: string): string {
  const hash = createHash('sha256').update(style, 'utf8').digest('base64')
  return `default-src 'none'; img-src data:; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`
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

/**
 * A page is one self-contained HTML document. It contains its pictures, its style sheet and at most one script: the explorer's, or that of the article's figures.
 * Its content security policy forbids all requests, but those of a served explorer to its own server. It allows only `data:`
 * pictures, the one style sheet and the one script, by their hashes.
 */
import { createHash } from 'node:crypto'
import type { Generator } from '../outputs/output-names.js'
import { generatedBy, syntheticText } from './fill.js'
import { escapeHtml, escapeMarkup } from './text.js'

export interface PageDocument {
  /** checked for unseen characters, as templates are */
  readonly title: string
  readonly study: { readonly name: string; readonly synthetic: boolean }
  readonly generator: Generator
  readonly style: string
  /** HTML below the title where something fails; '' where nothing does */
  readonly failed: string
  /** HTML between the title and the contents; default '' */
  readonly byline?: string
  readonly contents: string
  readonly main: string
  /** HTML before and behind the line that names the generator */
  readonly foot: { readonly before: string; readonly after: string }
  /** the one script, and whether it may ask the server of its page; absent: none */
  readonly script?: { readonly text: string; readonly asksServer: boolean }
}

/** A document in two parts: what stands in the body behind the text, such as data of its script, comes between them. */
export interface DocumentParts {
  readonly before: string
  readonly after: string
}

export function documentHtml(document: PageDocument): string {
  const { before, after } = documentParts(document)
  return before + after
}

export function documentParts({
  title,
  study,
  generator,
  style,
  failed,
  byline = '',
  contents,
  main,
  foot,
  script
}: PageDocument): DocumentParts {
  const { synthetic } = study
  const headTitle = synthetic ? `[synthetic] ${title}` : title
  const { label, text } = syntheticText(study)
  const notice = synthetic ? `<p class="notice">${escapeHtml(`${label} ${text}`)}</p>\n` : ''
  // The label stays in sight while the reader scrolls, the sentence behind it does not: two boxes of the body, one notice.
  const strip = `<aside class="strip" aria-label="Kind of data"><b>${escapeHtml(label)}</b> <span>${escapeHtml(text)}</span></aside>\n`
  const before = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="${escapeHtml(`${generator.name} ${generator.version}`)}">
<meta name="synthetic" content="${String(synthetic)}">
<title>${escapeMarkup(headTitle)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
${synthetic ? strip : ''}<header class="title">
<h1>${escapeMarkup(title)}</h1>
${failed}${byline}</header>
${contents}
<main id="main">
${main}
</main>
<footer>
${notice}${foot.before}<p>${escapeHtml(generatedBy(generator))}</p>
${foot.after}</footer>
`
  const element = script === undefined ? '' : `<script>${script.text}</script>\n`
  return { before, after: `${element}</body>\n</html>\n` }
}

function policy(style: string, script: PageDocument['script']): string {
  const scripts = script === undefined ? '' : `; script-src '${sourceHash(script.text)}'${script.asksServer ? "; connect-src 'self'" : ''}`
  return `default-src 'none'; img-src data:; style-src '${sourceHash(style)}'${scripts}; base-uri 'none'; form-action 'none'`
}

function sourceHash(text: string): string {
  return `sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}`
}

/** JSON that no parser of HTML takes for the end of its element. */
export function scriptJson(value: object, replacer?: (key: string, value: unknown) => unknown): string {
  return JSON.stringify(value, replacer).replaceAll('<', '\\u003c')
}

/** A link of the contents. */
export interface ContentsItem {
  /** `id` of the heading */
  readonly id: string
  /** HTML */
  readonly text: string
}

/**
 * The contents: at the side of a wide screen, folded on a narrow one.
 * @param also HTML below the list
 */
export function contentsHtml(items: readonly ContentsItem[], also = ''): string {
  const list = items.map(({ id, text }) => `<li><a href="#${escapeHtml(id)}">${text}</a></li>`).join('\n')
  return `<nav class="contents" aria-label="Contents"><details><summary>Contents</summary>\n<ul>\n${list}\n</ul>\n${also}</details></nav>`
}

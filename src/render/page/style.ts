/**
 * The style sheet of a page. The page's content security policy allows it by its hash. It contains no address, no font
 * and no script.
 */

import { figureColors } from '../figures/theme.js'

const COLOURS = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b1e22; --soft: #565d66; --line: #d5dae0; --wash: #f3f5f7; --link: #0a56a3;
  --good: #1a6b37; --bad: #a81d1d; --warn: #ffd166; --warn-ink: #2b1d00; --shadow: rgba(0, 0, 0, 0.22);
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181c; --ink: #e6e9ec; --soft: #a9b1ba; --line: #3a4149; --wash: #1f2429; --link: #84bdf5;
    --good: #7fd49b; --bad: #ff9c93; --shadow: rgba(0, 0, 0, 0.7);
  }
}`

const TEXT = `
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: break-word;
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
}
main, header.title, footer { max-width: 44rem; margin: 0 auto; padding: 0 1.25rem; }
main { position: relative; margin-top: 1rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 1.25rem 0 0.5rem; text-wrap: balance; }
h2 { font-size: 1.4rem; line-height: 1.25; margin: 3rem 0 0.75rem; text-wrap: balance; }
h3 { font-size: 1.12rem; line-height: 1.3; margin: 2rem 0 0.5rem; }
p, ul, ol, blockquote { margin: 0 0 1rem; }
ul, ol { padding-left: 1.4rem; }
li { margin-bottom: 0.35rem; }
blockquote { border-left: 3px solid var(--line); padding-left: 1rem; margin-left: 0; color: var(--soft); }
/* Below the underscores of names: a line at their height hides them. */
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 0.4em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 2px; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: 0.875em; }
code { overflow-wrap: anywhere; }
pre { background: var(--wash); padding: 0.75rem 1rem; overflow-x: auto; border-radius: 4px; }
pre code { overflow-wrap: normal; }
hr { border: 0; border-top: 1px solid var(--line); margin: 2rem 0; }
.skip { position: absolute; left: -100vw; background: var(--paper); padding: 0.5rem 1rem; z-index: 4; }
.skip:focus { left: 0; top: 0; }
h2 .here, h3 .here, h4 .here { color: inherit; text-decoration: none; }
.here:hover::after, .here:focus-visible::after { content: " #"; color: var(--soft); }
.next { position: absolute; clip-path: inset(50%); }
.next:focus { position: static; clip-path: none; display: inline-block; margin-bottom: 0.75rem; }
.byline, .how, .cite { font-size: 0.93rem; color: var(--soft); margin: 0 0 0.5rem; }
.cite { border: 0; margin: -0.25rem 0 0.25rem; }
.cite summary { font-weight: 400; font-size: inherit; padding: 0; }
.cite p { margin: 0.25rem 0; }
main > h2:first-child { margin-top: 1.5rem; }
nav.contents { max-width: 44rem; margin: 1rem auto 0; padding: 0 1.25rem; font-size: 0.93rem; }
nav.contents summary { color: var(--link); }
nav.contents ul { margin: 0.25rem 0 0; padding: 0; list-style: none; }
nav.contents li { margin: 0; padding: 0.2rem 0; line-height: 1.35; }
nav.contents p { margin: 0.5rem 0; }
nav.contents a { text-decoration: none; }
nav.contents a:hover { text-decoration: underline; }
/* At the side, open, and in sight while the reader scrolls. Between the two widths the text moves to make room. */
@media screen and (min-width: 72rem) {
  nav.contents {
    position: fixed; top: 6rem; left: 0; width: 16rem; max-height: calc(100vh - 7rem); overflow-y: auto; margin: 0; padding: 0 0.5rem 0 1.5rem;
  }
  nav.contents details { border: 0; }
  @supports selector(::details-content) {
    nav.contents summary { display: none; }
    nav.contents ::details-content { content-visibility: visible; display: block; block-size: auto; }
  }
}
@media screen and (min-width: 72rem) and (max-width: 89.99rem) {
  main, header.title, footer { margin-left: max(21.5rem, calc(50vw - 16rem)); }
}
footer { margin-top: 4rem; padding-top: 1rem; padding-bottom: 3rem; font-size: 0.9rem; color: var(--soft); border-top: 1px solid var(--line); }`

const SYNTHETIC = `
.strip { display: contents; }
.strip b, .strip span {
  display: block; background: var(--warn); color: var(--warn-ink); padding: 0.3rem 1.25rem; font-size: 0.9rem; line-height: 1.35; text-align: center;
}
.strip b { position: sticky; top: 0; z-index: 2; }
.strip span { padding-top: 0; border-bottom: 2px solid var(--warn-ink); }
.notice { background: var(--warn); color: var(--warn-ink); padding: 0.75rem 1rem; border-radius: 6px; font-size: 0.97rem; font-weight: 600; }`

/**
 * The style of values and their panels. A button lies over each number; its panel is a popover. It stands at the number where
 * the browser can place it there (anchor positioning) and the screen is wide, else at the lower edge of the screen.
 */
const VALUES = `
.v {
  position: relative; font-variant-numeric: tabular-nums; border-bottom: 1px dotted var(--soft); white-space: nowrap; border-radius: 2px;
}
.v button { position: absolute; inset: -0.2em 0; width: 100%; border: 0; padding: 0; margin: 0; background: none; cursor: help; }
/* A text of several lines has no box to lie over: its button stands behind it. */
.v.w { position: static; white-space: normal; }
.v.w button { position: static; width: 1.3em; height: 1.3em; margin-left: 0.2em; }
.v.w button::before, .g::before {
  content: "i"; display: inline-block; width: 1.25em; height: 1.25em; border: 1px solid var(--soft); border-radius: 50%;
  font: italic 700 0.75em/1.25em Georgia, serif; text-align: center; color: var(--soft);
}
.v:hover { background: var(--wash); border-bottom: 1px solid var(--link); }
.v.differs, .v.not_computable { color: var(--bad); font-weight: 700; border-bottom: 2px solid var(--bad); }
/* In sight for the paragraph under the pointer and for the keyboard. Out of the flow: no line is longer for it. */
.g { position: absolute; opacity: 0; border: 0; padding: 0; margin-left: 0.25em; background: var(--paper); cursor: help; }
:is(p, li, figcaption, figure, pre, h2, h3):hover > .g, .scroll:hover + .g, .g:hover, .g:focus { opacity: 1; }
@media (hover: none) { .g { pointer-events: none; } }
.p {
  inset: auto 0 0 0; width: 100%; max-width: 34rem; margin: 0 auto; max-height: 46vh; overflow-y: auto; overscroll-behavior: contain;
  padding: 0.7rem 0.9rem; background: var(--paper); color: var(--ink); border: 1px solid var(--soft); border-radius: 8px;
  box-shadow: 0 6px 24px var(--shadow); font-size: 0.85rem; line-height: 1.4;
}
@media (min-width: 44rem) {
  @supports (position-area: block-end) {
    .p {
      inset: auto; width: max-content; max-width: 34rem; min-width: 18rem; margin: 0.3rem 0; position-area: block-end span-inline-end;
      position-try-fallbacks: flip-block, flip-inline, flip-block flip-inline;
    }
  }
}
.p p { margin: 0 1.5rem 0.35rem 0; }
.p .t b { font-size: 1.05rem; margin-right: 0.3rem; }
.p dl { margin: 0; }
.p dl div { display: flex; gap: 0.75rem; padding: 0.12rem 0; }
.p dt { flex: 0 0 5.5rem; color: var(--soft); }
.p dd { flex: 1; margin: 0; min-width: 0; overflow-wrap: anywhere; }
.p details { border: 0; }
.p summary { font-size: inherit; font-weight: 400; padding: 0.15rem 0; }
.p summary:hover { background: var(--wash); }
.p > details > summary b { display: inline-block; min-width: 4.5rem; }
.p > details > summary span { color: var(--soft); }
.p > details > dl { margin: 0 0 0.5rem 1rem; }
.p .o > dl { border-left: 2px solid var(--line); padding-left: 0.6rem; }
.p .x { font: inherit; background: none; border: 0; cursor: pointer; float: right; font-size: 1.2rem; line-height: 1; padding: 0.15rem 0.4rem; color: var(--soft); }
.s { margin-right: 0.3em; }
.agrees .s, .s.agrees, td.agrees { color: var(--good); }
.s.differs, .s.not_computable, td.differs, td.not_computable { color: var(--bad); font-weight: 700; }`

const FIGURES = `
figure { margin: 2rem 0; }
figure svg { display: block; width: 100%; height: auto; }
figure .narrow { display: none; }
@media screen and (max-width: 43.99rem) { figure .wide { display: none; } figure .narrow { display: block; max-width: 26rem; } }
figcaption { margin-top: 0.75rem; font-size: 0.93rem; line-height: 1.5; }
/* Made by the script. The picture has its panels again on paper. */
@media screen { svg.redrawn .panel > g { display: none; } }
svg .overlay { pointer-events: none; }
figure:has(.reader) svg { touch-action: pan-y; }
.reader { margin-top: 0.5rem; font-size: 0.8rem; line-height: 1.35; }
.tools { display: flex; flex-wrap: wrap; gap: 0.4rem 1.25rem; align-items: center; }
.tools label { display: flex; flex: 1 1 16rem; gap: 0.5rem; align-items: center; font-weight: 600; }
.tools input { flex: 1; min-width: 6rem; accent-color: var(--link); }
.tools span { display: inline-flex; }
.tools button {
  font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); padding: 0.2rem 0.55rem; margin-left: -1px; cursor: pointer;
}
.tools button[aria-pressed="true"] { background: var(--ink); color: var(--paper); }
figure .at {
  margin: 0.5rem 0 0; font-size: 0.85rem; font-weight: 600; line-height: 1.35; font-variant-numeric: tabular-nums; background: var(--paper);
  white-space: nowrap; overflow: hidden; text-overflow: ellipsis;
}
.reader table { width: 100%; table-layout: fixed; font-size: 0.7rem; line-height: inherit; margin-top: 0.3rem; }
.reader :is(th, td) { padding: 0.1rem 0.4rem 0.1rem 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-weight: 400; }
/* Names of curves are read whole. */
.reader tbody th { white-space: normal; }
.reader thead th { border-bottom: 1px solid var(--soft); color: var(--soft); }
.reader thead :first-child { width: 20%; } .reader thead :nth-child(2) { width: 14%; } .reader thead :nth-child(3), .reader thead :nth-child(5) { width: 16%; }
.reader thead :nth-child(4) { width: 4.5%; } .reader thead :nth-child(6) { width: 6%; } .reader thead :nth-child(7) { width: 8%; }
.reader .runs { margin: 0.3rem 0 0; color: var(--soft); overflow-wrap: anywhere; }
@media screen and (max-width: 63.99rem) {
  /* In sight while a finger is on a panel above. */
  figure .at { position: sticky; bottom: 0; z-index: 1; white-space: normal; height: 2.9lh; padding: 0.1lh 0; }
  .reader :is(table, tbody, tr) { display: block; }
  .reader table { font-size: 0.75rem; }
  .reader thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .reader tr { height: 5.6lh; padding-top: 0.2lh; border-bottom: 1px solid var(--line); overflow: hidden; }
  .reader :is(tbody th, td) { display: inline; border: 0; padding: 0; white-space: normal; }
  .reader tbody th { display: block; }
  .reader td::before { content: attr(data-label) ": "; color: var(--soft); }
  .reader td:not(:last-child)::after { content: " \\b7  "; color: var(--soft); }
}
.files { margin: 0.5rem 0 0; font-size: 0.85rem; color: var(--soft); overflow-wrap: anywhere; }
.files span { display: block; }
@media (min-width: 64rem) {
  figure { margin-left: -5rem; margin-right: -5rem; }
  figcaption, .files { margin-left: 5rem; margin-right: 5rem; }
}`

const TABLES = `
.scroll { overflow-x: auto; margin: 0 0 1.25rem; }
table { border-collapse: collapse; font-size: 0.92rem; line-height: 1.45; font-variant-numeric: tabular-nums; }
th, td { padding: 0.4rem 0.75rem 0.4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--soft); }
tbody th { font-weight: 400; }
.right { text-align: right; padding-left: 0.75rem; }
.center { text-align: center; }
.made { width: 100%; margin: 1.5rem 0 2rem; font-size: 0.82rem; table-layout: fixed; }
.made caption { text-align: left; font-weight: 700; font-size: 0.95rem; padding-bottom: 0.5rem; }
.made th, .made td { overflow-wrap: break-word; }
.made code { overflow-wrap: inherit; }
.made .hash { overflow-wrap: anywhere; }
.counts { margin: 1.5rem 0 0.5rem; font-weight: 700; font-size: 0.95rem; }
summary { padding: 0.35rem 0; font-size: 0.95rem; font-weight: 600; cursor: pointer; }
details { border-bottom: 1px solid var(--line); }
details .made { margin: 0.25rem 0 1.25rem; }
.made tbody th div:first-child { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; }
.made tbody th div + div { color: var(--soft); }
.audit th:nth-child(1) { width: 20%; } .audit th:nth-child(2) { width: 20%; } .audit th:nth-child(3) { width: 24%; }
.audit th:nth-child(4) { width: 13%; }
.same th:nth-child(1) { width: 30%; } .same th:nth-child(3) { width: 30%; }
.outputs th:nth-child(1) { width: 28%; } .outputs th:nth-child(2) { width: 40%; }
.discrepancies th:nth-child(1) { width: 18%; } .discrepancies th:nth-child(4) { width: 14%; }
.steps th:nth-child(1) { width: 24%; } .failing th:nth-child(1) { width: 24%; }
.sources th:nth-child(1), .excluded th:nth-child(1) { width: 44%; } .sources th:nth-child(2), .excluded th:nth-child(2) { width: 12%; }
.outputs code, .sources code, .excluded code { font-size: 0.93em; }
tr:target { background: var(--wash); outline: 2px solid var(--link); }
@media (min-width: 64rem) { .made, details .made { width: calc(100% + 10rem); margin-left: -5rem; } }
@media (max-width: 44rem) { h1 { font-size: 1.6rem; } td .v { white-space: normal; } }
/* Fewer columns than that break words. Paper has its own size of type. */
@media screen and (max-width: 63.99rem) {
  .made, .made caption, .made tbody, .made tr, .made th, .made td { display: block; width: auto; }
  .made thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .made tbody tr { border: 1px solid var(--line); border-radius: 6px; padding: 0.5rem 0.75rem; margin-bottom: 0.75rem; }
  .made tbody th, .made tbody td { border: 0; padding: 0.15rem 0; width: auto !important; }
  .made tbody td::before { content: attr(data-label) ": "; color: var(--soft); }
  .made tbody td div { display: inline; }
  .made tbody td div + div::before { content: "; "; }
}`

const PRINT = `
@media print {
  :root {
    color-scheme: light; --paper: #ffffff; --ink: #000000; --soft: #444444; --line: #bbbbbb; --wash: #ffffff; --link: #000000;
    --good: #000000; --bad: #000000;
  }
  @page { margin: 16mm 16mm 14mm; }
  /* Everything is measured in it: body text is 9pt. */
  html { font-size: 8.471pt; }
  body { line-height: 1.36; }
  main, header.title, footer { max-width: none; padding: 0; }
  nav.contents, .skip, .next, .how, .panels, .g, .v button, .here::after, .overlay, .reader, figure .at { display: none; }
  .strip b { position: static; }
  .strip b, .strip span, .notice { border: 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .v { border-bottom: 0; }
  a { text-decoration: none; }
  h1 { margin-top: 0.5rem; } h2 { margin-top: 1.1rem; } p, ul, ol { margin-bottom: 0.6rem; } th, td { padding-top: 0.15rem; padding-bottom: 0.15rem; }
  p { orphans: 2; widows: 2; } h2, h3 { break-after: avoid; }
  figure, .scroll, .made tr, footer { break-inside: avoid; }
  footer { margin-top: 1rem; padding-bottom: 0; }
  figure { margin: 0.75rem 0; } figcaption, .files { margin: 0.3rem 0 0; line-height: 1.3; }
  figure svg { width: auto; max-width: 100%; max-height: 80mm; margin: 0 auto; }
  figure .tall svg { max-height: 115mm; }
  .files { display: none; }
  .made, details .made { width: 100%; margin: 0 0 0.75rem; font-size: 6.5pt; line-height: 1.25; }
  .made th, .made td { padding: 0.1rem 0.4rem 0.1rem 0; }
  /* One compact table of all claims in two columns. What a claim is, and where its value stands, the page and audit.json have. */
  .claims { columns: 2; column-gap: 1.5rem; }
  .claims details { border: 0; }
  .claims summary { padding: 0.4rem 0 0; font-size: 6.5pt; }
  .claims .made { margin: 0; font-size: 5.5pt; line-height: 1.12; }
  .claims thead, .claims th div + div, .audit td:nth-child(4) div + div, .audit td:nth-child(5), .outputs :is(th, td):nth-child(3) { display: none; }
  .claims .audit { table-layout: auto; }
  .claims .audit th:nth-child(1) { width: 30%; } .claims .audit td:nth-child(2) { width: 42%; } .claims .audit td:nth-child(4) { width: 8%; }
  .claims .repeats div { display: none; } .claims .repeats::after { content: "="; color: var(--soft); }
  .claims .same th:nth-child(1) { width: 26%; } .claims .same td:nth-child(3) { width: 34%; }
  .claims .made th div { font-family: inherit !important; }
  .made div { display: inline; } .made div + div::before { content: "; "; }
  .claims th, .claims td { border-bottom-width: 0.5px; }
  .claims td.differs div + div, .claims td.not_computable div + div { display: block; }
  summary { break-after: avoid; list-style: none; }
  details::details-content { display: block; content-visibility: visible; block-size: auto; }
  .scroll { overflow: visible; }
  main a[href^="https:"]::after { content: " (" attr(href) ")"; overflow-wrap: anywhere; }
}`

/** A mark on every printed page, where the browser draws margin boxes. */
const SYNTHETIC_PRINT = `
@media print { @page { @top-right { content: "synthetic replica"; font: 700 9pt sans-serif; } } }`

/** The style of a failed audit, equal in light mode, in dark mode and on paper. Nothing else on a page is white on red. */
const FAILED = `
.failed {
  background: #a81d1d; color: #ffffff; border: 4px double #ffffff; outline: 3px solid #a81d1d; border-radius: 2px; margin: 1.25rem 3px;
  padding: 0.9rem 1.1rem; font-size: 1.1rem; line-height: 1.45; overflow-wrap: anywhere;
}
.failed a { color: #ffffff; }
.failed a:focus-visible { outline-color: #ffffff; }
@media print {
  .failed { border-color: #000000; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  @page { @top-left { content: "audit failed"; font: 700 9pt sans-serif; } }
}`

const DIAGNOSTICS = `
.finding { border: 1px solid var(--line); border-left: 5px solid var(--soft); border-radius: 6px; padding: 0.2rem 1.1rem 0.6rem; margin: 1rem 0; }
.finding.fault { border-left-color: var(--bad); }
.finding h3 { margin: 0.8rem 0 0.4rem; }
.finding h3 .severity { text-transform: uppercase; font-size: 0.75em; letter-spacing: 0.05em; margin-right: 0.5em; color: var(--soft); }
.finding.fault h3 .severity { color: var(--bad); }
.finding p { margin: 0 0 0.5rem; }
.finding dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; margin: 0 0 0.5rem; font-size: 0.9rem; }
.finding dt { color: var(--soft); }
.finding dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.lead { font-size: 1.15rem; font-weight: 600; }
.made.estimator tbody th div:first-child, .made.quality tbody th div:first-child,
.made.compared tbody th div:first-child, .made.turns tbody th div:first-child { font-family: inherit; }
.estimator th:nth-child(1) { width: 24%; }
.quality th:nth-child(1), .compared th:nth-child(1) { width: 28%; } .quality th:nth-child(2) { width: 11%; } .quality th:nth-child(3) { width: 20%; }
.quality th:nth-child(4) { width: 15%; } .compared th:nth-child(2), .compared th:nth-child(3) { width: 20%; } .compared th:nth-child(4) { width: 12%; }
@media (max-width: 30rem) { .finding dl { grid-template-columns: 1fr; } .finding dd { margin-bottom: 0.3rem; } }`

export interface StyleOptions {
  readonly synthetic: boolean
  /** the audit fails the run, and the page states this */
  readonly failed: boolean
  /** the page has findings and tables of the diagnostics; default false */
  readonly diagnostics?: boolean
}

export function styleSheet({ synthetic, failed, diagnostics = false }: StyleOptions): string {
  const parts = [
    COLOURS,
    TEXT,
    SYNTHETIC,
    VALUES,
    FIGURES,
    `\n${figureColors()}`,
    TABLES,
    ...(diagnostics ? [DIAGNOSTICS] : []),
    PRINT,
    ...(synthetic ? [SYNTHETIC_PRINT] : []),
    ...(failed ? [FAILED] : [])
  ]
  return `${parts.join('').trim()}\n`
}

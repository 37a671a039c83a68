/**
 * The style sheet of a page. The page's content security policy allows it by its hash. It contains no address, no font
 * and no script.
 */

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
main { position: relative; margin-top: 2rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 2rem 0 0.5rem; text-wrap: balance; }
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
nav.contents { max-width: 44rem; margin: 1.5rem auto 0; padding: 0 1.25rem; font-size: 0.95rem; }
nav.contents div { border: 1px solid var(--line); border-radius: 6px; padding: 0.9rem 1.1rem; background: var(--wash); }
nav.contents strong { display: block; margin-bottom: 0.25rem; }
nav.contents ul { margin: 0; padding: 0; list-style: none; columns: 2 15rem; column-gap: 2rem; }
nav.contents li { margin: 0; padding: 0.2rem 0; break-inside: avoid; }
nav.contents p { margin: 0; }
nav.contents div p { margin-top: 0.6rem; padding-top: 0.6rem; border-top: 1px solid var(--line); }
footer { margin-top: 4rem; padding-top: 1rem; padding-bottom: 3rem; font-size: 0.9rem; color: var(--soft); border-top: 1px solid var(--line); }`

const SYNTHETIC = `
.strip {
  position: sticky; top: 0; z-index: 2; background: var(--warn); color: var(--warn-ink); padding: 0.4rem 1.25rem;
  font-weight: 700; font-size: 0.9rem; line-height: 1.35; text-align: center; border-bottom: 2px solid var(--warn-ink);
}
.notice { background: var(--warn); color: var(--warn-ink); padding: 0.75rem 1rem; border-radius: 6px; font-size: 0.97rem; font-weight: 600; }
h1 .mark {
  display: inline-block; vertical-align: 0.22em; background: var(--warn); color: var(--warn-ink); border-radius: 4px;
  padding: 0.1em 0.5em; font-size: 0.42em; line-height: 1.5; letter-spacing: 0.04em; text-transform: uppercase;
}`

/**
 * The style of values and their panels. A panel is as wide as the text and stands below the line of its number, so that
 * it fits any screen.
 */
const VALUES = `
.v {
  font-variant-numeric: tabular-nums; border-bottom: 1px dotted var(--soft); cursor: help; white-space: nowrap; border-radius: 2px;
  scroll-margin: 4rem 0 14rem;
}
.v.w { white-space: normal; }
.v:hover, .v:focus { background: var(--wash); border-bottom: 1px solid var(--link); }
.v.differs, .v.not_computable { color: var(--bad); font-weight: 700; border-bottom: 2px solid var(--bad); }
.p {
  display: none; position: absolute; left: 1.25rem; right: 1.25rem; z-index: 3; margin-top: 0.15rem; padding: 0.7rem 0.9rem;
  background: var(--paper); color: var(--ink); border: 1px solid var(--soft); border-radius: 6px; box-shadow: 0 6px 24px var(--shadow);
  font-size: 0.85rem; font-weight: 400; font-style: normal; line-height: 1.45; text-align: left; white-space: normal;
}
.v:hover + .p, .v:focus + .p, .p:hover { display: block; }
.v:hover + .p { z-index: 4; }
.p > span { display: block; }
.p > span + span { margin-top: 0.2rem; color: var(--soft); overflow-wrap: anywhere; }
.p .n { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; margin-right: 0.3em; }
.s { margin-right: 0.3em; }
.agrees .s, .s.agrees, td.agrees { color: var(--good); }
.s.differs, .s.not_computable, td.differs, td.not_computable { color: var(--bad); font-weight: 700; }`

const FIGURES = `
figure { margin: 2rem 0; }
figure img {
  display: block; width: 100%; height: auto; background: #ffffff; border: 1px solid var(--line); border-radius: 4px; padding: 0.6rem;
}
figcaption { margin-top: 0.75rem; font-size: 0.93rem; line-height: 1.5; }
figure .scroll { margin: 0; }
/* As wide as the text is at most: a narrower picture has labels that nobody can read. It scrolls in its box. */
@media screen { figure img { min-width: 41.5rem; } }
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
  @page { margin: 18mm 16mm; }
  /* Everything is measured in it: body text is 10pt. */
  html { font-size: 9.412pt; }
  body { line-height: 1.45; }
  main, header.title, footer { max-width: none; padding: 0; }
  nav.contents, .skip, .how, .p, .v:hover + .p, .v:focus + .p { display: none; }
  .strip { position: static; }
  .strip, .notice, h1 .mark { border: 2px solid #000000; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .v { border-bottom: 0; }
  h1 { margin-top: 1rem; } h2 { margin-top: 1.5rem; } h2, h3 { break-after: avoid; }
  figure, .made tr, .outputs, .excluded, footer { break-inside: avoid; }
  figure { margin: 1rem 0; } figcaption, .files { margin-left: 0; margin-right: 0; }
  figure img { border: 0; padding: 0; }
  .made, details .made { width: 100%; margin-left: 0; font-size: 7pt; }
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
    TABLES,
    ...(diagnostics ? [DIAGNOSTICS] : []),
    PRINT,
    ...(synthetic ? [SYNTHETIC_PRINT] : []),
    ...(failed ? [FAILED] : [])
  ]
  return `${parts.join('').trim()}\n`
}

/**
 * The style sheet of the explorer, behind that of every page. Colours are those of the page (`render/page/style.ts`). The script sets
 * places and sizes only.
 */

const LAYOUT = `
header.title, footer { max-width: 96rem; }
header.title h1 { font-size: 1.5rem; margin-top: 1.25rem; }
main.explorer { max-width: 96rem; margin-top: 0.75rem; font-size: 0.875rem; line-height: 1.4; }
.explorer [hidden] { display: none !important; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); margin: 0; }
.explorer .note { background: var(--warn); color: var(--warn-ink); padding: 0.4rem 0.75rem; border-radius: 4px; margin: 0 0 0.75rem; }
.explorer .bar { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin-bottom: 0.75rem; }
.panes { display: grid; gap: 1.5rem; }
.pane { display: grid; gap: 1rem 1.5rem; grid-template-columns: minmax(0, 1fr); align-content: start; }
@media (min-width: 70rem) {
  .panes:not(.two) .pane { grid-template-columns: minmax(0, 42rem) minmax(0, 1fr); align-items: start; }
  .panes.two { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
}
.hint, .about, .count { color: var(--soft); margin: 0; } .about { overflow-wrap: anywhere; }
.explorer .label { color: var(--soft); }`

const CONTROLS = `
.explorer button, .explorer select, .explorer input {
  font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem 0.55rem; min-height: 1.75rem;
}
.explorer button { cursor: pointer; }
.explorer button:hover { background: var(--wash); border-color: var(--soft); }
.explorer button[aria-pressed="true"] { background: var(--link); border-color: var(--link); color: var(--paper); }
.explorer input[aria-invalid="true"] { border-color: var(--bad); outline: 1px solid var(--bad); }
.tools { display: flex; flex-wrap: wrap; gap: 0.35rem 0.9rem; align-items: center; margin: 0.5rem 0; }
.tools .group { display: inline-flex; flex-wrap: wrap; gap: 0.25rem; align-items: center; }
.tabs { display: flex; gap: 0.25rem; border-bottom: 1px solid var(--line); margin-bottom: 0.5rem; }
.explorer .tabs button { border: 0; border-bottom: 3px solid transparent; border-radius: 0; background: none; color: var(--soft); padding: 0.35rem 0.75rem; }
.explorer .tabs button[aria-selected="true"] { color: var(--ink); border-bottom-color: var(--link); font-weight: 600; }
@media (pointer: coarse) { .explorer button, .explorer select, .explorer input { min-height: 2.5rem; min-width: 2.5rem; } }`

const TABLE = `
.explorer .rows { overflow: auto; border: 1px solid var(--line); border-radius: 4px; height: 26rem; overscroll-behavior: contain; }
@media (min-width: 70rem) { .panes:not(.two) .rows { height: calc(100vh - 13rem); min-height: 26rem; } }
.explorer .rows table { border-collapse: separate; border-spacing: 0; font-size: 0.8125rem; line-height: 1.25; width: 100%; }
.explorer .rows thead { position: sticky; top: 0; z-index: 1; background: var(--paper); }
.explorer .rows th { padding: 0.15rem 0.2rem; border-bottom: 0; vertical-align: middle; color: var(--soft); font-weight: 600; white-space: nowrap; }
.explorer .rows td { padding: 0 0.4rem; border-bottom: 1px solid var(--wash); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; max-width: 8rem; vertical-align: middle; }
.explorer .rows tbody tr { height: 28px; }
.explorer .rows tbody td { height: 28px; }
.explorer .rows tr.gap td { border: 0; padding: 0; }
.explorer .traces { table-layout: fixed; min-width: 41rem; }
.explorer .traces th:nth-child(1) { width: 3.3rem; } .explorer .traces th:nth-child(2) { width: 3.4rem; }
.explorer .traces th:nth-child(3) { width: 5.1rem; } .explorer .traces th:nth-child(4) { width: 4.2rem; }
.explorer .traces th:nth-child(5) { width: 4.7rem; } .explorer .traces th:nth-child(6) { width: 3.5rem; }
.explorer .traces th:nth-child(7), .explorer .traces th:nth-child(8), .explorer .traces th:nth-child(9) { width: 4.1rem; }
.explorer .traces th:nth-child(10) { width: 5rem; padding-left: 0.4rem; text-align: left; }
.explorer .traces th.number { text-align: right; }
.explorer td.number { text-align: right; font-variant-numeric: tabular-nums; }
.explorer .rows th button { border: 0; background: none; padding: 0.15rem 0.2rem; min-height: 1.5rem; min-width: 0; font-weight: inherit; color: inherit; width: 100%; text-align: inherit; }
.explorer .rows th[aria-sort="ascending"] button::after { content: " \\2191"; content: " \\2191" / ""; } .explorer .rows th[aria-sort="descending"] button::after { content: " \\2193"; content: " \\2193" / ""; }
.explorer .rows th:not([aria-sort="none"])[aria-sort] { color: var(--ink); }
.explorer .filters td { padding: 0 0.1rem 0.25rem; border-bottom: 2px solid var(--soft); }
.explorer .filters input, .explorer .filters select { width: 100%; padding: 0.1rem 0.25rem; min-height: 1.5rem; min-width: 0; font-size: 0.75rem; }
.explorer .rows tbody tr { cursor: pointer; } .explorer .traces tbody tr { scroll-margin: 4rem; }
.explorer .rows tbody tr:hover td { background: var(--wash); }
.explorer .traces tr[aria-selected="true"] td { background: var(--chosen); }
.explorer .traces tr.overlaid td:first-child { box-shadow: inset 4px 0 0 var(--overlay); }
.explorer .traces tbody tr:focus-visible { outline-offset: -3px; }
.explorer td.success { color: var(--success); } .explorer td.failure { color: var(--failure); }
.spark { position: relative; }
.spark canvas { display: block; }
.explorer .over {
  position: absolute; right: 0.3rem; top: 4px; padding: 0 0.4rem; line-height: 20px; font-size: 0.75rem; border-radius: 3px;
  background: var(--paper); border: 1px solid var(--soft); color: var(--ink); visibility: hidden;
}
.explorer tr:hover .over, .explorer tr:focus .over, .explorer tr[aria-selected="true"] + tr:focus .over { visibility: visible; }
.explorer tr[aria-selected="true"] .over { visibility: hidden; }
@media (hover: none) { .explorer tr:not([aria-selected="true"]) .over { visibility: visible; } }
.count { padding: 0.35rem 0.1rem; } .count.wrong { color: var(--bad); }
.jump-list .hint { margin-bottom: 0.5rem; }
.explorer .jumps button { min-height: 1.4rem; padding: 0 0.4rem; width: 100%; text-align: right; font-variant-numeric: tabular-nums; color: var(--link); }
.explorer .jumps th { padding: 0.35rem 0.4rem; border-bottom: 2px solid var(--soft); text-align: left; }
.critic { overflow: auto; max-height: calc(100vh - 11rem); min-height: 26rem; overflow-wrap: anywhere; padding: 0 0.25rem; }
.critic h2 { font-size: 1.1rem; margin: 1.2rem 0 0.5rem; } .critic h2:first-child { margin-top: 0.25rem; }
.critic .made { width: 100%; margin: 0.5rem 0 1rem; }`

const CURVE = `
.curve h2 { font-size: 1.15rem; margin: 0; } .curve { min-width: 0; }
.read-out { border: 1px solid var(--line); border-radius: 4px; background: var(--wash); padding: 0.3rem 0.6rem; font-variant-numeric: tabular-nums; }
.read-out .line { display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 0.1rem 0.5rem; align-items: baseline; }
.read-out .empty { grid-column: 1 / -1; color: var(--soft); min-height: 2.6rem; }
.read-out .line + .line { margin-top: 0.3rem; padding-top: 0.3rem; border-top: 1px solid var(--line); }
.read-out .fact, .read-out .key { grid-column: span 3; } .read-out .value, .read-out .return, .read-out .change { grid-column: span 4; }
.read-out .key { font-weight: 600; border-left: 4px solid var(--line); padding-left: 0.4rem; white-space: nowrap; }
.read-out .fact span { color: var(--soft); font-size: 0.75rem; }
.read-out .fact b { font-weight: 500; font-size: 0.8125rem; overflow-wrap: anywhere; }
.plot { position: relative; height: 22rem; margin-top: 0.5rem; overflow: hidden; cursor: crosshair; touch-action: pan-y; user-select: none; -webkit-user-select: none; }
.plot:focus-visible, .traces tr:focus-visible { outline-offset: -2px; }
.plot canvas, .minimap canvas { display: block; width: 100%; height: 100%; }
.plot .cursor { position: absolute; left: 0; width: 1px; background: var(--ink); opacity: 0.65; pointer-events: none; }
.plot .dot { position: absolute; left: -5px; top: -5px; width: 10px; height: 10px; border-radius: 50%; border: 2px solid var(--paper); pointer-events: none; }
.plot .selection { position: absolute; background: var(--link); opacity: 0.18; pointer-events: none; }
.minimap { position: relative; height: 2.75rem; border: 1px solid var(--line); border-radius: 4px; overflow: hidden; touch-action: pan-y; cursor: grab; }
.minimap .frame { position: absolute; top: 0; bottom: 0; min-width: 4px; border: 1px solid var(--link); background: var(--frame); pointer-events: none; }
.panes.two .plot { height: 17rem; } 
.panes.two .rows { height: 18rem; }
/* Both drawings at one height, whatever stands above them: two panes share the rows of a grid. */
@media (min-width: 70rem) {
  .panes.two, .panes.two .pane { row-gap: 0; }
  .panes.two .pane { grid-row: span 9; grid-template-rows: subgrid; }
  .panes.two .curve { display: grid; grid-row: span 8; grid-template: subgrid / minmax(0, 1fr); }
  .panes.two .chart { display: grid; grid-row: span 2; grid-template: subgrid / minmax(0, 1fr); }
  .panes.two .tools { align-content: start; }
  .panes.two .lists { margin-bottom: 1rem; }
  .panes.two .panel { height: 20.5rem; overflow: hidden; }
  .panes.two .critic { height: 20.5rem; min-height: 0; }
  .panes.two .about { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
  .panes.two .fact.value span, .panes.two .fact.return span, .panes.two .fact.change span { display: block; }
}
.keys { margin-top: 0.9rem; color: var(--soft); border: 0; }
.keys summary { font-size: inherit; font-weight: 400; }
.keys dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; margin: 0.25rem 0 0; }
.keys dd { margin: 0; color: var(--ink); }
@media (max-width: 44rem) {
  .read-out .line .key { grid-column: 1 / -1; }
  .read-out .line .fact { grid-column: span 4; }
  .read-out .fact { min-height: 2.5rem; }
  .read-out .fact span { display: block; }
  .explorer .rows { height: 19rem; }
  .plot { height: 16rem; }
}`

const TEXTS = `
.turn-text h3 { font-size: 1rem; margin: 0; }
.turn-text .tools { margin-top: 0.9rem; }
.ramp { display: inline-flex; align-items: center; gap: 0; color: var(--soft); font-variant-numeric: tabular-nums; margin-left: auto; }
.ramp i { width: 14px; height: 14px; } .ramp i:first-of-type { margin-left: 0.4rem; } .ramp i:last-of-type { margin-right: 0.4rem; }
.turn-text .text {
  position: relative; margin-top: 0.5rem; padding: 0.6rem 0.75rem; border: 1px solid var(--line); border-radius: 4px; max-height: 22rem; overflow: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.7; font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: 0.8125rem;
}
.text span { cursor: pointer; border-radius: 2px; }
.text .here { outline: 2px solid var(--ink); outline-offset: 0; }`

/** Nine steps from the colour of failures to that of successes, as pale as text needs. */
const RAMP = {
  light: ['#f6c3a0', '#f8d2b8', '#fae0cf', '#fceee5', '#f4f4f4', '#e3eff7', '#cbe3f2', '#b2d6ed', '#98c9e8'],
  dark: ['#7d3a0c', '#673415', '#512f1d', '#3c2a23', '#2b2d30', '#1f3442', '#174057', '#0e4b6b', '#05577f']
} as const

function ramp(colours: readonly string[]): string {
  return colours.map((colour, k) => `.v${k} { background: ${colour}; }`).join(' ')
}

const COLOURS = `
:root { --chosen: #dcebf7; --overlay: #99407a; --success: #005a8e; --failure: #9a3d00; --frame: rgba(10, 86, 163, 0.14); }
${ramp(RAMP.light)}
@media (prefers-color-scheme: dark) {
  :root { --chosen: #1d3a52; --overlay: #dcb6ce; --success: #8ec3e3; --failure: #f2b48a; --frame: rgba(132, 189, 245, 0.18); }
  ${ramp(RAMP.dark)}
}`

const PRINT = `
@media print { .tools, .tabs, .explorer .bar { display: none; } .explorer .rows, .critic { height: auto; max-height: none; } }`

export const EXPLORER_STYLE = [LAYOUT, CONTROLS, TABLE, CURVE, TEXTS, COLOURS, PRINT].join('').trimStart()

/** What keys and pointers do, for a reader who wants to know. */
import { element } from './dom.js'

const HELP = [
  ['\u2190 \u2192', 'on the curve: a token back or on; with shift, or as [ and ]: a turn; Home and End: to the ends'],
  ['+ \u2212 0', 'on the curve: zoom in, out, show all; page up and page down move what is in view'],
  ['wheel, drag', 'zoom at the pointer, zoom to what is dragged over; with shift: move; a double click shows all'],
  ['fingers', 'one moves, two zoom, a tap puts the cursor there'],
  ['\u2191 \u2193', 'in the table: to another trace; Enter chooses it; o, or a click with shift, lays it over the chosen one'],
  ['filters', '>0.2  <=3  10..20  none, several with spaces; of texts a part'],
  ['address', 'it holds what is seen: who opens it again sees the same']
] as const

export function keyHelp(): HTMLElement {
  const rows = HELP.flatMap(([keys, text]) => [element('dt', { text: keys }), element('dd', { text })])
  return element('details', { class: 'keys' }, element('summary', { text: 'Keys, gestures, filters' }), element('dl', {}, ...rows))
}

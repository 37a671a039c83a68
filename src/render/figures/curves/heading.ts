/** The heading of a panel: its title, and notes on what is not shown. */
import { formatPlural } from '../format.js'
import { HEADING } from '../style.js'
import { cleanText, drawnWidth, fitWidth } from '../text-width.js'
import type { DrawnPanel } from './series.js'

/** Smallest share of the heading that the title gets. */
const LEAST_TITLE = 1 / 5

function bracketed(notes: readonly string[]): string {
  return notes.length === 0 ? '' : ` (${notes.join('; ')})`
}

/**
 * Title and notes of a panel. Where both together are too long, the title is cut and the notes take their short form, in
 * which each count keeps its reason. Of notes that are too long even so, the first stand whole and the others are counted;
 * the alternative text has them all.
 * @param aboutAxis what is to be said of the vertical axis
 */
export function headingOf({ data, notes, shortNotes }: DrawnPanel, aboutAxis: readonly string[], width: number): string {
  const room = width - HEADING.indent
  const forNotes = room * (1 - LEAST_TITLE)
  const short = [...shortNotes, ...aboutAxis]
  const counted = short.map((_, k) => {
    const kept = short.length - 1 - k
    return bracketed([...short.slice(0, kept), kept === 0 ? formatPlural(k + 1, 'note') : `${k + 1} more`])
  })
  const forms = [bracketed([...notes, ...aboutAxis]), bracketed(short), ...counted]
  const note = forms.find(text => drawnWidth(text, HEADING.size) <= forNotes) ?? ''
  const title = fitWidth(cleanText(data.title), HEADING.size, room - drawnWidth(note, HEADING.size))
  return title + note
}

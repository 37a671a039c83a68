/** The script of an article: figures of curves answer to pointer and keyboard. Without it the article has its pictures all the same. */
import type { FigureReadings } from '../../../compute/histories/contract.js'
import { FigureReader } from './reader.js'

const PREFIX = 'figure-data-'

for (const data of Array.from(document.querySelectorAll(`script[type="application/json"][id^="${PREFIX}"]`))) {
  const figure = document.getElementById(`figure-${data.id.slice(PREFIX.length)}`)
  if (figure !== null) new FigureReader(figure, JSON.parse(data.textContent) as FigureReadings)
}

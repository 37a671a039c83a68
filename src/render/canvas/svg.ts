/**
 * Adds to cairo's SVG what it lacks: stable bytes and texts. Cairo numbers its surfaces over the life of the process
 * (`id="surface138"`), so they are renumbered from 1. Cairo draws text as glyph outlines, so title and description are
 * written into the file for readers and search. The program is named in a comment.
 */
import type { FigureConfig } from '../figures/config.js'
import { svgComment } from './mark.js'

function escapeText(text: string): string {
  return text.replace(/[&<>]/g, c => (c === '&' ? '&amp;' : c === '<' ? '&lt;' : '&gt;'))
}

/** @param generator name and version of the program */
export function finishSvg(svg: string, { title, description }: Pick<FigureConfig, 'title' | 'description'>, generator: string): string {
  const numbers = new Map<string, number>()
  return svg
    .replace(/(?<=(?:id="|#)surface)\d+/g, number => {
      if (!numbers.has(number)) numbers.set(number, numbers.size + 1)
      return String(numbers.get(number))
    })
    .replace(
      /<svg ([^>]*)>/,
      (_, attributes: string) =>
        `${svgComment(generator)}. -->\n<svg ${attributes} role="img" aria-labelledby="figure-title figure-description">\n` +
        `<title id="figure-title">${escapeText(title)}</title>\n` +
        `<desc id="figure-description">${escapeText(description)}</desc>`
    )
}

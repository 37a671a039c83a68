/**
 * What cairo's SVG lacks: the same bytes for the same drawing, and words. Cairo numbers its surfaces through the life of
 * the process (`id="surface138"`), so the numbers are counted anew; it draws text as glyph outlines, so title and
 * description are written into the file for readers and search.
 */
import type { FigureConfig } from '../figures/config.js'

function escapeXml(text: string): string {
  return text.replace(/[&<>]/g, c => c === '&' ? '&amp;' : c === '<' ? '&lt;' : '&gt;')
}

export function finishSvg(svg: string, { title, description }: Pick<FigureConfig, 'title' | 'description'>): string {
  const numbers = new Map<string, number>()
  return svg
    .replace(/(?<=(?:id="|#)surface)\d+/g, number => {
      if (!numbers.has(number)) numbers.set(number, numbers.size + 1)
      return String(numbers.get(number))
    })
    .replace(/<svg ([^>]*)>/, (_, attributes: string) =>
      `<svg ${attributes} role="img" aria-labelledby="figure-title figure-description">\n` +
      `<title id="figure-title">${escapeXml(title)}</title>\n` +
      `<desc id="figure-description">${escapeXml(description)}</desc>`)
}

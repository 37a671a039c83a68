/**
 * The root of an SVG: size, title and description for readers and search, and the text style that all texts share. The
 * program is named in a comment. All ids begin with the figure's name, so that several figures fit into one page.
 */
import type { FigureConfig } from '../figures/config.js'
import { FONT_FAMILY, TEXT_SIZE } from '../figures/style.js'
import { svgComment } from './mark.js'
import { escapeSvg, svgNumber } from './svg-context.js'

/** Verdana has the widths of DejaVu Sans nearly, for readers who lack it. */
const FAMILIES = `${FONT_FAMILY}, Verdana, sans-serif`
const MM_PER_POINT = 25.4 / 72

export function figureId({ name }: Pick<FigureConfig, 'name'>): string {
  return `figure-${name}`
}

/**
 * @param content elements without a root
 * @param generator name and version of the program; null for SVG inside a page, which has no size of its own either
 */
export function finishSvg(
  content: string,
  figure: Pick<FigureConfig, 'name' | 'title' | 'description' | 'width' | 'height'>,
  generator: string | null
): string {
  const { title, description, width, height } = figure
  const id = figureId(figure)
  const mm = (points: number): string => `${Number((points * MM_PER_POINT).toFixed(2))}mm`
  const size = generator === null ? '' : ` width="${mm(width)}" height="${mm(height)}"`
  return (
    (generator === null ? '' : `<?xml version="1.0" encoding="UTF-8"?>\n${svgComment(generator)}. -->\n`) +
    `<svg xmlns="http://www.w3.org/2000/svg"${size} viewBox="0 0 ${svgNumber(width)} ${svgNumber(height)}" ` +
    `role="img" aria-labelledby="${id}-title ${id}-description">\n` +
    `<title id="${id}-title">${escapeSvg(title)}</title>\n<desc id="${id}-description">${escapeSvg(description)}</desc>\n` +
    `<g fill="none" stroke-miterlimit="10" font-family="${FAMILIES}" font-size="${TEXT_SIZE}">\n${content}\n</g>\n</svg>\n`
  )
}

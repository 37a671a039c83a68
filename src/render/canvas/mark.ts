/** How a figure says which program drew it: a pair of writer and reader for each format. Latin-1. */

/** Data of a PNG's text chunk: the keyword that the PNG specification (third edition, 11.3.3.1) has for it. */
export function pngSoftware(generator: string): string {
  return `Software\0${generator}`
}

/** Begin of the comment; `-->` ends it. */
export function svgComment(generator: string): string {
  return `<!-- Written by ${generator}`
}

/** As cairo writes the Creator of a PDF, without the closing parenthesis. */
export function pdfCreator(generator: string): string {
  return `/Creator (${generator}`
}

/**
 * Marks that name the program in a figure: the text that the file of each format contains and that its reader looks
 * for. All are Latin-1.
 */

/** Data of a PNG text chunk with the keyword `Software` of the PNG specification (third edition, 11.3.3.1). */
export function pngSoftware(generator: string): string {
  return `Software\0${generator}`
}

/** The start of the comment, which `-->` ends. */
export function svgComment(generator: string): string {
  return `<!-- Written by ${generator}`
}

/** The Creator of a PDF as cairo writes it, without the closing parenthesis. */
export function pdfCreator(generator: string): string {
  return `/Creator (${generator}`
}

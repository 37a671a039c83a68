/** Text of a simple PDF without a PDF reader: the strings of `Tj` and `TJ` in its inflated streams, in drawing order. */
import { inflateSync } from 'node:zlib'

/** Everything in the file that is readable once the Flate streams are inflated, as Latin-1. */
export function inflatePdf(pdf: Buffer): string {
  const text = pdf.toString('latin1')
  const parts = [text]
  for (const match of text.matchAll(/\/FlateDecode[^>]*>>\s*stream\r?\n/g)) {
    const start = match.index + match[0].length
    // Inflating stops by itself at the end of the data.
    parts.push(inflateSync(pdf.subarray(start, text.indexOf('endstream', start))).toString('latin1'))
  }
  return parts.join('\n')
}

/** Strings in the fonts' Latin encoding; text in other fonts (arrows, minus signs) is left out. */
export function pdfStrings(pdf: Buffer): string[] {
  const strings: string[] = []
  for (const [operation] of inflatePdf(pdf).matchAll(/\((?:[^()\\]|\\.)*\)\s*Tj|\[(?:[^\]()]|\((?:[^()\\]|\\.)*\))*\]\s*TJ/g)) {
    const pieces = [...operation.matchAll(/\(((?:[^()\\]|\\.)*)\)/g)].map(([, piece]) => piece.replace(/\\([()\\])/g, '$1'))
    strings.push(pieces.join(''))
  }
  return strings
}

/**
 * Whether a doctype puts a page into quirks mode (HTML standard, 13.2.6.4.1), which leaves a `p` open around a table.
 * The standard's list of public identifiers is told by vendor here, not one by one.
 */

const QUOTED = '("[^"]*"|\'[^\']*\')'
const WELL_FORMED_DOCTYPE = new RegExp(
  `^\\s*html(?:\\s+system\\s*${QUOTED}|\\s+public\\s*${QUOTED}\\s*${QUOTED}?)?\\s*$`, 'i')
const VENDORS = 'as|advasoft ltd|ietf|metrius|microsoft|netscape comm\\. corp\\.|o\'reilly and associates|sq' +
  '|softquad(?: software)?|spyglass|sun microsystems corp\\.|w3o|webtechs'
const QUIRKS_PUBLIC_ID = new RegExp(
  `^(?:\\+//silmaril//|-//(?:${VENDORS})//dtd |-/w3c/dtd html 4\\.0 transitional/en$|html$` +
  '|-//w3c//dtd (?:html 3|html 4\\.0 (?:frameset|transitional)//|html experimental |w3 html))', 'i')
const QUIRKS_WITHOUT_SYSTEM_ID = /^-\/\/w3c\/\/dtd html 4\.01 (?:frameset|transitional)\/\//i

/** `doctype` is the text between `<!doctype` and `>`. */
export function isQuirks(doctype: string): boolean {
  if (doctype.trim().toLowerCase() === 'html') return false
  const match = WELL_FORMED_DOCTYPE.exec(doctype)
  if (match === null) return true
  const publicId = match[2]?.slice(1, -1) ?? ''
  return QUIRKS_PUBLIC_ID.test(publicId) || (match[3] === undefined && QUIRKS_WITHOUT_SYSTEM_ID.test(publicId))
}

/**
 * Whether a text looks random. In words, numbers and names with separators, small letters, capitals and digits seldom
 * alternate; in a random text they do so at every second or third character. A random text of small letters alone cannot be
 * told from a word.
 */

/** Shorter pieces are words, versions and counts: `v2`, `lr1e6`, `bs256`. */
const MIN_PIECE = 8
const MIN_TURNS = 3
/**
 * Least number of changes between small letters, capitals and digits, for each character. Of ten thousand random texts of 34
 * letters and digits none has fewer; of hexadecimal ones five have.
 */
const MIN_SHARE = 0.15
/** Characters of a text that are looked at. */
const MAX_LOOKED_AT = 1024

/** True for `aB3dE5gH7jK9`, false for `step-by-step-reasoning-v2`, `rolloutcheckpointfinal`, `Qwen2500000000000000`. */
export function isRandom(text: string): boolean {
  let turns = 0
  let length = 0
  for (const piece of piecesOf(text)) {
    if (piece.length < MIN_PIECE) continue
    const turnsOfPiece = (piece.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? []).length - 1
    if (isOften(turnsOfPiece, piece.length)) return true
    turns += turnsOfPiece
    length += piece.length
  }
  return isOften(turns, length)
}

function isOften(turns: number, length: number): boolean {
  return turns >= MIN_TURNS && turns >= MIN_SHARE * length
}

/**
 * True for `hunter2pw`, `p4ss!word`; false for `django__django-11001`, `12345`, `v2.1`. One piece has letters beside digits,
 * letters stand beside a mark such as `!`, or the text is random.
 */
export function isMixed(text: string): boolean {
  return (
    isRandom(text) ||
    (/[!$%^&*?~<>]/.test(text) && /[A-Za-z]/.test(text)) ||
    piecesOf(text).some(piece => piece.length >= 5 && /\d/.test(piece) && /[A-Za-z]/.test(piece))
  )
}

function piecesOf(text: string): string[] {
  return text.slice(0, MAX_LOOKED_AT).split(/[^A-Za-z0-9]+/)
}

/**
 * The states of a JSON text that is read byte by byte, and the transitions inside a number (RFC 8259, section 6).
 */

import { STRING_CONTENT } from './faults.js'
import { Ascii, isDigit } from './text.js'

/** What the next byte that is not white space may be. From `String` on: which token it continues. */
export const enum State {
  Value,
  FirstElement,
  Key,
  FirstKey,
  Colon,
  AfterElement,
  AfterMember,
  End,
  String,
  Escape,
  Hex,
  Word,
  Minus,
  LeadingZero,
  Whole,
  Point,
  Fraction,
  ExponentSign,
  ExponentStart,
  Exponent
}

/** What the grammar allows in a state, in the words of a message. */
export function expectedIn(state: State): string {
  switch (state) {
    case State.Value:
    case State.Word:
      return 'a value'
    case State.FirstElement:
      return '"]" or a value'
    case State.Key:
      return 'a key'
    case State.FirstKey:
      return '"}" or a key'
    case State.Colon:
      return '":"'
    case State.AfterElement:
      return '"," or "]"'
    case State.AfterMember:
      return '"," or "}"'
    case State.End:
      return 'nothing behind the document'
    case State.String:
    case State.Escape:
    case State.Hex:
      return STRING_CONTENT
    default:
      return 'a number'
  }
}

/** The byte ends the number, or breaks the grammar. */
export const NUMBER_ENDS = -1
export const NUMBER_BREAKS = -2

/** The state after one more byte of a number. */
export function continueNumber(state: State, byte: number): State | typeof NUMBER_ENDS | typeof NUMBER_BREAKS {
  const digit = isDigit(byte)
  const exponent = (byte | 0x20) === Ascii.LowerE
  switch (state) {
    case State.Minus:
      return byte === Ascii.Zero ? State.LeadingZero : digit ? State.Whole : NUMBER_BREAKS
    case State.LeadingZero:
      return byte === Ascii.Dot ? State.Point : exponent ? State.ExponentSign : digit ? NUMBER_BREAKS : NUMBER_ENDS
    case State.Whole:
      return digit ? State.Whole : byte === Ascii.Dot ? State.Point : exponent ? State.ExponentSign : NUMBER_ENDS
    case State.Point:
      return digit ? State.Fraction : NUMBER_BREAKS
    case State.Fraction:
      return digit ? State.Fraction : exponent ? State.ExponentSign : NUMBER_ENDS
    case State.ExponentSign:
      return byte === Ascii.Plus || byte === Ascii.Minus ? State.ExponentStart : digit ? State.Exponent : NUMBER_BREAKS
    case State.ExponentStart:
      return digit ? State.Exponent : NUMBER_BREAKS
    default:
      return digit ? State.Exponent : NUMBER_ENDS
  }
}

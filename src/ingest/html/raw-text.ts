/**
 * Finds the end of raw text, RCDATA and script data (HTML standard, 13.2.5.9 to 13.2.5.31). In a script, `<!--` opens
 * an escape that `-->` closes. Inside the escape, `<script` opens a second one, and the next `</script` closes only that.
 *
 * The payload of a snapshot passes through here. So a compiled loop finds the next `</` or `<!`, and single bytes are read
 * only behind it. Inside an escape the scan also stops at every `>` and checks the two bytes before it. It does not stop
 * at dashes: they are as frequent as negative numbers.
 */
import type { Kernel } from '../../kernel/kernel.js'
import { BANG, DASH, GT, LT, SLASH } from './bytes.js'
import { endsName } from './tag-reader.js'

const SCRIPT = 'script'
/** Bytes that are read one by one before a native search starts: the call costs about as much. */
const HOP = 16

const ESCAPE = { none: 0, once: 1, twice: 2 } as const

/** What the bytes since the last `<` may begin. */
const STEP = { text: 0, lessThan: 1, endTag: 2, startTag: 3, bang: 4, bangDash: 5 } as const

export class RawText {
  readonly #kernel: Kernel
  /** the chunk in the kernel's memory; null until it is needed there */
  #held: Uint8Array | null = null
  #mark = 0
  /** the byte that ended the end tag's name: white space, `/` or `>` */
  delimiter = 0
  #name = ''
  #isScript = false
  #escape: number = ESCAPE.none
  #step: number = STEP.text
  /** number of letters of the name that match so far, in the steps endTag and startTag */
  #matched = 0
  /** number of dashes directly before the next byte, at most 2; counted inside an escape only */
  #dashes = 0

  constructor(kernel: Kernel) {
    this.#kernel = kernel
  }

  /** Starts behind the start tag of the element `name`. */
  start(name: string, isScript: boolean): void {
    this.#name = name
    this.#isScript = isScript
    this.#escape = ESCAPE.none
    this.#step = STEP.text
    this.#dashes = 0
    this.delimiter = 0
  }

  /** Called before the first byte of a chunk. A chunk is copied into the kernel once, however many texts it has. */
  beginChunk(): void {
    this.#mark = this.#kernel.used
    this.#held = null
  }

  endChunk(): void {
    this.#kernel.release(this.#mark)
  }

  /** Number of bytes at the end of the scanned text that belong to the end tag if the rest of it follows. */
  get pending(): number {
    return this.#step === STEP.lessThan ? 1 : this.#step === STEP.endTag ? 2 + this.#matched : 0
  }

  /** Number of bytes from the `<` of the end tag to the delimiter behind its name, both included. */
  get endTagLength(): number {
    return this.#name.length + 3
  }

  /** Reads from `from`. Returns the position behind the end tag's name and its delimiter; -1 if the text goes on. */
  scan(chunk: Buffer, from: number): number {
    let i = from
    while (i < chunk.length) {
      if (this.#step === STEP.text) {
        i = this.#escape === ESCAPE.none ? this.#hop(chunk, i) : this.#hopEscaped(chunk, i)
        continue
      }
      const byte = chunk[i]
      if (this.#advance(byte)) i++
      if (this.delimiter !== 0) return i
    }
    return -1
  }

  /** Moves to the byte behind the next `<` that may begin a tag or an escape. */
  #hop(chunk: Buffer, from: number): number {
    this.#held ??= this.#kernel.hold(chunk)
    const at = this.#kernel.nextTag(this.#held, from)
    if (at < 0) return chunk.length
    this.#step = STEP.lessThan
    return at + 1
  }

  /** Moves to the byte behind the next `<`, or behind the `-->` that closes the escape. */
  #hopEscaped(chunk: Buffer, from: number): number {
    const lt = indexOf(chunk, LT, from)
    const end = lt < 0 ? chunk.length : lt
    let start = from
    for (let gt = indexOf(chunk, GT, from, end); gt >= 0; gt = indexOf(chunk, GT, start, end)) {
      const closes = this.#dashesBefore(chunk, start, gt) === 2
      this.#dashes = 0
      start = gt + 1
      if (!closes) continue
      this.#escape = ESCAPE.none
      return start
    }
    if (lt >= 0) {
      this.#dashes = 0
      this.#step = STEP.lessThan
      return lt + 1
    }
    this.#dashes = this.#dashesBefore(chunk, start, end)
    return end
  }

  #dashesBefore(chunk: Buffer, start: number, at: number): number {
    let count = 0
    while (count < 2 && at - count > start && chunk[at - count - 1] === DASH) count++
    return at - count === start ? Math.min(2, count + this.#dashes) : count
  }

  /** Reads one byte behind a `<`. Returns false if the byte is to be read again as text. */
  #advance(byte: number): boolean {
    const step = this.#step
    this.#step = STEP.text
    switch (step) {
      case STEP.lessThan:
        this.#matched = 0
        if (byte === SLASH) this.#step = STEP.endTag
        else if (byte === BANG && this.#isScript && this.#escape === ESCAPE.none) this.#step = STEP.bang
        else if (this.#escape === ESCAPE.once && this.#matches(byte, SCRIPT)) this.#step = STEP.startTag
        return this.#step !== STEP.text
      case STEP.endTag:
        if (this.#matches(byte, this.#name)) {
          this.#step = STEP.endTag
          return true
        }
        if (this.#matched < this.#name.length || !endsName(byte)) return false
        if (this.#escape === ESCAPE.twice) this.#escape = ESCAPE.once
        else this.delimiter = byte
        return true
      case STEP.startTag:
        if (this.#matches(byte, SCRIPT)) {
          this.#step = STEP.startTag
          return true
        }
        if (this.#matched < SCRIPT.length || !endsName(byte)) return false
        this.#escape = ESCAPE.twice
        return true
      case STEP.bang:
        if (byte === DASH) this.#step = STEP.bangDash
        return byte === DASH
      default:
        if (byte !== DASH) return false
        this.#escape = ESCAPE.once
        this.#dashes = 2
        return true
    }
  }

  /** Tells whether the byte is the next letter of `name`, in either case, and counts it. */
  #matches(byte: number, name: string): boolean {
    if (this.#matched >= name.length || (byte | 0x20) !== name.charCodeAt(this.#matched)) return false
    this.#matched++
    return true
  }
}

/** `chunk.indexOf(byte, from)` before `end`. Near bytes are found by a loop, without a native call. */
function indexOf(chunk: Buffer, byte: number, from: number, end = chunk.length): number {
  const near = Math.min(from + HOP, end)
  for (let i = from; i < near; i++) if (chunk[i] === byte) return i
  if (near === end) return -1
  const at = end === chunk.length ? chunk.indexOf(byte, near) : chunk.subarray(near, end).indexOf(byte)
  if (at < 0 || end === chunk.length) return at
  return at + near
}

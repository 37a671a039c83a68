/**
 * A file of token columns that is written before the widths of its columns are known. A column begins as narrow as the first
 * trace allows. Where a later one needs more, the file is written anew with the wider column: what was written is read back
 * block by block, so that memory holds one block. Each column is widened once at most. The bytes follow from the final widths
 * and the traces alone.
 */
import type { FileSummary, OutputFile } from './output-file.js'
import type { FileOptions, OutputSet } from './output-set.js'
import {
  bytesOf,
  emptyArrays,
  NARROWEST,
  sameWidths,
  tokensOf,
  widened,
  widest,
  widthsOf,
  type TokenBlock,
  type TokenWidths
} from './token-columns.js'

/** Where the elements of a block's three arrays lie in the file. */
export type Placed = readonly [values: number, returns: number, responsePositions: number]

/** A file whose widths are fixed. */
export interface TokenLayout {
  /** Appends a block with exactly the widths of the file. */
  append(block: TokenBlock): Promise<Placed>
  finish(): Promise<FileSummary>
}

/** Begins a layout at the head of an empty file. */
export type BeginLayout<L extends TokenLayout> = (file: OutputFile, widths: TokenWidths) => Promise<L>

export class TokenFile<L extends TokenLayout> {
  readonly #set: OutputSet
  readonly #begin: BeginLayout<L>
  #file: OutputFile
  #widths: TokenWidths = NARROWEST
  /** null before the first block */
  #layout: L | null = null
  /** what was written: it grows by one entry a block, as the directory of every such file does */
  readonly #written: Array<{ readonly traces: TokenBlock['traces']; readonly placed: Placed }> = []
  #previous: Promise<unknown> = Promise.resolve()

  private constructor(set: OutputSet, file: OutputFile, begin: BeginLayout<L>) {
    this.#set = set
    this.#file = file
    this.#begin = begin
  }

  static async open<L extends TokenLayout>(
    set: OutputSet,
    path: string,
    begin: BeginLayout<L>,
    options: FileOptions = {}
  ): Promise<TokenFile<L>> {
    return new TokenFile(set, await set.file(path, options), begin)
  }

  /** Closes the file before its set is committed: of many files few are open. */
  async seal(): Promise<void> {
    await this.#file.seal()
  }

  /**
   * Appends a block. Calls may overlap; they are carried out in order.
   * @param block must not change until the promise resolves
   */
  write(block: TokenBlock): Promise<void> {
    const written = this.#previous.then(async () => {
      const widths = widest(this.#widths, widthsOf(block))
      if (!sameWidths(widths, this.#widths)) await this.#widen(widths)
      this.#layout ??= await this.#begin(this.#file, widths)
      await this.#append(this.#layout, block)
    })
    this.#previous = written
    return written
  }

  /** Writes what ends the file. @param last called with the layout when every block is in it */
  async finish(last: (layout: L) => void): Promise<FileSummary> {
    await this.#previous
    this.#layout ??= await this.#begin(this.#file, this.#widths)
    last(this.#layout)
    return this.#layout.finish()
  }

  async #append(layout: L, block: TokenBlock): Promise<void> {
    const placed = await layout.append({ traces: block.traces, ...widened(block, this.#widths) })
    this.#written.push({ traces: block.traces, placed })
  }

  async #widen(widths: TokenWidths): Promise<void> {
    const narrow = this.#widths
    this.#widths = widths
    if (this.#layout === null) return
    const old = this.#file
    const blocks = this.#written.splice(0)
    this.#file = await this.#set.anew(old)
    this.#layout = await this.#begin(this.#file, widths)
    for (const { traces, placed } of blocks) {
      const arrays = emptyArrays(tokensOf({ traces }), narrow)
      for (const [c, bytes] of bytesOf(arrays).entries()) await old.read(placed[c], bytes)
      await this.#append(this.#layout, { traces, ...arrays })
    }
    await this.#set.drop(old)
  }
}

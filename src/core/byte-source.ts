/**
 * The seam of every reader that does not go from the first byte to the last: bytes by position, so that no file is in memory
 * whole. `openStill` gives one for a file.
 */
export interface ByteSource {
  readonly size: number
  /** exactly the bytes asked for, in memory of their own */
  slice(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
  /** The same into memory of the caller, who may use it again and again. Not every source has it. */
  fill?(bytes: Uint8Array, start: number): Promise<void>
}

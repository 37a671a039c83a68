/** The seam of a Parquet reader, as hyparquet's: bytes by position, so that no file is in memory whole. */
export interface ByteSource {
  readonly size: number
  /** exactly the bytes asked for, in memory of their own */
  slice(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
}

/** First bytes of formats. */

/** A local header of ZIP, as NPZ and `.pt` begin. */
export const ZIP_MAGIC: readonly number[] = [0x50, 0x4b, 0x03, 0x04]
export const PARQUET_MAGIC: readonly number[] = [0x50, 0x41, 0x52, 0x31]

/** Files of safetensors: tensors by name, whose elements are read on demand. */
import type { ByteSource } from '../../core/byte-source.js'
import type { Opaque, Tensor } from '../tensors/tensor.js'

export interface Safetensors {
  /** in the order of their bytes in the file; an Opaque where the dtype is not read (F8_E4M3, C64 …) */
  readonly tensors: ReadonlyMap<string, Tensor | Opaque>
  readonly metadata: ReadonlyMap<string, string>
}

export interface SafetensorsOptions {
  /** name of the file, for faults */
  readonly file?: string
}

/** Whether a file begins as safetensors does: a length that fits, then `{`. Reads nine bytes. */
export async function recogniseSafetensors(source: ByteSource): Promise<boolean> {
  throw new Error(`not written: ${source.size}`)
}

/** Reads the header. `source` must stay open while tensors of it are read. @throws Fault */
export async function readSafetensors(source: ByteSource, options: SafetensorsOptions = {}): Promise<Safetensors> {
  throw new Error(`not written: ${source.size} ${options.file}`)
}

/** safetensors files of padded batches. The step may stand in the file's metadata. */
import type { Fault } from '../../core/errors.js'
import { readSafetensors, recogniseSafetensors } from '../safetensors/safetensors.js'
import { Opaque } from '../tensors/tensor.js'
import { openPadded } from './padded.js'
import type { DumpFormat } from './part.js'
import type { TableEntry } from './table.js'
import { tensorEntry } from './tensor-table.js'

export const SAFETENSORS_DUMP: DumpFormat = {
  name: 'safetensors',
  recognises: (_head, source) => recogniseSafetensors(source),
  async open({ name: file, source }, keys) {
    const { tensors, metadata } = await readSafetensors(source, { file })
    const entries = new Map<string, TableEntry>()
    const refused = new Map<string, Fault>()
    for (const [name, tensor] of tensors) {
      if (tensor instanceof Opaque) refused.set(name, tensor.fault({ file, array: name }))
      else entries.set(name, tensorEntry(tensor))
    }
    for (const [name, text] of metadata) if (!entries.has(name)) entries.set(name, textEntry(text))
    return openPadded({ format: 'safetensors', place: { file }, entries, refused }, keys)
  }
}

/** An entry of the metadata: one text for all rows; digits are a number. */
function textEntry(text: string): TableEntry {
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : text
  return { array: null, columnLength: 1, column: async () => [value] }
}

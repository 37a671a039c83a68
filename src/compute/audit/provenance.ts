/** Finds where a computed value stands, and which inputs it follows from as far as the outputs state that. */
import { own, parseReference, type Documents, type JsonObject } from '../documents.js'
import type { InputHash, Provenance } from './contract.js'

const SHA256 = /^[0-9a-f]{64}$/

/** Values can be derived from derived values. Longer chains than this are cut. */
const MAX_DEPTH = 8

type ProvenanceDocuments = Pick<Documents, 'enclosing' | 'sha256'>

/** Inputs of a reference, for outputs that do not state their own. The caller knows them from the run. */
export type InputsOf = (reference: string) => readonly InputHash[]

export function provenanceOf(documents: ProvenanceDocuments, reference: string, inputsOf: InputsOf): Provenance | null {
  const pointed = parseReference(reference)
  if (pointed === null) return null
  const inputs = new Map<string, InputHash>()
  collect(documents, reference, inputsOf, inputs, new Set(), 0)
  return { ...pointed, sha256: documents.sha256(pointed.file), inputs: [...inputs.values()] }
}

/**
 * Collects the inputs stated by the objects that enclose the value. An object states one input by `path` or `file`
 * beside `sha256`, several inputs by a `chain` of such objects, and derived inputs by `operands` with references.
 */
function collect(
  documents: ProvenanceDocuments,
  reference: string,
  inputsOf: InputsOf,
  inputs: Map<string, InputHash>,
  seen: Set<string>,
  depth: number
): void {
  if (depth > MAX_DEPTH || seen.has(reference)) return
  seen.add(reference)
  const add = (input: InputHash | null): void => {
    if (input !== null) inputs.set(input.path, input)
  }
  for (const object of documents.enclosing(reference)) {
    add(statedInput(object))
    for (const link of listed(object, 'chain')) add(statedInput(link))
    for (const operand of listed(object, 'operands')) {
      const next = own(operand, 'reference')
      if (typeof next === 'string') collect(documents, next, inputsOf, inputs, seen, depth + 1)
    }
  }
  for (const input of inputsOf(reference)) add(input)
}

function statedInput(object: JsonObject): InputHash | null {
  const path = own(object, 'path') ?? own(object, 'file')
  const sha256 = own(object, 'sha256')
  return typeof path === 'string' && typeof sha256 === 'string' && SHA256.test(sha256) ? { path, sha256 } : null
}

function listed(object: JsonObject, name: string): JsonObject[] {
  const list = own(object, name)
  return Array.isArray(list) ? list.filter((item: unknown): item is JsonObject => typeof item === 'object' && item !== null) : []
}

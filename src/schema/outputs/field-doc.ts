/** The sentences that the kind of an output has for its fields. A page shows them as the meaning of a number. */
import type { JsonSchema } from '../../core/checker.js'
import { JSON_OUTPUTS } from './index.js'

/**
 * @param schema name of the output's schema
 * @param tokens member names and indexes that lead to the field
 * @returns of each field on the way that is described, the outermost first; nothing of an unknown schema
 */
export function fieldDocs(schema: string, tokens: readonly string[]): readonly { readonly name: string; readonly doc: string }[] {
  const root = JSON_OUTPUTS.find(({ name }) => name === schema)?.jsonSchema
  const docs: { readonly name: string; readonly doc: string }[] = []
  let nodes: readonly JsonSchema[] = root === undefined ? [] : [root]
  for (const name of tokens) {
    nodes = nodes.flatMap(node => alternatives(node, root ?? {})).flatMap(node => member(node, name))
    const doc = nodes.map(node => node['description']).find(text => typeof text === 'string')
    if (typeof doc === 'string') docs.push({ name, doc })
  }
  return docs
}

/** A schema, or each of those that it names in its place. */
function alternatives(node: JsonSchema, root: JsonSchema): readonly JsonSchema[] {
  const name = typeof node['$ref'] === 'string' ? node['$ref'].replace('#/$defs/', '') : null
  const named = name === null ? [] : at(root['$defs'], name)
  const any: unknown = node['anyOf']
  const listed = Array.isArray(any) ? any.filter(isSchema) : []
  return [node, ...[...named, ...listed].flatMap(one => alternatives(one, root))]
}

function member(node: JsonSchema, token: string): readonly JsonSchema[] {
  const declared = at(node['properties'], token)
  if (declared.length > 0) return declared
  return [node['additionalProperties'], ...(/^\d+$/.test(token) ? [node['items']] : [])].filter(isSchema)
}

function at(members: unknown, name: string): readonly JsonSchema[] {
  if (!isSchema(members) || !Object.hasOwn(members, name)) return []
  return [members[name]].filter(isSchema)
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The sentence that the kind of an output has for a field. A page shows it as the way in which a number was made. */
import type { JsonSchema } from '../../core/checker.js'
import { JSON_OUTPUTS } from './index.js'

/**
 * @param schema name of the output's schema
 * @param tokens member names and indexes that lead to the field
 * @returns null for an unknown schema, and for a place that it does not describe
 */
export function fieldDoc(schema: string, tokens: readonly string[]): string | null {
  const root = JSON_OUTPUTS.find(({ name }) => name === schema)?.jsonSchema
  if (root === undefined) return null
  let nodes: readonly JsonSchema[] = [root]
  for (const token of tokens) nodes = nodes.flatMap(node => alternatives(node, root)).flatMap(node => member(node, token))
  const doc = nodes.map(node => node['description']).find(text => typeof text === 'string')
  return typeof doc === 'string' ? doc : null
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

/** What every JSON output begins with, and how an output is described: its fields, and the JSON Schema in `docs/schemas/`. */
import { flag, nullable, oneOf, type Field, type Fields, type Infer, type JsonSchema, type ObjectKind } from '../../core/checker.js'
import { closed, type DefinedKind, definitionsSchema, sha256, someText } from './kinds.js'
import { SCHEMA_VERSIONS, type SchemaName } from './versions.js'

const VERSION_DOC = 'version of this layout; a change of shape raises it'

const GENERATOR = closed({
  name: { kind: someText, doc: 'name of the program' },
  version: { kind: someText, doc: 'version of the program' }
})

const INPUTS_VERIFIED = nullable(closed({ manifest_sha256: { kind: sha256, doc: "SHA-256 of the manifest's bytes, hexadecimal" } }))

/** The first five fields of a JSON output, in their order. */
export interface Envelope<N extends SchemaName> {
  readonly schema_version: (typeof SCHEMA_VERSIONS)[N]
  readonly schema: N
  readonly synthetic: boolean
  readonly inputs_verified: Infer<typeof INPUTS_VERIFIED>
  readonly generator: Infer<typeof GENERATOR>
}

/** A document without its envelope. */
export type Content<D> = Omit<D, keyof Envelope<SchemaName>>

export function envelopeFields<N extends SchemaName>(name: N): { readonly [K in keyof Envelope<N>]: Field<Envelope<N>[K]> } {
  return {
    schema_version: { kind: oneOf(SCHEMA_VERSIONS[name]), doc: VERSION_DOC },
    schema: { kind: oneOf(name), doc: 'name of this schema' },
    synthetic: { kind: flag, doc: 'true when every input was generated' },
    inputs_verified: {
      kind: INPUTS_VERIFIED,
      doc: 'what every input was verified against before anything was computed; null: against nothing'
    },
    generator: { kind: GENERATOR, doc: 'the program that wrote the file' }
  }
}

export interface About {
  readonly title: string
  readonly description: string
  /** what the fields refer to by name */
  readonly definitions?: readonly DefinedKind<unknown>[]
}

/** A JSON output. */
export interface OutputKind<F extends Fields> extends ObjectKind<F> {
  readonly name: SchemaName
  /** draft 2020-12; what `docs/schemas/<name>.schema.json` holds */
  readonly jsonSchema: JsonSchema
}

export function output<F extends Fields>(name: SchemaName, { title, description, definitions = [] }: About, fields: F): OutputKind<F> {
  const kind = closed(fields)
  return {
    ...kind,
    name,
    jsonSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:critic-traces:${name}:${SCHEMA_VERSIONS[name]}`,
      title,
      description,
      ...kind.schema,
      ...(definitions.length === 0 ? {} : { $defs: definitionsSchema(definitions) })
    }
  }
}

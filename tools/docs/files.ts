/** The files in `docs/` that follow from the code: the JSON Schemas of what is read and written, and the tables of fields. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonSchema } from '../../src/core/checker.js'
import { certificateJsonSchema } from '../../src/ingest/certificate/fields.js'
import { JSON_OUTPUTS } from '../../src/schema/outputs/index.js'
import { claimsJsonSchema } from '../../src/study/claims.js'
import { manifestJsonSchema } from '../../src/study/manifest.js'
import { studyJsonSchema } from '../../src/study/study.js'
import { withSampleKeys } from './sample-keys.js'
import { documentedFields, withTables } from './tables.js'

/** By the name of the schema. */
export function jsonSchemas(): ReadonlyMap<string, JsonSchema> {
  return new Map([
    ['claims', claimsJsonSchema()],
    ['history-certificate', certificateJsonSchema()],
    ['source-manifest', manifestJsonSchema()],
    ['study', studyJsonSchema()],
    ...JSON_OUTPUTS.map(({ name, jsonSchema }) => [name, jsonSchema] as const)
  ])
}

/** Documents whose tables of fields are filled, with what describes the fields. */
const TABLES: ReadonlyMap<string, readonly (() => JsonSchema)[]> = new Map([
  ['docs/study.md', [studyJsonSchema, manifestJsonSchema]],
  ['docs/claims.md', [claimsJsonSchema]]
])

/** The document whose tables of names are filled. */
const FORMATS = 'docs/formats.md'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Text by path, relative to the package. */
export function docsFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...[...jsonSchemas()].map(([name, schema]) => [`docs/schemas/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`] as const),
    ...[...TABLES].map(([path, schemas]) => {
      const fields = new Map(schemas.flatMap(schema => [...documentedFields(schema())]))
      return [path, withTables(readFileSync(join(ROOT, path), 'utf8'), fields, path)] as const
    }),
    [FORMATS, withSampleKeys(readFileSync(join(ROOT, FORMATS), 'utf8'), FORMATS)]
  ])
}

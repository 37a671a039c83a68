/** The files in `docs/` that follow from the code: the JSON Schemas of what is read and written. */
import type { JsonSchema } from '../../src/core/checker.js'
import { certificateJsonSchema } from '../../src/ingest/certificate/fields.js'
import { JSON_OUTPUTS } from '../../src/schema/outputs/index.js'
import { claimsJsonSchema } from '../../src/study/claims.js'
import { manifestJsonSchema } from '../../src/study/manifest.js'
import { studyJsonSchema } from '../../src/study/study.js'

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

/** Text by path, relative to the package. */
export function docsFiles(): ReadonlyMap<string, string> {
  return new Map([...jsonSchemas()].map(([name, schema]) => [`docs/schemas/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`]))
}

/** `<name>.csv-metadata.json`. The vocabulary wants the keys of the envelope, at any depth, behind `urn:critic-traces:`. */
import { flag, list, nullable, oneOf, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { closed, matching, sha256, someText } from './kinds.js'

const { schema_version, schema, synthetic, inputs_verified, generator } = envelopeFields('csv-metadata')

const columnName = matching('lower-case letters, digits and _', /^[a-z][a-z0-9_]*$/)

export const CSV_METADATA = output(
  'csv-metadata',
  {
    title: 'Metadata of a CSV',
    description:
      "What a CSV output cannot say itself, beside it as <name>.csv-metadata.json, in the vocabulary of the W3C's CSV on the Web " +
      '(Metadata Vocabulary for Tabular Data, 2015). The keys that every JSON output begins with are absolute URLs here: urn:critic-traces:<key>.'
  },
  {
    '@context': { kind: oneOf('http://www.w3.org/ns/csvw'), doc: 'the vocabulary' },
    url: { kind: matching('the name of a CSV', /^[A-Za-z0-9][A-Za-z0-9._-]*\.csv$/), doc: 'the CSV, relative to this file' },
    'dc:title': { kind: someText, doc: 'what the table holds' },
    'dc:description': { kind: someText, doc: 'what a row is, and the order of the rows' },
    'urn:critic-traces:schema_version': schema_version,
    'urn:critic-traces:schema': schema,
    'urn:critic-traces:synthetic': synthetic,
    'urn:critic-traces:inputs_verified': {
      kind: nullable(
        closed({
          'urn:critic-traces:manifest_sha256': { kind: sha256, doc: "SHA-256 of the manifest's bytes, hexadecimal" }
        })
      ),
      doc: inputs_verified.doc
    },
    'urn:critic-traces:generator': {
      kind: closed({
        'urn:critic-traces:name': { kind: someText, doc: 'name of the program' },
        'urn:critic-traces:version': { kind: someText, doc: 'version of the program' }
      }),
      doc: generator.doc
    },
    dialect: {
      kind: closed({
        lineTerminators: { kind: oneOf('\r\n'), doc: 'every row ends with CRLF' },
        trim: { kind: oneOf(false), doc: 'white space belongs to its cell' }
      }),
      doc: "where the CSV differs from the vocabulary's default: a comma, double quotes, UTF-8, one heading"
    },
    tableSchema: {
      kind: closed({
        null: { kind: oneOf(''), doc: 'an empty cell is null' },
        columns: {
          kind: list(
            closed({
              name: { kind: columnName, doc: 'heading of the column' },
              titles: { kind: columnName, doc: 'the same: readers compare it with the heading' },
              'dc:description': { kind: someText, doc: 'meaning, with the unit where there is one' },
              datatype: { kind: oneOf('boolean', 'integer', 'number', 'string'), doc: 'number: a double; boolean: 1 or 0' },
              required: { kind: flag, doc: 'true: no cell is empty' }
            }),
            1
          ),
          doc: 'in the order of the CSV'
        }
      }),
      doc: 'the columns'
    }
  }
)

export type CsvMetadataDocument = Infer<typeof CSV_METADATA>

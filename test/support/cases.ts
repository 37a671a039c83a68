/**
 * A table of cases: `fixtures/<table>.jsonl`, one case a line, sorted by name. A line added to it is a new case.
 *
 *     {"name":"values-is-null","text":"{\"traces\": …","message":"json wrong type: …"}
 *
 * A case has its input as `text`; as `base64` where the bytes are no UTF-8; or in a `file` beside the table where they are
 * binary and large. Its other fields are what a test expects. They differ from table to table.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fixture } from './paths.js'

export interface Case {
  readonly name: string
  readonly bytes: Uint8Array
}

/** How a line gives its input: one of these. */
interface Input {
  readonly text?: string
  readonly base64?: string
  readonly file?: string
}

/** The lines of a table whose cases have no input of bytes. */
export function rowsOf<Row extends { readonly name: string }>(table: string): readonly Row[] {
  const place = `fixtures/${table}.jsonl`
  const lines = readFileSync(fixture(`${table}.jsonl`), 'utf8').split('\n')
  if (lines.pop() !== '' || lines.length === 0) throw new Error(`${place}: expected one or more lines, each with a line break at its end`)
  let before = ''
  return lines.map(line => {
    const row = JSON.parse(line) as Row
    if (!(row.name > before)) throw new Error(`${place}: '${row.name}' stands behind '${before}', expected names in order, each once`)
    before = row.name
    return row
  })
}

/** The cases of a table, in the table's order. `Expected` are the fields that each case of this table has beside its input. */
export function casesOf<Expected extends object>(table: string): readonly (Case & Expected)[] {
  return rowsOf<Input & Omit<Case, 'bytes'> & Expected>(table).map(({ text, base64, file, ...rest }) => {
    const place = `fixtures/${table}.jsonl: ${rest.name}`
    const inputs = [
      text === undefined ? null : encoded(text, 'utf8', place),
      base64 === undefined ? null : encoded(base64, 'base64', place),
      file === undefined ? null : readFileSync(fixture(dirname(table), file))
    ].filter(input => input !== null)
    if (inputs.length !== 1) throw new Error(`${place}: ${inputs.length} inputs, expected one of text, base64 and file`)
    return { ...(rest as Omit<Case, 'bytes'> & Expected), bytes: new Uint8Array(inputs[0]) }
  })
}

/** Node passes over or replaces what it cannot encode, so the bytes must give the text again. */
function encoded(text: string, encoding: 'utf8' | 'base64', place: string): Uint8Array {
  const bytes = Buffer.from(text, encoding)
  if (bytes.toString(encoding) !== text) throw new Error(`${place}: an input that ${encoding} does not give again`)
  return bytes
}

/** Writes each case's input into a folder, under its name and an ending; returns the paths in the cases' order. */
export function writeCases(folder: string, cases: readonly Case[], ending = ''): readonly string[] {
  return cases.map(({ name, bytes }) => {
    const path = join(folder, `${name}${ending}`)
    writeFileSync(path, bytes)
    return path
  })
}

/** One case of a table, by its name. */
export function caseOf<Expected extends object>(table: string, name: string): Case & Expected {
  const found = casesOf<Expected>(table).find(one => one.name === name)
  if (found === undefined) throw new Error(`${table}: no case '${name}'`)
  return found
}

/**
 * Values of text documents: a README, a postmortem, a comment in a configuration. A value stands on a stated line, and
 * its pattern matches on no other line. A document that was edited above the line, or that states the value twice, is a
 * fault. Another value is never taken instead.
 */
import { Fault } from '../../core/errors.js'
import { refuseSecrets } from '../../core/secret-guard.js'
import type { DocumentValue } from '../../schema/evidence.js'
import type { FoundValue } from './contract.js'
import type { HashedFile } from '../../schema/study.js'
import { parseNumber } from './convert.js'
import { quoted, valueUnreadable } from './faults.js'
import { documentLabels } from './labels.js'
import type { TextSearch } from './match.js'

/** Largest size of a document in bytes. A document is a text that somebody wrote by hand. */
const MAX_BYTES = 4 * 1024 * 1024

/** Largest number of lines that a message lists. */
const MAX_LISTED = 5

/**
 * The lines of a document that may be copied unchanged.
 * @throws Fault where the document is too long, is not UTF-8, or has a line that looks like a secret; the message never
 *   repeats that line
 */
export function documentLines(bytes: Uint8Array, file: string): readonly string[] {
  const refuse = (problem: string, found: string, expected: string, cause?: unknown): Fault =>
    new Fault({ format: 'document', problem, found, expected, place: { file }, cause })
  if (bytes.length > MAX_BYTES) throw refuse('too long', `${bytes.length} bytes`, `at most ${MAX_BYTES}`)
  const text = textOf(bytes, refuse)
  refuseSecrets(text, 'document', { file })
  return text.split(/\r\n|\n|\r/)
}

function textOf(bytes: Uint8Array, refuse: (problem: string, found: string, expected: string, cause: unknown) => Fault): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw refuse('wrong encoding', 'bytes that are not UTF-8', 'UTF-8', cause)
  }
}

interface AskedDocument {
  /** `evidence.documents[0].values[3]` */
  readonly at: string
  readonly document: string
}

export function documentValue(
  request: DocumentValue,
  { at, document }: AskedDocument,
  lines: readonly string[],
  { path, sha256 }: HashedFile,
  search: TextSearch
): FoundValue {
  const { name, line, pattern, as, unit, title, published, excluded } = request
  const refuse = (found: string, expected: string): Fault => valueUnreadable({ at, name }, found, expected, path, `line ${line}`)
  const matching = lines.flatMap((text, i) => {
    const found = search.find(pattern, text)
    if ('group' in found) return [{ line: i + 1, raw: text, group: found.group }]
    if (found.problem === 'no match') return []
    throw refuse(`line ${i + 1}, ${found.problem}`, `lines that ${quoted(pattern)} can be looked for in within a second`)
  })
  const [first] = matching
  if (matching.length !== 1 || first.line !== line) {
    const listed = matching
      .slice(0, MAX_LISTED)
      .map(match => match.line)
      .join(', ')
    throw refuse(matching.length === 0 ? 'no such line' : `it on ${listed}`, `${quoted(pattern)} to match on line ${line} alone`)
  }
  const value = as === 'text' ? first.group : parseNumber(first.group)
  if (value === null || value === '')
    throw refuse(quoted(first.raw), `${as === 'text' ? 'a text' : 'a number'} in the group of ${quoted(pattern)}`)
  const origin = { source: 'document', document, file: path, sha256, line, raw: first.raw } as const
  return { name, value, reason: null, unit, title, published, excluded, labels: documentLabels(request, lines, path), origin }
}

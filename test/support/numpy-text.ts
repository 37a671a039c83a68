/**
 * What Python printed, as values: the last column of the public cases' table, and the words of `fixtures/npz/valid.jsonl`.
 */

/** One array as numpy reads it. `null` where numpy refuses it. */
export interface ArrayReading {
  readonly shape: readonly number[]
  readonly descr: string
  readonly fortran: boolean
  /** up to four elements, C order, then the last one; text for S and U */
  readonly first: readonly (number | string)[]
  readonly last: number | string | null
  readonly nan: number | null
  readonly inf: number | null
  readonly sum: number | null
}

export interface MemberReading {
  readonly name: string
  readonly method: number
  readonly crc32: number
  readonly array: ArrayReading | null
}

/** A Python number, bool, bytes or string literal. */
export function parseWord(word: string): number | string {
  const text = /^b?'(.*)'$/.exec(word)
  if (text !== null) return text[1]
  const long = /^np\.longdouble\('(.*)'\)$/.exec(word)
  if (long !== null) return Number(long[1])
  if (word === 'nan') return NaN
  if (/^-?inf$/.test(word)) return word === 'inf' ? Infinity : -Infinity
  if (word === 'True' || word === 'False') return word === 'True' ? 1 : 0
  const value = Number(word)
  if (word === '' || Number.isNaN(value)) throw new Error(`not a Python literal: ${word}`)
  return value
}

function field(text: string, pattern: RegExp): string | null {
  return pattern.exec(text)?.[1] ?? null
}

function numberField(text: string, pattern: RegExp): number | null {
  const word = field(text, pattern)
  return word === null ? null : Number(word)
}

/** `shape=(3,) dtype=<f8 flags=C first(C-order)=[…] last=… nan=0 inf=0 sum_finite=…` */
export function parseArrayReading(text: string): ArrayReading | null {
  if (text.startsWith('REFUSE')) return null
  const m = /^shape=\(([^)]*)\) dtype=(\S+) flags=([CF]) first\(C-order\)=\[(.*?)\] last=(.*)$/.exec(text)
  if (m === null) throw new Error(`not a reading: ${text}`)
  const words = m[4] === '' ? [] : m[4].split(/, (?=[^,]*)/)
  const last = /^(b?'.*?'|np\.longdouble\('.*?'\)|\S+)/.exec(m[5])
  return {
    shape: m[1]
      .split(',')
      .filter(s => s.trim() !== '')
      .map(Number),
    descr: m[2],
    fortran: m[3] === 'F',
    first: words.map(parseWord),
    last: last === null ? null : parseWord(last[1]),
    nan: numberField(m[5], /nan=(\d+)/),
    inf: numberField(m[5], /inf=(\d+)/),
    sum: numberField(m[5], /sum(?:_finite)?=(\S+)/)
  }
}

/** `7 members: c.npy{deflate,…,crc=830440ee} shape=… || obj.npy{…} REFUSE (…) || … (15 more; …)` */
export function parseArchiveReading(text: string): { readonly count: number; readonly members: readonly MemberReading[] } {
  const m = /^(\d+) members: (.*)$/.exec(text)
  if (m === null) throw new Error(`not an archive reading: ${text}`)
  const parts = m[2].split(' || ').filter(part => !part.startsWith('…'))
  const members = parts.map(part => {
    const p = /^(\S+?)\{(stored|deflate),.*?crc=([0-9a-f]{8})\} (.*)$/.exec(part)
    if (p === null) throw new Error(`not a member reading: ${part}`)
    return { name: p[1], method: p[2] === 'stored' ? 0 : 8, crc32: parseInt(p[3], 16), array: parseArrayReading(p[4]) }
  })
  return { count: Number(m[1]), members }
}

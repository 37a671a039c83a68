/**
 * Resolves a configuration file with its parents: the final value of each allowlisted key, and the file and line that set
 * it. Nothing is run or expanded (see env.ts). What looks like a secret is withheld, allowlisted or not (see
 * src/core/secrets.ts).
 *
 * A parent is read where its child names it; later settings override earlier ones. In JSON, parents come first. A
 * parent's path is relative to the file that names it. All files lie in the study, after links are followed.
 */
import { hash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { posix } from 'node:path'
import { describeCause, printable } from '../../core/errors.js'
import { isSecretName, isSecretValue } from '../../core/secrets.js'
import { happened, type StillWords } from '../../core/still.js'
import { readWhole } from '../../core/still-file.js'
import { whyUnreadable } from '../../core/system/open.js'
import { canonicalRelative, isSafeRelative, resolveInside } from '../../core/paths.js'
import { parseEnv } from './env.js'
import { configFault } from './faults.js'
import { parseJsonConfig } from './json.js'

export interface ConfigFile {
  /** relative to the study */
  readonly path: string
  readonly sha256: string
  readonly bytes: number
}

export interface ResolvedValue {
  /** `true`/`false` in any case as a boolean; a number if a double holds it (see `typedText`); else the text */
  readonly value: string | number | boolean | null
  /** as written, quotes removed, references such as `$HOME` kept */
  readonly text: string
  readonly from: string
  /** 1-based */
  readonly line: number
}

export interface ResolvedConfig {
  /** each file once, in the order in which their first reading ended: parents first, the file itself last */
  readonly chain: readonly ConfigFile[]
  /** by key, in the order of the allowlist; below one entry in the order of the files */
  readonly values: Readonly<Record<string, ResolvedValue>>
  /** number of allowlisted keys that are set but not copied, because the key or the value looks like a secret */
  readonly withheld: number
  /** entries of the allowlist that no file sets */
  readonly absent: readonly string[]
}

export interface ConfigRequest {
  /** keys of `.env` files, or dotted paths of JSON. A path also stands for everything below it (`weights`) */
  readonly allow: readonly string[]
}

/** Longest chain of parents, and most readings in all (a parent that is named twice is read twice). */
const MAX_DEPTH = 16
const MAX_READINGS = 64
const MAX_FILE_BYTES = 1024 * 1024
/** Longest value, in characters. A longer text is no setting, and the search for secrets is slower than linear. */
const MAX_VALUE = 16 * 1024

/** The last setting of a key. `problem` is set where only a shell could tell the text. */
interface Setting {
  readonly text: string | null
  readonly problem: string | null
  /** JSON's typed value; undefined for `.env`, where all values are text */
  readonly typed?: ResolvedValue['value']
  readonly from: string
  readonly line: number
}

/**
 * @param studyDir the study's folder
 * @param path of the configuration file, relative to the study; `.json` is read as JSON, everything else as `.env`
 * @throws Fault exit 3: unreadable or malformed file, a path that leaves the study, a cycle, too many parents, or an
 * allowlisted value that only a shell can tell. No message repeats text of a file's lines.
 */
export async function resolveConfig(studyDir: string, path: string, request: ConfigRequest): Promise<ResolvedConfig> {
  if (!isSafeRelative(path)) throw configFault('unsafe path', printable(path), 'a path inside the study', path)
  const root = await realpath(studyDir).catch((error: unknown) => {
    throw configFault('unreadable study', describeCause(error), 'a folder', studyDir)
  })
  const chain = new Map<string, ConfigFile>()
  const settings = new Map<string, Setting>()
  const allowed = (key: string): boolean => request.allow.some(entry => isAtOrBelow(key, entry))
  let readings = 0

  const read = async (file: string, open: readonly string[]): Promise<void> => {
    if (open.includes(file)) throw configFault('cycle', [...open, file].map(p => printable(p)).join(' -> '), 'no file above itself', file)
    if (open.length >= MAX_DEPTH) throw configFault('chain too deep', `more than ${MAX_DEPTH} files`, 'fewer', file)
    if (++readings > MAX_READINGS) throw configFault('chain too long', `more than ${MAX_READINGS} files`, 'fewer', file)
    const { text, ...identity } = await readText(root, file)
    const parent = async (named: string, line: number): Promise<void> => read(parentPath(file, named, line), [...open, file])
    const set = (key: string, setting: Omit<Setting, 'from'>): void => {
      if (allowed(key)) settings.set(key, { ...setting, from: file })
    }
    if (file.toLowerCase().endsWith('.json')) {
      const { parents, leaves } = parseJsonConfig(text, file)
      for (const { path: named, line } of parents) await parent(named, line)
      const lists = new Set<string>()
      for (const { path: key, value, text: written, line, list } of leaves) {
        // Objects merge with a parent's. A list replaces a list, a value a container, a container a value.
        const replaced = list !== null && !lists.has(list) ? list : key
        if (list !== null) lists.add(list)
        for (const other of settings.keys()) if (isAtOrBelow(other, replaced) || isAtOrBelow(key, other)) settings.delete(other)
        set(key, { text: written, problem: null, typed: value, line })
      }
    } else {
      for (const entry of parseEnv(text, file)) {
        if (entry.kind === 'parent') await parent(entry.path, entry.line)
        else if (entry.kind === 'unset') settings.delete(entry.key)
        else {
          const before = entry.append ? settings.get(entry.key) : undefined
          const problem = entry.problem ?? before?.problem ?? null
          set(entry.key, { text: problem === null ? `${before?.text ?? ''}${entry.text ?? ''}` : null, problem, line: entry.line })
        }
      }
    }
    if (!chain.has(file)) chain.set(file, { path: file, ...identity })
  }

  await read(canonicalRelative(path), [])
  return { chain: [...chain.values()], ...copied(settings, request.allow) }
}

function copied(settings: ReadonlyMap<string, Setting>, allow: readonly string[]): Omit<ResolvedConfig, 'chain'> {
  const values = new Map<string, ResolvedValue>()
  const absent: string[] = []
  const withheld = new Set<string>()
  for (const entry of allow) {
    const chosen = [...settings].filter(([key]) => isAtOrBelow(key, entry))
    if (chosen.length === 0) absent.push(entry)
    for (const [key, { text, problem, typed, from, line }] of chosen) {
      if (text !== null && text.length > MAX_VALUE) {
        throw configFault(`value of ${printable(key)} too long`, `${text.length} characters`, `at most ${MAX_VALUE}`, from, line)
      }
      if (isSecretName(key) || (text !== null && isSecretValue(text, key))) {
        withheld.add(key)
        continue
      }
      if (text === null) {
        throw configFault(`unreadable value of ${printable(key)}`, problem ?? 'no text', 'a value that needs no shell', from, line)
      }
      values.set(key, { value: typed === undefined ? typedText(text) : typed, text, from, line })
    }
  }
  // Object.fromEntries is safe for a key `__proto__`; filling an object literal key by key is not.
  return { values: Object.fromEntries(values), withheld: withheld.size, absent }
}

function isAtOrBelow(key: string, entry: string): boolean {
  return key === entry || key.startsWith(`${entry}.`)
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

function typedText(text: string): string | number | boolean {
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (!NUMBER.test(text)) return text
  const number = Number(text)
  // Integers that a double does not hold exactly, and names such as 007, stay text.
  const exact = !/^[+-]?\d+$/.test(text) || (Number.isSafeInteger(number) && !/^[+-]?0\d/.test(text))
  return Number.isFinite(number) && exact ? number : text
}

function parentPath(file: string, named: string, line: number): string {
  const joined = posix.join(posix.dirname(file), named)
  if (posix.isAbsolute(named) || named.includes('\\') || !isSafeRelative(joined)) {
    throw configFault('parent outside the study', 'a path that leaves it', 'a path inside the study', file, line)
  }
  return canonicalRelative(joined)
}

async function readText(root: string, file: string): Promise<Omit<ConfigFile, 'path'> & { readonly text: string }> {
  const unreadable = (found: string): Error => configFault('unreadable file', found, 'a readable file in the study', file)
  const resolved = resolveInside(root, file)
  if (resolved.kind === 'missing') throw unreadable('nothing')
  if (resolved.kind === 'unreadable') throw unreadable(resolved.code)
  if (resolved.kind === 'outside') throw unreadable('a link that leaves the study')
  const bytes = await readWhole(resolved.real, configWords(file), MAX_FILE_BYTES)
  const text = decodeUtf8(bytes)
  if (text === null || text.includes('\0')) throw configFault('wrong encoding', 'bytes that are not text', 'UTF-8', file)
  return { sha256: hash('sha256', bytes), bytes: bytes.length, text }
}

function configWords(file: string): StillWords {
  const unreadable = (_path: string, cause: unknown): Error =>
    configFault('unreadable file', whyUnreadable(cause), 'a readable file in the study', file)
  return {
    notOpened: unreadable,
    notRead: unreadable,
    changed: (_path, { kind, before, now, read }) =>
      kind === 'size'
        ? configFault('changed while it was read', `${now.size === before.size ? read : now.size} bytes`, `${before.size}`, file)
        : configFault('changed while it was read', happened(kind), 'a file that stands still', file),
    tooLarge: (_path, bytes, max) => configFault('file too large', `${bytes} bytes`, `at most ${max}`, file)
  }
}

/** Null if the bytes are not UTF-8. */
function decodeUtf8(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : null
}

/**
 * The API key: where it comes from, and how it is kept out of everything else.
 *
 * It comes from WANDB_API_KEY, else from the netrc file, as in W&B's own tools (wandb/sdk/lib/wbauth). An empty variable
 * counts as unset. The netrc file is the one that NETRC names (`~/` is the home folder), else `~/.netrc` if it exists, else
 * `~/_netrc`; only one file is read. The entry's name is the host as written in the base URL, with its port
 * (`machine localhost:8080`). If no entry has that name, `default` is used, as in Python's netrc. The login and the file's
 * permissions are ignored (W&B passes a path to Python's netrc, which then skips that check).
 *
 * This is stricter than W&B's tools: a netrc file that cannot be read is a Fault, not a warning. A key has 8 to 512
 * characters of printable ASCII without white space and colon. A line break would forge a header, a colon does not belong
 * in a key, and a shorter text would be found in answers by chance. W&B's own rule (40 or more) is left to the server.
 *
 * Not supported: identity tokens (WANDB_IDENTITY_TOKEN_FILE) and short-lived `wb_at_` tokens (sent as Bearer by W&B's
 * tools), `api_key` in W&B's settings files, a command line option or file of this program.
 */
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { EXIT, Fault, printable } from '../core/errors.js'
import { happened, type StillWords } from '../core/still.js'
import { readWhole } from '../core/still-file.js'
import { isMissing, whyUnreadable } from '../core/system/open.js'
import type { Address } from '../ingest/certificate/address.js'
import { keySearch } from './key-search.js'
import { netrcPassword } from './netrc.js'

export type KeySource = 'WANDB_API_KEY' | 'netrc'

const MIN_KEY = 8
const MAX_KEY = 512

const KEY = new RegExp(`^[!-9;-~]{${MIN_KEY},${MAX_KEY}}$`)

const MAX_NETRC_BYTES = 1024 * 1024

/** A checked key. Only `authorization` returns it; its text and JSON forms hide it. */
export class ApiKey {
  readonly source: KeySource
  readonly #key: string
  readonly #search: (text: string) => boolean

  /** @throws Fault exit 2, without quoting the key: not 8 to 512 characters of printable ASCII, white space or a colon */
  constructor(key: string, source: KeySource) {
    if (!KEY.test(key)) {
      throw keyFault(
        'wrong key',
        `${key.length} characters in ${source}`,
        `${MIN_KEY} to ${MAX_KEY} of printable ASCII without white space and colon`
      )
    }
    this.source = source
    this.#key = key
    this.#search = keySearch(key)
  }

  /** The value of the Authorization header. */
  authorization(): string {
    return `Basic ${Buffer.from(`api:${this.#key}`).toString('base64')}`
  }

  /**
   * True if the key occurs in a text, as it is or in base64 (also inside a longer base64 text), in either case of letters.
   * Characters may be escaped as in JSON (nested up to three times), URLs or HTML.
   */
  occursIn(text: string): boolean {
    return this.#search(text)
  }

  toString(): string {
    return '[key]'
  }

  toJSON(): string {
    return '[key]'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[key]'
  }
}

function keyFault(problem: string, found: string, expected: string, file?: string, cause?: unknown): Fault {
  const place = file === undefined ? {} : { file }
  return new Fault({ format: 'wandb', problem, found, expected, place, exitCode: EXIT.usage, cause })
}

/**
 * The key for a server.
 *
 * @throws Fault exit 2: no key, a malformed one, a netrc file that is unreadable or malformed, a key that occurs in the
 * base URL. Neither the key nor the netrc file's text is quoted.
 */
export async function findApiKey(env: NodeJS.ProcessEnv, address: Address): Promise<ApiKey> {
  const key = await look(env, address)
  if (key.occursIn(address.base.href)) {
    throw keyFault('wrong base URL', 'the API key in it', 'an address without it; the key comes from the environment')
  }
  return key
}

async function look(env: NodeJS.ProcessEnv, { host }: Address): Promise<ApiKey> {
  if (env['WANDB_API_KEY'] !== undefined && env['WANDB_API_KEY'] !== '') {
    return new ApiKey(env['WANDB_API_KEY'], 'WANDB_API_KEY')
  }
  const path = await netrcPath(env)
  const text = await readNetrc(path)
  const password = text === null ? null : netrcPassword(text, host, { file: path })
  if (password === null || password === '') {
    const entry = password === null ? 'no entry' : 'an entry without a password'
    const found =
      text === null
        ? `WANDB_API_KEY is not set and there is no ${printable(path, 400)}`
        : `WANDB_API_KEY is not set and ${printable(path, 400)} has ${entry} for ${printable(host)}`
    throw keyFault('no API key', found, 'one of them (`wandb login` writes the entry)')
  }
  return new ApiKey(password, 'netrc')
}

async function netrcPath(env: NodeJS.ProcessEnv): Promise<string> {
  const home = env[process.platform === 'win32' ? 'USERPROFILE' : 'HOME'] || homedir()
  const named = env['NETRC']
  if (named !== undefined && named !== '') {
    if (/^~[^/\\]/.test(named)) throw keyFault('wrong NETRC', 'the home folder of another user', 'a path', named)
    return named.startsWith('~') ? join(home, named.slice(1)) : named
  }
  const [unix, windows] = [join(home, '.netrc'), join(home, '_netrc')]
  if (await exists(unix)) return unix
  if (await exists(windows)) return windows
  return process.platform === 'win32' ? windows : unix
}

/** False only for a missing name. After any other error, such as no permission, opening the file reports the problem. */
async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => !isMissing(error)
  )
}

/** The text of the netrc file; null without one. */
async function readNetrc(path: string): Promise<string | null> {
  const unreadable = (found: string, cause?: unknown): Fault =>
    keyFault('unreadable netrc', found, 'a readable file, or WANDB_API_KEY', path, cause)
  const words: StillWords = {
    notOpened: (_path, cause) => unreadable(whyUnreadable(cause), cause),
    notRead: (_path, cause) => unreadable(whyUnreadable(cause), cause),
    changed: (_path, { kind }) => unreadable(happened(kind)),
    tooLarge: (_path, _bytes, max) => unreadable(`more than ${max} bytes`)
  }
  const bytes = await readWhole(path, words, MAX_NETRC_BYTES).catch((cause: unknown) => {
    if (cause instanceof Fault && isMissing(cause.cause)) return null
    throw cause
  })
  if (bytes === null) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // A decoder's error quotes nothing of the text.
    throw unreadable('bytes that are not UTF-8')
  }
}

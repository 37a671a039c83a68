/**
 * The one filter for secrets. It finds them by the name of a setting or by the shape of the text, and does not know where a
 * text comes from. The code that reads or writes a text decides what follows: it refuses the text by its name, withholds and
 * counts it, or replaces it in a message. In doubt a text is withheld.
 *
 * In a field of ids and names (uid, run id, hash, revision, path, label, key of a metric) forty hexadecimal digits are no
 * key, and base64 that reads `kind:name` is no password. A token with its issuer's mark is a secret there too.
 *
 * Not found: a secret under a harmless name in a shape that no issuer uses, and one that is cut in two, enciphered, or
 * encoded in another way than base64 (at most twice) and percent signs. Wherever settings are copied, an allowlist comes
 * before this filter.
 */
import { isIdentityName, isSecretName } from './secrets/names.js'
import { isMixed, isRandom } from './secrets/random.js'
import {
  AFTER_COMMIT,
  ASSIGNED,
  ASSIGNED_VALUE,
  BARE_HEX,
  BASE64_RUN,
  BEFORE_COMMIT,
  BEFORE_HEX,
  BEFORE_IDENTITY,
  KNOWN_USER,
  PERCENT_RUN,
  SHAPES,
  SPEAKS_OF_KEYS,
  USER_AND_SECRET,
  VARIABLE
} from './secrets/shapes.js'

export { isIdentityName, isSecretName }

/** Replaces in a message what was found. */
export const WITHHELD = '[withheld]'

/** A part of a text: index of its first character, index behind its last. */
export type Span = readonly [from: number, to: number]

interface Rules {
  /** true: any text under a secret name is a secret, variables included; false: it must also read like one */
  readonly settings: boolean
  /** the text is from a field of ids and names */
  readonly identity: boolean
}

/** Whether the text of a setting is a secret: as it stands, or in an assignment, a flag or a variable within it. */
export function isSecretValue(text: string, name = ''): boolean {
  return holds(text, { settings: true, identity: isIdentityName(name) })
}

/**
 * Whether prose holds a secret. `key: the metric's key` is none in prose; in a setting it is one.
 *
 * @param name name of the text's field. The text of `key` names a metric or a setting, and forty digits alone are no such
 * name
 */
export function isSecretText(text: string, name = ''): boolean {
  return holds(text, {
    settings: false,
    identity: name === 'key' ? !BARE_HEX_ALONE.test(text) : isIdentityName(name)
  })
}

/** A text for a message, with `[withheld]` in place of each secret. @param identity the text may hold ids, names and hashes */
export function withoutSecrets(text: string, identity = false): string {
  let shown = ''
  let at = 0
  for (const [from, to] of secretSpans(text, identity)) {
    shown += text.slice(at, from) + WITHHELD
    at = to
  }
  return shown + text.slice(at)
}

/** The passages of prose that look like secrets, in order and apart. @param identity the text may hold ids, names and hashes */
export function secretSpans(text: string, identity = false): readonly Span[] {
  return spansApart([...secretsIn(text, { settings: false, identity })])
}

/** The same parts of a text in order, one where several overlap. */
export function spansApart(found: readonly Span[]): readonly Span[] {
  const spans: [number, number][] = []
  for (const [from, to] of [...found].sort((a, b) => a[0] - b[0])) {
    const last = spans.at(-1)
    if (last === undefined || from >= last[1]) spans.push([from, to])
    else last[1] = Math.max(last[1], to)
  }
  return spans
}

function holds(text: string, rules: Rules, depth = 0): boolean {
  for (const _span of secretsIn(text, rules, depth)) return true
  return false
}

/** Quick tests. No secret is shorter than this, and each has one of the marks below or eleven characters of a word in a row. */
const MIN_LENGTH = 4
const WORTH_A_LOOK = /[=:@$\uff1a\u662f\u4e3a]|--|[\w+/.-]{11}|login/
const ASSIGNS = /[=:\uff1a]|--/
const HEX_LENGTH = 40
const BARE_HEX_ALONE = /^[0-9a-f]{40}$/i

/** Layers of encoding that are read: base64 of base64, and no more. */
const MAX_DEPTH = 2

function* secretsIn(text: string, rules: Rules, depth = 0): Generator<Span, void, void> {
  if (text.length < MIN_LENGTH || !WORTH_A_LOOK.test(text)) return
  const { settings, identity } = rules
  for (const { needs, pattern, loose } of SHAPES) {
    if (!(needs instanceof RegExp ? needs.test(text) : needs.some(mark => text.includes(mark)))) continue
    for (const match of text.matchAll(pattern)) if (isLikeSecret(match, identity && loose === true)) yield spanOf(match)
  }
  if (!identity && text.length >= HEX_LENGTH)
    for (const match of text.matchAll(BARE_HEX)) if (!isNamedIdentity(text, match.index)) yield spanOf(match)
  if (depth < MAX_DEPTH) {
    for (const match of text.matchAll(BASE64_RUN)) if (isEncodedSecret(match[0], rules, depth)) yield spanOf(match)
    if (text.includes('%')) for (const match of text.matchAll(PERCENT_RUN)) if (isEscapedSecret(match[0], rules, depth)) yield spanOf(match)
  }
  if (settings && text.includes('$')) for (const match of text.matchAll(VARIABLE)) if (isSecretName(match[1])) yield spanOf(match)
  if (ASSIGNS.test(text)) yield* assigned(text, settings)
}

/**
 * Whether the groups of a match look like a token (`drawn`) or like a password (`mixed`).
 *
 * @param strict a group `secret` must look random too
 */
function isLikeSecret({ groups = {} }: RegExpExecArray, strict: boolean): boolean {
  const { secret, mixed, drawn = strict ? secret : undefined } = groups as Partial<Record<string, string>>
  return (drawn === undefined || isRandom(drawn)) && (mixed === undefined || isMixed(mixed))
}

/** The part of a match that is withheld: its group `secret`, otherwise all of it. The group occurs once in the match, nearly at its end. */
function spanOf(match: RegExpExecArray): Span {
  const from = match.index
  const secret = match.groups?.['secret']
  if (secret === undefined) return [from, from + match[0].length]
  const start = from + match[0].lastIndexOf(secret)
  return [start, start + secret.length]
}

/** Whether the text around forty digits says that they are an id or a revision. */
function isNamedIdentity(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - BEFORE_HEX), at)
  if (BEFORE_IDENTITY.test(before)) return true
  if (SPEAKS_OF_KEYS.test(before.slice(before.lastIndexOf('\n') + 1))) return false
  return BEFORE_COMMIT.test(before) || AFTER_COMMIT.test(text.slice(at + HEX_LENGTH, at + HEX_LENGTH + 16))
}

/** Whether base64 holds `user:password` or a text that is a secret. */
function isEncodedSecret(encoded: string, rules: Rules, depth: number): boolean {
  const text = Buffer.from(encoded, 'base64').toString('utf8').trim()
  if (/[\ufffd\x00-\x08\x0e-\x1f\x7f]/.test(text)) return false
  const secret = rules.identity && !KNOWN_USER.test(text) ? undefined : USER_AND_SECRET.exec(text)?.groups?.['secret']
  return (secret !== undefined && isMixed(secret)) || holds(text, rules, depth + 1)
}

function isEscapedSecret(run: string, rules: Rules, depth: number): boolean {
  if (!/%[0-9A-Fa-f]{2}/.test(run)) return false
  const text = run.replace(/%([2-7][0-9A-Fa-f])/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
  return text !== run && holds(text, rules, depth + 1)
}

/** Secrets that are assigned. The search goes on behind each one that was found, so that the text is read once. */
function* assigned(text: string, settings: boolean): Generator<Span, void, void> {
  const value = new RegExp(ASSIGNED_VALUE)
  let end = 0
  for (const match of text.matchAll(ASSIGNED)) {
    const [all, flag, own, separator] = match
    const name = flag ?? own
    if (match.index < end || !isSecretName(name)) continue
    const from = match.index + all.length
    const judged = text.slice(from, from + MAX_JUDGED)
    value.lastIndex = 0
    const written = (value.exec(judged)?.[0] ?? '').replace(/^\\{0,3}["'`]|\\{0,3}["'`]$/g, '')
    if (written === '' || (!settings && !readsLikeSecret(name, separator, written))) continue
    value.lastIndex = from
    end = from + (value.exec(text)?.[0].length ?? 0)
    yield [from, end]
  }
}

/** Characters of a value that are looked at to judge it. */
const MAX_JUDGED = 256

/** Values that are placeholders, and words that follow a colon in prose. */
const PLACEHOLDER =
  /^(?:|[<[{(*$%].*|\.{2,}|\u2026|x{3,}|\*+|-+|your.*|my[_-].*|none|null|nil|true|false|undefined|unset|missing|empty|redacted|withheld|required|optional|str|string|text|bytes|int|any|the|a|an|no|not|is|see|and|or|of|in|to|for|from|with|it|this|that|os\.environ.*|env.*|example.*|changeme|todo|tbd)[.,;:!?)]*$/i
/** Names that can only mean a secret: the text under them is not judged by its shape. */
const PLAIN_SECRET =
  /secret|passw(?:or)?d|passphrase|passcode|credential|apikey|accesskey|accountkey|authtoken|accesstoken|privatekey|connectionstr|webhook|(?:^|_)(?:pwd|passwd|pat|otp|totp|jwt)(?:_|$)/

function readsLikeSecret(name: string, separator: string, value: string): boolean {
  if (PLACEHOLDER.test(value) || value.length < MIN_LENGTH) return false
  const plain = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  // `WANDB_KEY=…`: an environment variable
  if (/^[A-Z][A-Z0-9_]*_[A-Z0-9_]+$/.test(name) && separator.includes('=')) return true
  if (PLAIN_SECRET.test(plain) || PLAIN_SECRET.test(plain.replace(/[^a-z0-9]/g, ''))) return true
  // `key: reward` is a name and `token=12` a count. A secret is long and mixed.
  return (
    /^(?=.*[0-9])(?=.*[A-Za-z])[\w+/=.~%!-]{8,}$/.test(value) ||
    /^(?=.*[0-9]|.*[a-z].*[A-Z]|.*[A-Z].*[a-z])[A-Za-z0-9+=_-]{20,}$/.test(value)
  )
}

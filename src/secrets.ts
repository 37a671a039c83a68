/**
 * The one filter for secrets: by the name of a setting, or by the shape of its text. It knows names and shapes, nothing of
 * where a text comes from; who reads or writes a text decides what follows (refused by name, withheld and counted, or
 * replaced in a message). A text too many is withheld rather than one too few.
 *
 * Not found: a secret under a harmless name in a shape that no issuer uses, one that is cut in two, enciphered, or encoded
 * in another way than base64 of `user:password`. An allowlist stands before the filter wherever settings are copied.
 */
import { isIdentityName, isSecretName } from './secrets/names.js'
import { ASSIGNED, ASSIGNED_VALUE, BARE_HEX, BASE64_RUN, BEFORE_IDENTITY, SHAPES, USER_AND_SECRET, VARIABLE } from './secrets/shapes.js'

export { isIdentityName, isSecretName }

/** Stands in a message in place of what was found. */
export const WITHHELD = '[withheld]'

/** A part of a text: from, to. */
type Span = readonly [from: number, to: number]

interface Rules {
  /** any text under a secret name in the text, variables among them; else only what reads like a secret's own text */
  readonly settings: boolean
  /** forty hexadecimal digits on their own count */
  readonly hex: boolean
}

/** Whether the text of a setting is a secret: as it stands, or in an assignment, a flag or a variable within it. */
export function isSecretValue(text: string, name = ''): boolean {
  return holds(text, { settings: true, hex: !isIdentityName(name) })
}

/** Whether prose holds a secret. `key: the metric's key` is none here, as it would be in a setting. @param name of the field that it stands in */
export function isSecretText(text: string, name = ''): boolean {
  return holds(text, { settings: false, hex: !isIdentityName(name) })
}

/** A text for a message, with `[withheld]` in place of each secret. @param hex false: ids and hashes may stand in it */
export function withoutSecrets(text: string, hex = true): string {
  const spans = [...secretsIn(text, { settings: false, hex })].sort((a, b) => a[0] - b[0])
  let shown = ''
  let at = 0
  for (const [from, to] of spans) {
    if (to <= at) continue
    shown += from < at ? '' : text.slice(at, from) + WITHHELD
    at = to
  }
  return shown + text.slice(at)
}

function holds(text: string, rules: Rules): boolean {
  for (const _span of secretsIn(text, rules)) return true
  return false
}

/** No secret is shorter, and none has neither one of these characters nor so many of a word in a row. */
const MIN_LENGTH = 4
const WORTH_A_LOOK = /[=:@$]|--|[\w+/.-]{11}|login/
const ASSIGNS = /[=:]|--/
const HEX_LENGTH = 40

function* secretsIn(text: string, { settings, hex }: Rules): Generator<Span, void, void> {
  if (text.length < MIN_LENGTH || !WORTH_A_LOOK.test(text)) return
  for (const { needs, pattern } of SHAPES) {
    if (typeof needs === 'string' ? text.includes(needs) : needs.test(text)) for (const match of text.matchAll(pattern)) yield spanOf(match)
  }
  if (hex && text.length >= HEX_LENGTH) for (const match of text.matchAll(BARE_HEX)) if (!isNamedIdentity(text, match.index)) yield spanOf(match)
  for (const match of text.matchAll(BASE64_RUN)) if (isEncodedSecret(match[0])) yield spanOf(match)
  if (settings && text.includes('$')) for (const match of text.matchAll(VARIABLE)) if (isSecretName(match[1])) yield spanOf(match)
  if (ASSIGNS.test(text)) yield* assigned(text, settings)
}

/** What is withheld of a match: all, or its group `secret`, which stands once in it and nearly at its end. */
function spanOf(match: RegExpExecArray): Span {
  const from = match.index
  const secret = match.groups?.['secret']
  if (secret === undefined) return [from, from + match[0].length]
  const start = from + match[0].lastIndexOf(secret)
  return [start, start + secret.length]
}

/** Whether what stands before says that an id or a revision follows. */
function isNamedIdentity(text: string, at: number): boolean {
  return BEFORE_IDENTITY.test(text.slice(Math.max(0, at - 32), at))
}

function isEncodedSecret(encoded: string): boolean {
  const text = Buffer.from(encoded, 'base64').toString('latin1')
  if (/[^\x20-\x7e\r\n\t]/.test(text)) return false
  return USER_AND_SECRET.test(text.trim()) || SHAPES.some(({ pattern }) => text.search(pattern) >= 0)
}

/** No assignment is looked for in what was found to be a secret: the whole is read once. */
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

/** So much of a value tells whether it is one. */
const MAX_JUDGED = 256

/** Values that say what belongs there, and words that stand behind a colon in prose. */
const PLACEHOLDER = /^(?:|[<[{(*$%].*|\.{2,}|\u2026|x{3,}|\*+|-+|your.*|my[_-].*|none|null|nil|true|false|undefined|unset|missing|empty|redacted|withheld|required|optional|str|string|text|bytes|int|any|the|a|an|no|not|is|see|and|or|of|in|to|for|from|with|it|this|that|os\.environ.*|env.*|example.*|changeme|todo|tbd)[.,;:!?)]*$/i
/** Names that are secrets in no other sense: what stands under them needs no look of its own. */
const PLAIN_SECRET = /secret|passw(?:or)?d|passphrase|passcode|credential|apikey|accesskey|accountkey|authtoken|accesstoken|privatekey|connectionstr|webhook|(?:^|_)(?:pwd|passwd|pat|otp|totp|jwt)(?:_|$)/

function readsLikeSecret(name: string, separator: string, value: string): boolean {
  if (PLACEHOLDER.test(value) || value.length < MIN_LENGTH) return false
  const plain = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  // `WANDB_KEY=…`: an environment variable
  if (/^[A-Z][A-Z0-9_]*_[A-Z0-9_]+$/.test(name) && separator.includes('=')) return true
  if (PLAIN_SECRET.test(plain) || PLAIN_SECRET.test(plain.replace(/[^a-z0-9]/g, ''))) return true
  // `key: reward`, `token=12`: the name of a thing, or a count; a secret is long and mixed.
  return /^(?=.*[0-9])(?=.*[A-Za-z])[\w+/=.~%!-]{8,}$/.test(value) || /^(?=.*[0-9]|.*[a-z].*[A-Z]|.*[A-Z].*[a-z])[A-Za-z0-9+=_-]{20,}$/.test(value)
}

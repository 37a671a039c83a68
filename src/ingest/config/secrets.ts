/**
 * What looks like a secret: by the name of its key, or by the shape of the value. Such an assignment is never copied,
 * allowlisted or not; the result says how many were withheld. A key too many is withheld rather than one too few.
 *
 * Not detected: a secret under a harmless name in a shape that no issuer uses. The allowlist is the first guard, this is
 * the second.
 */

/** Parts of a name that stand for a secret. `key` and `token` only as whole words: `keys`, `tokens` and `tokenizer` count things. */
const SECRET_WORDS = new Set([
  'key', 'apikey', 'token', 'secret', 'secrets', 'password', 'passwd', 'passphrase', 'pwd', 'credential', 'credentials',
  'auth', 'authorization', 'bearer', 'cookie', 'private', 'signature', 'dsn', 'jwt'
])
const OWNERS = 'api|access|private|ssh|auth|refresh|session|bearer|hf|github|gh|gitlab|wandb|openai|anthropic|aws'
/** The same in names without separators and in the plural. */
const SECRET_PARTS = new RegExp(`secret|passw(?:or)?d|passphrase|credential|(?:${OWNERS})(?:key|token)`)

/** Words that end in `pass` and are about none. */
const HARMLESS_PASS = new Set(['bypass', 'compass', 'encompass', 'overpass', 'surpass', 'trespass', 'underpass'])
/** Neighbours that make `pass` a share of solved tasks or a run through a network: `pass_at_k`, `pass_rate`, `forward_pass`. */
const AFTER_PASS = new Set(['at', 'k', 'rate', 'rates', 'ratio', 'count', 'fraction', 'percent', 'score', 'threshold', 'through'])
const BEFORE_PASS = new Set(['forward', 'backward'])

/** True for `HF_TOKEN`, `wandbApiKey`, `db.password`, `PGPASS`; false for `max_tokens`, `keyboard`, `bypass`, `pass@1`. */
export function isSecretName(name: string): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase().replace(/(?<![a-z])pass@/g, 'pass_at_').split(/[^a-z0-9]+/)
  return words.some(word => SECRET_WORDS.has(word)) || SECRET_PARTS.test(words.join('')) || words.some(isPass)
}

/** `DB_PASS`, `mysqlpass`, `PASS_PROD`. */
function isPass(word: string, i: number, words: readonly string[]): boolean {
  if (word !== 'pass') return word.endsWith('pass') && !HARMLESS_PASS.has(word)
  return !AFTER_PASS.has(words[i + 1] ?? '') && !BEFORE_PASS.has(words[i - 1] ?? '')
}

const SECRET_SHAPES: readonly RegExp[] = [
  /\bhf_[A-Za-z0-9]{16,}/, // Hugging Face
  /\bsk-[A-Za-z0-9_-]{16,}/, // OpenAI, Anthropic and others
  /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})/, // GitHub
  /\bglpat-[\w-]{16,}/, // GitLab
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/, // AWS key id
  /\bAIza[\w-]{30,}/, // Google
  /\bya29\.[\w-]{20,}/, // Google OAuth
  /\bxox[abeoprs]-[\w-]{10,}/, // Slack
  /\bwandb_v\d_\w{20,}/, // W&B, new
  /(?<![0-9a-fA-F])[0-9a-f]{40}(?![0-9a-fA-F])/, // W&B: 40 hexadecimal digits; a git commit looks the same and is withheld too
  /\beyJ[\w-]{8,1024}\.eyJ[\w-]{8,}\./, // JSON web token
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/,
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]*:[^\s/@]+@/i, // user:password@host
  /\b(?:Bearer|Basic)\s+[A-Za-z0-9+/=_.-]{16,}/
]

/** True where the text holds a token of a known shape, or names a variable that looks like a secret (`${HF_TOKEN:-…}`). */
export function isSecretValue(text: string): boolean {
  if (SECRET_SHAPES.some(shape => shape.test(text))) return true
  for (const [, name] of text.matchAll(/\$\{?[!#]?([A-Za-z_]\w{0,200})/g)) if (isSecretName(name)) return true
  // A flag or assignment inside the value: `--api-key abc`, `password=abc`.
  for (const [, flag, name] of text.matchAll(/--([A-Za-z][\w-]{0,80})|(?<![\w.-])([A-Za-z][\w.-]{0,80})\s{0,4}[=:]/g)) {
    if (isSecretName(flag ?? name)) return true
  }
  return false
}

/**
 * Secrets that are none, made when a test runs: no file of the repository looks as if it leaked one. A canary is looked for
 * by its two ends, since a message may cut it.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { unzipSync } from 'fflate'
import { tree } from './folders.js'

export interface Canary {
  /** what it is, without its text */
  readonly what: string
  /** as it is planted */
  readonly text: string
  /** what must come out nowhere */
  readonly needle: string
}

/** The same digits and letters on every run, and another piece for every name. */
function letters(seed: string, length: number, alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'): string {
  const bytes = createHash('sha512').update(`canary ${seed}`).digest()
  return `${Array.from({ length: length - 1 }, (_, i) => alphabet[bytes[i % 64] % alphabet.length]).join('')}7`
}

const hex = (seed: string, length: number): string => letters(seed, length, '0123456789abcdef')
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Prefix and length of tokens that their issuers mark. */
const ISSUED: ReadonlyArray<readonly [string, string, number]> = [
  ['Hugging Face', 'hf_', 34],
  ['OpenAI', 'sk-', 48],
  ['Anthropic', 'sk-' + 'ant-api03-', 40],
  ['GitHub', 'gh' + 'p_', 36],
  ['GitHub, fine', 'github_' + 'pat_', 40],
  ['GitLab', 'gl' + 'pat-', 20],
  ['Google', 'AI' + 'za', 35],
  ['Slack', 'xo' + 'xb-', 30],
  ['W&B, new', 'wandb_' + 'v1_', 40],
  ['npm', 'np' + 'm_', 36],
  ['Stripe', 'sk_' + 'live_', 24]
]

const marked = (text: string, needle: string, what: string): Canary => ({ what, text, needle })

/** Prefix of tokens whose mark a name may begin with as well. */
const LOOSELY_ISSUED: ReadonlyArray<readonly [string, string]> = [
  ['xAI', 'xai-'],
  ['Perplexity', 'pplx-'],
  ['Tavily', 'tvly-'],
  ['Hugging Face, organisation', 'api_' + 'org_'],
  ['Grafana', 'gl' + 'sa_'],
  ['Notion', 'secret_'],
  ['Notion, new', 'nt' + 'n_']
]

/** Fifty-four shapes. */
export const SHAPES: readonly Canary[] = [
  ...ISSUED.map(([what, prefix, length]) => marked(prefix + letters(what, length), letters(what, length), what)),
  marked(
    'AK' + `IA${letters('aws', 16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`,
    letters('aws', 16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'),
    'AWS'
  ),
  marked(hex('wandb', 40), hex('wandb', 40), 'W&B, forty digits'),
  marked(`eyJ${letters('head', 20)}.eyJ${letters('body', 30)}.${letters('sign', 30)}`, letters('body', 30), 'JSON web token'),
  marked(
    `-----BEGIN RSA ${'PRIVATE'} KEY-----\n${letters('pem', 60)}\n-----END RSA ${'PRIVATE'} KEY-----`,
    letters('pem', 60),
    'private key'
  ),
  marked(`postgres://joe:${letters('url', 16)}@db.example/x`, letters('url', 16), 'URL with a password'),
  marked(`joe:${letters('noscheme', 16)}@db.example/x`, letters('noscheme', 16), 'the same without a scheme'),
  marked(`DATABASE_URL=joe:${letters('dburl', 16)}@db.example/x`, letters('dburl', 16), 'assigned'),
  marked(`machine api.example login joe password ${letters('netrc', 20)}`, letters('netrc', 20), 'netrc'),
  marked(`https://a.blob.example/c?sv=2024&sig=${letters('sig', 30)}`, letters('sig', 30), 'sig= of a URL'),
  marked(`https://s3.example/c?X-Amz-Signature=${hex('amz', 64)}`, hex('amz', 64), 'signature of S3'),
  marked(`https://x.example/?a=1&token=${letters('query', 20)}`, letters('query', 20), 'token= of a URL'),
  marked(`https://hooks.${'slack'}.com/services/T0AAAA/B0BBBB/${letters('hook', 24)}`, letters('hook', 24), 'webhook of Slack'),
  marked(`https://${'discord'}.com/api/webhooks/123456789/${letters('dhook', 40)}`, letters('dhook', 40), 'webhook of Discord'),
  marked(
    `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${letters('account', 40)}==;`,
    letters('account', 40),
    'connection string'
  ),
  marked(`Server=db;User Id=joe;Password=${letters('conn', 14)};`, letters('conn', 14), 'connection string of a database'),
  marked(base64(`api:${letters('basic', 30)}`), base64(`api:${letters('basic', 30)}`).slice(0, 36), 'base64 of user:key'),
  marked(`Authorization: Bearer ${letters('bearer', 30)}`, letters('bearer', 30), 'bearer'),
  marked(`{"api_key": "${letters('json', 20)}"}`, letters('json', 20), 'JSON in a text'),
  marked(`--api-key ${letters('flag', 20)}`, letters('flag', 20), 'flag'),
  ...LOOSELY_ISSUED.map(([what, prefix]) => marked(prefix + letters(what, 36), letters(what, 36), what)),
  marked('da' + `pi${hex('dapi', 32)}`, hex('dapi', 32), 'Databricks'),
  marked('lsv2_' + `pt_${hex('lsv2', 32)}_${hex('lsv2 end', 10)}`, hex('lsv2', 32), 'LangSmith'),
  marked(
    `NRAK-${letters('nrak', 27, 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789')}`,
    letters('nrak', 27, 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'),
    'New Relic'
  ),
  marked(`joe:${letters('bare host', 12)}@db.example.com`, letters('bare host', 12), 'user:password@host and nothing behind'),
  marked('admin:qzxvwkjpfdb@localhost', 'qzxvwkjpfdb', 'a user that every system has, a password of letters'),
  marked(`root:${letters('tcp', 12)}@tcp(127.0.0.1:3306)/db`, letters('tcp', 12), 'Go, tcp()'),
  marked(`https://${letters('at', 30)}@github.com/o/r.git`, letters('at', 30), 'token@host of a URL'),
  marked(`https://${hex('sentry', 32)}@o1.ingest.sentry.io/1`, hex('sentry', 32), 'DSN of Sentry'),
  marked(`https:/joe:${letters('slash', 14)}@h.example/x`, letters('slash', 14), 'URL whose path was put in order'),
  marked(`os.environ['WANDB_API_KEY'] = '${letters('environ', 20)}'`, letters('environ', 20), 'assigned in Python'),
  marked(`curl -s -u joe:${letters('curl', 14)} https://h.example`, letters('curl', 14), 'curl -u'),
  marked(`密码：${letters('chinese', 12)}`, letters('chinese', 12), 'password in Chinese'),
  marked(`https%3A%2F%2Fjoe%3A${letters('percent', 14)}%40h.example`, letters('percent', 14), 'percent-encoded'),
  marked(`Bearer ${letters('letters', 30).replace(/\d/g, 'x')}`, letters('letters', 30).replace(/\d/g, 'x'), 'bearer of letters alone'),
  marked(
    base64(`PASSWORD=${letters('b64 env', 15)}`),
    base64(`PASSWORD=${letters('b64 env', 15)}`).slice(0, 32),
    'base64 of an assignment'
  ),
  marked(
    base64(JSON.stringify({ auths: { 'r.example': { auth: base64(`joe:${letters('docker', 15)}`) } } })),
    base64(JSON.stringify({ auths: { 'r.example': { auth: base64(`joe:${letters('docker', 15)}`) } } })).slice(0, 80),
    'base64 of a login of Docker'
  ),
  marked(base64(base64(`api:${letters('twice', 30)}`)), base64(base64(`api:${letters('twice', 30)}`)).slice(0, 60), 'base64 of base64')
]

const STEMS = [
  'api_key',
  'apikey',
  'access_key',
  'access_token',
  'auth_token',
  'refresh_token',
  'secret',
  'client_secret',
  'password',
  'passwd',
  'passphrase',
  'pwd',
  'credential',
  'credentials',
  'private_key',
  'bearer',
  'cookie',
  'signature',
  'jwt',
  'dsn',
  'PAT',
  'GITHUB_PAT',
  'otp',
  'totp',
  'sas',
  'sas_token',
  'webhook',
  'slack_webhook_url',
  'connection_string',
  'database_url',
  'redis_url',
  'netrc',
  'authorization',
  'session_key',
  'hf_token'
] as const

const camel = (name: string): string => name.toLowerCase().replace(/_([a-z0-9])/g, (_, c: string) => c.toUpperCase())

/** A hundred names and more, each in several spellings. */
export const NAMES: readonly string[] = [
  ...new Set([
    'WANDB_API_KEY',
    'db.password',
    'HFTOKEN',
    'PGPASS',
    'DB_PASS',
    'smtp.pass',
    'mysqlpass',
    'db.pw',
    'DB_URI',
    'sessionid',
    'db_url',
    'hook_url',
    'huggingfacehubtoken',
    'basicauth',
    'SLACK_HOOK_URL',
    '数据库密码',
    ...STEMS.flatMap(stem => [stem, stem.toUpperCase(), camel(stem), stem.replaceAll('_', '-').toLowerCase()])
  ])
]

/** Harmless to look at: only the name says that it is a secret. */
export const UNDER_NAMES: readonly Canary[] = NAMES.map((name, i) =>
  marked(`plain words ${letters(name, 9)}-${i}`, `${letters(name, 9)}-${i}`, name)
)

export const ALL: readonly Canary[] = [...SHAPES, ...UNDER_NAMES]

/** Which canaries a text shows, whole or by one of their ends. */
export function shownIn(text: string, canaries: readonly Canary[] = ALL): string[] {
  const plain = text.replaceAll('\0', '')
  return canaries.flatMap(({ what, needle }) => ([needle.slice(0, 10), needle.slice(-10)].some(end => plain.includes(end)) ? [what] : []))
}

/** Every byte of a file as text, and of what is packed in it: archives, streams of PDF, chunks of PNG, base64 in pages. */
export function everythingIn(bytes: Uint8Array): string {
  const raw = Buffer.from(bytes)
  const text = raw.toString('latin1')
  const parts = [text, raw.toString('utf8')]
  if (text.startsWith('PK')) for (const [name, part] of Object.entries(unzipSync(bytes))) parts.push(name, everythingIn(part))
  for (const match of text.matchAll(/\/FlateDecode[^>]*>>\s*stream\r?\n/g)) {
    const start = match.index + match[0].length
    parts.push(inflateSync(raw.subarray(start, text.indexOf('endstream', start))).toString('latin1'))
  }
  if (text.startsWith('\x89PNG')) {
    for (const match of text.matchAll(/(?:zTXt|iTXt)[^\0]{1,79}\0/g)) parts.push(inflated(raw.subarray(match.index + match[0].length + 1)))
  }
  for (const [, packed] of text.matchAll(/;base64,([A-Za-z0-9+/=]+)/g)) parts.push(everythingIn(Buffer.from(packed, 'base64')))
  return parts.join('\n')
}

function inflated(bytes: Uint8Array): string {
  try {
    return inflateSync(bytes).toString('latin1')
  } catch {
    return ''
  }
}

/** Canaries in the files below a folder, as `file: what`. */
export function shownBelow(folder: string, canaries: readonly Canary[] = ALL): string[] {
  return tree(folder).flatMap(path =>
    [path, ...shownIn(everythingIn(readFileSync(join(folder, path))), canaries).map(what => `${path}: ${what}`)].filter(
      line => line !== path || shownIn(path, canaries).length > 0
    )
  )
}

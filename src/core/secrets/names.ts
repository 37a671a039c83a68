/**
 * Names that stand for a secret, and names that stand for an identity. A name is checked word by word (`wandbApiKey`,
 * `db.password`, `HF_TOKEN`), and once more without its separators.
 */

/**
 * Words that stand for a secret. `key` and `token` count only as whole words: `keys`, `tokens` and `tokenizer` are about
 * numbers and text. `sessionid` is that of a browser; `session_id` is the id of a run's session.
 */
const SECRET_WORDS = new Set([
  'key',
  'apikey',
  'token',
  'secret',
  'secrets',
  'password',
  'passwd',
  'passphrase',
  'pwd',
  'credential',
  'credentials',
  'cred',
  'creds',
  'auth',
  'oauth',
  'authorization',
  'bearer',
  'cookie',
  'cookies',
  'private',
  'signature',
  'sig',
  'sas',
  'dsn',
  'jwt',
  'jwk',
  'jwks',
  'hmac',
  'pw',
  'dbpw',
  'dbpwd',
  'pswd',
  'passwort',
  'kennwort',
  'basicauth',
  'sessionid',
  'pat',
  'otp',
  'totp',
  'mfa',
  'webhook',
  'webhooks',
  'netrc',
  'pgpass',
  'htpasswd',
  'kubeconfig',
  'mnemonic',
  'pem'
])

/**
 * Words that make a `key` or `token` behind them a secret, in names without separators and in the plural too. The short ones
 * count only at the beginning of a word.
 */
const OWNERS = 'api|access|private|auth|refresh|session|bearer|gitlab|github|hub|wandb|openai|anthropic|azure|slack|discord|personal'
const SHORT_OWNERS = 'hf|gh|ssh|aws|gcp|bot|npm|pypi|csrf|xsrf'
const KEY_OWNERS = 'account|shared|storage|service|client|master|encryption|encrypt|signing|license|deploy'
const STORES = 'database|sql|redis|mongo|mongodb|postgres|postgresql|mysql|mariadb|amqp|rabbitmq|broker'
const SECRET_PARTS = new RegExp(
  [
    'secret',
    'passw(?:or)?d',
    'passphrase',
    'passcode',
    'credential',
    'webhook',
    'hook(?:url|uri)',
    'netrc',
    'connection(?:string|str|uri|url)',
    'connstr',
    'seedphrase',
    '(?:recovery|backup)codes?',
    `(?:${OWNERS})(?:key|token)`,
    `(?:${KEY_OWNERS})key`,
    `(?:${STORES})(?:url|uri|dsn)`
  ].join('|')
)
const SECRET_STARTS = new RegExp(
  `_(?:(?:${SHORT_OWNERS})_?(?:key|token)s?|(?:github|gitlab|gh|azure|ado)_?pats?|(?:db|pg)_?(?:url|uri|dsn)|id_?(?:rsa|dsa|ecdsa|ed25519))_`
)

/** Words that end in `pass` and mean no password. */
const HARMLESS_PASS = new Set(['bypass', 'compass', 'encompass', 'overpass', 'surpass', 'trespass', 'underpass'])
/** Neighbours that make `pass` a share of solved tasks or a run through a network: `pass_at_k`, `pass_rate`, `forward_pass`. */
const AFTER_PASS = new Set(['at', 'k', 'rate', 'rates', 'ratio', 'count', 'fraction', 'percent', 'score', 'threshold', 'through'])
const BEFORE_PASS = new Set(['forward', 'backward'])

/** Words for password and key in Chinese, Russian and Spanish. */
const SECRET_ELSEWHERE = /\u5bc6\u7801|\u53e3\u4ee4|\u5bc6\u94a5|\u79c1\u94a5|\u043f\u0430\u0440\u043e\u043b\u044c|contrase\u00f1a/i

/**
 * Neighbours with which `key` or `token` is no secret: a column (`prompt_key`), a part of a network (`key_value_heads`), a
 * piece of text (`eos_token`).
 */
const BEFORE_KEY = new Set([
  'prompt',
  'response',
  'reward',
  'fn',
  'image',
  'video',
  'audio',
  'answer',
  'question',
  'solution',
  'target',
  'val',
  'messages',
  'metric',
  'text',
  'label',
  'input',
  'output',
  'feature',
  'column',
  'step',
  'primary',
  'foreign',
  'group',
  'sort',
  'dict',
  'cache',
  'head',
  'kv',
  'query',
  'num'
])
const AFTER_KEY = new Set([
  'value',
  'values',
  'heads',
  'head',
  'padding',
  'dim',
  'dims',
  'size',
  'proj',
  'cache',
  'metrics',
  'steps',
  'insights'
])
const BEFORE_TOKEN = new Set([
  'eos',
  'bos',
  'pad',
  'unk',
  'mask',
  'cls',
  'sep',
  'special',
  'image',
  'video',
  'audio',
  'stop',
  'think',
  'per',
  'num',
  'n',
  'first',
  'last',
  'next',
  'max',
  'min',
  'mean',
  'avg',
  'generated',
  'prompt',
  'response',
  'critic',
  'actor'
])
const AFTER_TOKEN = new Set([
  'count',
  'counts',
  'level',
  'mean',
  'sum',
  'budget',
  'type',
  'loss',
  'scores',
  'score',
  'entropy',
  'kl',
  'throughput',
  'efficiency',
  'limit',
  'length',
  'len',
  'num',
  'rate',
  'accuracy',
  'acc',
  'logprob',
  'logprobs',
  'position',
  'positions',
  'reward',
  'rewards',
  'advantages',
  'values'
])

function isCounted(word: string, before: string, after: string): boolean {
  if (word === 'key') return BEFORE_KEY.has(before) || AFTER_KEY.has(after)
  return word === 'token' && (BEFORE_TOKEN.has(before) || AFTER_TOKEN.has(after))
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/(?<![a-z])pass@/g, 'pass_at_')
    .split(/[^a-z0-9]+/)
}

/** Characters of a name that are checked. No name of a setting is longer. */
const MAX_NAME = 1000

/** True for `HF_TOKEN`, `wandbApiKey`, `db.password`, `PGPASS`, `GITHUB_PAT`; false for `max_tokens`, `keyboard`, `bypass`, `pass@1`. */
export function isSecretName(name: string): boolean {
  const looked = name.slice(0, MAX_NAME)
  const words = wordsOf(looked)
  return (
    words.some((word, i) => SECRET_WORDS.has(word.replace(/\d+$/, '')) && !isCounted(word, words[i - 1], words[i + 1])) ||
    SECRET_ELSEWHERE.test(looked) ||
    SECRET_PARTS.test(words.join('')) ||
    SECRET_STARTS.test(`_${words.join('_')}_`) ||
    words.some(isPass)
  )
}

/** True for `DB_PASS`, `mysqlpass`, `PASS_PROD`. */
function isPass(word: string, i: number, words: readonly string[]): boolean {
  if (word !== 'pass') return word.endsWith('pass') && !HARMLESS_PASS.has(word)
  return !AFTER_PASS.has(words[i + 1]) && !BEFORE_PASS.has(words[i - 1])
}

/**
 * Words in names of fields that hold ids or names, hexadecimal or not: of runs, traces, contents and revisions, and of what a
 * message tells.
 */
const IDENTITY_WORDS = new Set([
  'uid',
  'uids',
  'uuid',
  'guid',
  'id',
  'ids',
  'run',
  'runs',
  'hash',
  'hashes',
  'sha',
  'sha1',
  'sha256',
  'sha512',
  'md5',
  'crc',
  'checksum',
  'digest',
  'etag',
  'oid',
  'revision',
  'revisions',
  'rev',
  'commit',
  'git',
  'version',
  'npz',
  'path',
  'file',
  'from',
  'member',
  'name',
  'names',
  'display',
  'label',
  'labels',
  'source',
  'folder',
  'snapshot',
  'branch',
  'ref',
  'tree',
  'parent',
  'checkpoint',
  'ckpt',
  'message'
])

/** True for `uid`, `run_id`, `sha256`, `revisions.verl`: forty hexadecimal digits there are no key. */
export function isIdentityName(name: string): boolean {
  return !isSecretName(name) && wordsOf(name.slice(0, MAX_NAME)).some(word => IDENTITY_WORDS.has(word))
}

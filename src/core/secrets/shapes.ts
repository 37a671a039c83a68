/**
 * Shapes of secrets in a text. Every pattern takes linear time: each repetition is bounded, or ends where no other match
 * could begin. A group named `secret` is the part to withhold; without it the whole match is withheld.
 */

/** A token does not begin behind a letter or digit. It may begin behind `_` and `-`, which join it to a name. */
const START = '(?<![A-Za-z0-9])'

/** Tokens with a mark of their issuer that no word contains. */
const ISSUED = [
  '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{12,}',
  'whsec_[A-Za-z0-9+/=]{16,}', // Stripe
  'gh[pousr]_[A-Za-z0-9]{20,}',
  'github_pat_\\w{20,}', // GitHub
  'gl(?:pat|rt|dt|ptt|soat|cbt)-[\\w-]{16,}',
  'ATATT3[\\w=-]{20,}',
  'ATBB[A-Za-z0-9]{20,}', // GitLab, Atlassian
  '(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])', // AWS key id
  'AIza[\\w-]{30,}',
  'ya29\\.[\\w-]{20,}',
  'GOCSPX-[\\w-]{20,}', // Google
  'xox[abeoprs]-[\\w-]{10,}',
  'xapp-\\d-[\\w-]{10,}', // Slack
  'wandb_v\\d_\\w{20,}',
  'local-[0-9a-f]{40}(?![0-9A-Za-z])', // W&B, new and of an own server
  'npm_[A-Za-z0-9]{30,}',
  'dckr_pat_[\\w-]{20,}',
  'dop_v1_[0-9a-f]{40,}',
  'rubygems_[0-9a-f]{40,}', // registries, DigitalOcean
  'SG\\.[\\w-]{16,64}\\.[\\w-]{20,}',
  'key-[0-9a-f]{32}(?![0-9A-Za-z])',
  'SK[0-9a-f]{32}(?![0-9A-Za-z])', // SendGrid, Mailgun, Twilio
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}',
  'hv[sbr]\\.[\\w-]{20,}',
  'tskey-[\\w-]{16,}',
  'AGE-SECRET-KEY-1[A-Z0-9]{20,}',
  'nvapi-[\\w-]{20,}',
  'lin_api_[A-Za-z0-9]{20,}',
  'sq0(?:atp|csp)-[\\w-]{20,}',
  'dapi[0-9a-f]{32}(?![0-9A-Za-z])', // NVIDIA, Linear, Square, Databricks
  'lsv2_(?:pt|sk)_[0-9a-f]{32}',
  'NRAK-[A-Z0-9]{20,}',
  'pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}',
  'sbp_[0-9a-f]{40}', // LangSmith, New Relic, Airtable, Supabase
  '\\d{8,10}:AA[\\w-]{32,}', // bots of Telegram
  'eyJ[\\w-]{8,1024}\\.eyJ[\\w-]{8,}\\.[\\w-]*' // JSON web token
]

/** Tokens with a mark that names begin with too (`sk-step-by-step`, `hf_rollout`): what follows must look random. */
const LOOSELY_ISSUED: readonly (readonly [needs: Shape['needs'], source: string])[] = [
  [['hf_', 'api_org_'], '(?:hf_|api_org_)(?<drawn>[A-Za-z0-9]{16,})'], // Hugging Face
  [['sk-'], 'sk-(?<drawn>[A-Za-z0-9_-]{16,})'],
  [['pypi-'], 'pypi-(?<drawn>[\\w-]{40,})'], // OpenAI, Anthropic; PyPI
  [['xai-', 'pplx-', 'tvly-'], '(?:xai|pplx|tvly(?:-dev)?)-(?<drawn>[\\w-]{16,})'], // xAI, Perplexity, Tavily
  [['gsk_', 'r8_', 'fw_'], '(?:gsk|r8|fw)_(?<drawn>[A-Za-z0-9]{20,})'], // Groq, Replicate, Fireworks
  [['secret_', 'ntn_', 'figd_', 'e2b_'], '(?:secret|ntn|figd|e2b)_(?<drawn>[\\w-]{20,})'], // Notion, Figma, E2B
  [['glsa_', 'glc_', 'sntrys_', 'pscale_tkn_'], '(?:glsa|glc|sntrys|pscale_tkn)_(?<drawn>[\\w=+/-]{20,})'], // Grafana, Sentry, PlanetScale
  [['dp.pt.'], 'dp\\.pt\\.(?<drawn>[A-Za-z0-9]{20,})'], // Doppler
  [/\.[\w-]{6}\./, '(?<drawn>[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.[\\w-]{27,})'] // bots of Discord
]

/** Addresses of webhooks: whoever knows one needs no password. */
const HOOKS = [
  'hooks\\.slack\\.com/(?:services|workflows|triggers)/',
  '(?:discord|discordapp)\\.com/api/(?:v\\d{1,3}/)?webhooks/',
  'hooks\\.zapier\\.com/hooks/catch/',
  '[\\w-]{1,63}\\.webhook\\.office\\.com/',
  'outlook\\.office(?:365)?\\.com/webhook/',
  'open\\.(?:feishu\\.cn|larksuite\\.com)/open-apis/bot/v2/hook/',
  'api\\.telegram\\.org/bot'
]

/** A host. A version behind `@` is none: `swe:django@v2.1/rollout_3`. */
const HOST =
  '(?!sha\\d)(?!v?\\d{1,8}(?:\\.\\d{1,8}){0,2}(?![\\w.]))(?=[\\w-]{0,63}[A-Za-z.])(?:[\\w-]{1,63}\\.){0,8}[\\w-]{0,62}[A-Za-z0-9]'
const USER = '(?<![\\w.+/@:-])[\\w.+-]{1,64}'
/**
 * Users that many systems have: in any text a password may follow them. Words before an address are no users:
 * `mailto:joe99@example.org`.
 */
const WELL_KNOWN_USER = '(?:root|admin|administrator|postgres|mysql|user|username|sa|guest|api|oauth2?|git|token|x-access-token|__token__)'
const NO_USER = '(?!(?:mailto|e-?mail|contact|authors?|from|to|cc|by|sip|xmpp|acct|note|see):)'

/** What may be the end of a user's password before a host. */
const PASSWORD_AT = /:[^\s/@:]*@/

interface Shape {
  /**
   * quick test: every text that matches holds one of these texts, or matches this pattern. Nearly no text does, and the long
   * pattern takes the engine long to compile
   */
  readonly needs: readonly string[] | RegExp
  /** groups: `secret` is what to withhold; `drawn` must look random; `mixed` must have letters beside digits, or be random */
  readonly pattern: RegExp
  /** in a field of ids and names the secret must look random: `env:aime2024@test/1` is an id */
  readonly loose?: true
}

export const SHAPES: readonly Shape[] = [
  { needs: /[\w+/=.-]{12}/, pattern: new RegExp(`${START}(?:${ISSUED.join('|')})`, 'g') },
  ...LOOSELY_ISSUED.map(([needs, source]) => ({ needs, pattern: new RegExp(`${START}${source}`, 'g') })),
  { needs: /hook|telegram/i, pattern: new RegExp(`(?:${HOOKS.join('|')})(?<secret>[^\\s"'<>]+)`, 'gi') },
  {
    needs: ['PRIVATE KEY'],
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\w+/=\s:,-]*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)/g
  },
  // user:password@host of a URL. A normalised path has one of the two slashes; JSON may escape both
  { needs: PASSWORD_AT, pattern: /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}:(?:\\?\/){1,2}[^\s/:@]*:(?<secret>[^\s/@]+)@/gi },
  // token@host of a URL: GitHub, a DSN of Sentry
  { needs: /[\w.~%+-]{16}@/, pattern: /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}:(?:\\?\/){1,2}(?<drawn>(?<secret>[\w.~%+-]{16,255}))@/gi },
  // The same without a scheme, where a port or a path follows. An image with its digest does not match.
  {
    needs: PASSWORD_AT,
    loose: true,
    pattern: new RegExp(`${USER}:(?<secret>[^\\s:/@"'<>]{3,128})@${HOST}(?::\\d{2,5}(?![\\d.])|(?=/\\w))`, 'g')
  },
  // The same where nothing follows: the password of a user that many systems have, or a text that looks like a password
  {
    needs: PASSWORD_AT,
    pattern: new RegExp(`(?<![\\w.+/@:-])${WELL_KNOWN_USER}:(?<secret>[^\\s:/@"'<>]{2,128})@(?:tcp\\(|unix\\(|${HOST})`, 'gi')
  },
  {
    needs: PASSWORD_AT,
    loose: true,
    pattern: new RegExp(
      `(?<![\\w.+/@:-])${NO_USER}[\\w.+-]{1,64}:(?<mixed>(?<secret>[^\\s:/@"'<>]{6,128}))@(?=localhost|[\\w-]{1,63}[.(])(?:tcp\\(|unix\\(|${HOST})`,
      'gi'
    )
  },
  {
    needs: /authorization/i,
    pattern: /authorization\\{0,3}["']?\s{0,4}[=:]\s{0,4}\\{0,3}["']?(?:bearer|basic|token|digest)\s{1,8}(?<secret>[^\s"',;\\]{8,})/gi
  },
  {
    needs: /bearer\s/i,
    pattern: /(?<![A-Za-z0-9])bearer\s{1,8}(?<secret>(?=[A-Za-z+/=_.-]{0,64}\d)[A-Za-z0-9+/=_.-]{16,}|[A-Za-z0-9]{20,})/gi
  },
  {
    needs: /(?:bearer|basic|token)\s/i,
    pattern: /(?<![A-Za-z0-9])(?:bearer|basic|token)\s{1,8}(?<drawn>(?<secret>[A-Za-z0-9+/=_.-]{16,}))/gi
  },
  // Query of a signed URL (Azure, S3, Google), and parameters whose names mean a secret.
  {
    needs: ['='],
    pattern:
      /[?&;#](?:sig|signature|x-(?:amz|goog|oss|cos)-(?:signature|credential|security-token)|AWSAccessKeyId|ossaccesskeyid|access_?token|api_?key|password|secret)=(?<secret>[^\s&#"'<>]{4,})/gi
  },
  // `?key=step`: a secret only where the value looks like one
  { needs: ['='], pattern: /[?&;#](?:auth|token|key|code)=(?<mixed>(?<secret>[^\s&#"'<>]{6,}))/gi },
  { needs: ['='], pattern: /[?&;#](?:auth|token|key|code)=(?<secret>[A-Za-z0-9]{20,})/gi },
  // netrc
  {
    needs: ['password'],
    pattern:
      /(?<![\w-])(?:machine\s{1,20}[^\s]{1,255}|default)\s{1,20}(?:(?:login|account)\s{1,20}[^\s]{1,255}\s{1,20}){0,2}password\s{1,20}(?<secret>[^\s]+)/g
  },
  {
    needs: ['curl', 'wget'],
    pattern: /(?<!\w)(?:curl|wget)\b[^\n|;]{0,200}?\s(?:-u|--user|--proxy-user)[ =]{0,2}["']?[^\s:"']{1,64}:(?<secret>[^\s"']{2,})/g
  },
  {
    needs: /[\u5bc6\u53e3\u79c1\u4ee4][\u7801\u94a5\u4ee4\u724c]/,
    pattern:
      /(?:\u5bc6\u7801|\u53e3\u4ee4|\u5bc6\u94a5|\u79c1\u94a5|\u4ee4\u724c)\s{0,4}(?:[=:\uff1a]|\u662f|\u4e3a)\s{0,4}["'\u201c]?(?<secret>[!-~]{2,})/g
  }
]

/** A W&B key. A git commit looks the same; a number of forty digits is neither. */
export const BARE_HEX = /(?<![0-9A-Za-z/\\@])(?!\d{40})(?:[0-9a-f]{40}|[0-9A-F]{40})(?![0-9A-Za-z])/g
/** Characters before the digits that are looked at. */
export const BEFORE_HEX = 48
/** Words before forty digits that make them an id or a revision. */
export const BEFORE_IDENTITY =
  /(?:^|[^A-Za-z])(?:build|commit|revision|rev|sha|sha-?1|hash|checksum|digest|tree|blob|ref|version|uid|id|run)s?["'`\\]{0,3}[ \t]?[:=#([]?[ \t]?["'`\\]{0,3}$/i
/**
 * On a line that does not speak of keys, digits are a commit behind `@`, `at`, `merge`, `branch` or a command of git, in
 * brackets behind a word, in a cell of a table, and in backticks.
 */
export const BEFORE_COMMIT =
  /(?:@[ \t]?|(?<![A-Za-z])(?:at|merge|branch [\w./-]{1,30}:?)[ \t]|\bgit[ \t][\w -]{1,30}[ \t]|[\w.][ \t]?\(|\|[ \t]{0,8}`?|`)$/
export const SPEAKS_OF_KEYS = /key|token|secret|passw|login|auth|cred|wandb|\u5bc6|\u53e3\u4ee4/i
/** Digits are a commit, too, before a ref and at the beginning of the name of a path or a file. */
export const AFTER_COMMIT = /^(?:[ \t]{1,4}refs\/|[/\\]\w|\.(?:npz|jsonl?|html|parquet|pt|safetensors)(?!\w))/

/** Base64 in either alphabet, long enough for `a:bcd` or more. A shorter or longer run is no user and password. */
export const BASE64_RUN = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{11,4096}={0,2}(?![A-Za-z0-9+/_=-])/g
export const USER_AND_SECRET = /^[^\s:]{0,64}:(?<secret>[^\s:]{4,})$/
/** In a field of ids only the password of such a user counts: other words before a colon are kinds of tasks. */
export const KNOWN_USER = new RegExp(`^${WELL_KNOWN_USER}:`, 'i')

/** A run of characters that may be percent-encoded. */
export const PERCENT_RUN = /[^\s"'<>]{1,4096}/g

/** Names of variables: `${HF_TOKEN:-…}`. */
export const VARIABLE = /\$\{?[!#]?([A-Za-z_]\w{0,200})\}?/g

/**
 * The beginning of an assignment or a flag: `--api-key abc`, `password=abc`, `"token": "abc"`, `['token'] = 'abc'`. Groups
 * are flag, name and separator.
 */
export const ASSIGNED = new RegExp(
  '(?:--([A-Za-z][\\w-]{0,80})(?![\\w-])|(?<![\\w.-])([A-Za-z_][\\w.-]{0,80}))' +
    '(\\\\{0,3}["\'`]?\\]?\\s{0,4}[=:\uff1a]=?\\s{0,4}|(?<=--[\\w-]{1,81})\\s{1,4})',
  'g'
)
/** The assigned value, behind the separator; quotes may be escaped. */
export const ASSIGNED_VALUE = /\\{0,3}"(?:[^"\\\n]|\\(?!["\n]))*(?:\\{0,3}")?|'[^'\n]*'?|`[^`\n]*`?|[^\s"'`<>]*/y

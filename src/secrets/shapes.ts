/**
 * Shapes of secrets in a text. Every pattern is linear in the text: each repetition is bounded, or ends where no other
 * match could begin. A group named `secret` is the part to withhold; without one it is the whole match.
 */

/** Not behind a letter or digit: `_` and `-` may join a token to a name. */
const START = '(?<![A-Za-z0-9])'

/** Tokens that their issuers mark. */
const ISSUED = [
  'hf_[A-Za-z0-9]{16,}', // Hugging Face
  'sk-[A-Za-z0-9_-]{16,}', '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{12,}', 'whsec_[A-Za-z0-9+/=]{16,}', // OpenAI, Anthropic and others; Stripe
  'gh[pousr]_[A-Za-z0-9]{20,}', 'github_pat_\\w{20,}', // GitHub
  'gl(?:pat|rt|dt|ptt|soat|cbt)-[\\w-]{16,}', 'ATATT3[\\w=-]{20,}', 'ATBB[A-Za-z0-9]{20,}', // GitLab, Atlassian
  '(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])', // AWS key id
  'AIza[\\w-]{30,}', 'ya29\\.[\\w-]{20,}', 'GOCSPX-[\\w-]{20,}', // Google
  'xox[abeoprs]-[\\w-]{10,}', 'xapp-\\d-[\\w-]{10,}', // Slack
  'wandb_v\\d_\\w{20,}', // W&B, new
  'npm_[A-Za-z0-9]{30,}', 'pypi-[\\w-]{40,}', 'dckr_pat_[\\w-]{20,}', 'dop_v1_[0-9a-f]{40,}', // registries, DigitalOcean
  'SG\\.[\\w-]{16,64}\\.[\\w-]{20,}', 'key-[0-9a-f]{32}(?![0-9A-Za-z])', 'SK[0-9a-f]{32}(?![0-9A-Za-z])', // SendGrid, Mailgun, Twilio
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}', 'hv[sbr]\\.[\\w-]{20,}', 'tskey-[\\w-]{16,}', 'AGE-SECRET-KEY-1[A-Z0-9]{20,}',
  '(?:gsk|r8)_[A-Za-z0-9]{20,}', 'nvapi-[\\w-]{20,}', 'lin_api_[A-Za-z0-9]{20,}', 'sq0(?:atp|csp)-[\\w-]{20,}',
  '\\d{8,10}:AA[\\w-]{32,}', '[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.[\\w-]{27,}', // bots of Telegram and Discord
  'eyJ[\\w-]{8,1024}\\.eyJ[\\w-]{8,}\\.[\\w-]*' // JSON web token
]

/** Addresses that are their own password. */
const HOOKS = [
  'hooks\\.slack\\.com/(?:services|workflows|triggers)/', '(?:discord|discordapp)\\.com/api/(?:v\\d{1,3}/)?webhooks/', 'hooks\\.zapier\\.com/hooks/catch/',
  '[\\w-]{1,63}\\.webhook\\.office\\.com/', 'outlook\\.office(?:365)?\\.com/webhook/', 'open\\.(?:feishu\\.cn|larksuite\\.com)/open-apis/bot/v2/hook/',
  'api\\.telegram\\.org/bot'
]

interface Shape {
  /** what a text has that matches: looked for first, since nearly no text has it */
  readonly needs: string | RegExp
  readonly pattern: RegExp
}

export const SHAPES: readonly Shape[] = [
  { needs: /[\w+/=.-]{12}/, pattern: new RegExp(`${START}(?:${ISSUED.join('|')})`, 'g') },
  { needs: '/', pattern: new RegExp(`(?:${HOOKS.join('|')})(?<secret>[^\\s"'<>]+)`, 'gi') },
  {
    needs: 'PRIVATE KEY',
    pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\w+/=\s:,-]*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[^]*)/g
  },
  // user:password@host of a URL
  { needs: '://', pattern: /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]*:(?<secret>[^\s/@]+)@/gi },
  // The same without a scheme, where a port or a path follows; an image with its digest is none.
  {
    needs: '@',
    pattern: /(?<![\w.+/@:-])[\w.+-]{1,64}:(?<secret>[^\s:/@"'<>]{3,128})@(?!sha\d)(?=[\w-]{0,63}[A-Za-z.])(?:[\w-]{1,63}\.){0,8}[\w-]{0,62}[A-Za-z0-9](?::\d{2,5}(?![\d.])|(?=\/\w))/g
  },
  {
    needs: /bearer|basic|token/i,
    pattern: /(?<![A-Za-z0-9])(?:Bearer|Basic|Token)\s{1,8}(?=[A-Za-z+/=_.-]{0,64}\d)(?<secret>[A-Za-z0-9+/=_.-]{16,})/gi
  },
  // Query of a signed URL: Azure, S3, Google; and anything that calls itself a token or key.
  {
    needs: '=',
    pattern: /[?&;](?:sig|signature|x-(?:amz|goog|oss|cos)-(?:signature|credential|security-token)|AWSAccessKeyId|ossaccesskeyid|access_token|auth|token|key|api_?key|password|secret|code)=(?<secret>[^\s&#"'<>]{4,})/gi
  },
  // netrc
  {
    needs: 'password',
    pattern: /(?<![\w-])(?:machine\s{1,20}[^\s]{1,255}|default)\s{1,20}(?:(?:login|account)\s{1,20}[^\s]{1,255}\s{1,20}){0,2}password\s{1,20}(?<secret>[^\s]+)/g
  }
]

/** A W&B key. A git commit looks the same; it is one in a path, behind `@`, and behind the words below. */
export const BARE_HEX = /(?<![0-9A-Za-z/\\@])(?:[0-9a-f]{40}|[0-9A-F]{40})(?![0-9A-Za-z])/g
export const BEFORE_IDENTITY =
  /(?:^|[^A-Za-z])(?:commit|revision|rev|sha|sha-?1|hash|checksum|digest|tree|blob|ref|version|uid|id|run)s?["'`\\]{0,3}[ \t]?[:=#([]?[ \t]?["'`\\]{0,3}$/i

/** Long enough for `a:bcd` and more in base64; both alphabets. A shorter run, or a longer one, is no user and password. */
export const BASE64_RUN = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{11,4096}={0,2}(?![A-Za-z0-9+/_=-])/g
export const USER_AND_SECRET = /^[\w.+@-]{1,64}:[\x21-\x7e]{4,}$/

/** Names of variables: `${HF_TOKEN:-…}`. */
export const VARIABLE = /\$\{?[!#]?([A-Za-z_]\w{0,200})\}?/g

/** The beginning of an assignment, or a flag: `--api-key abc`, `password=abc`, `"token": "abc"`. Groups: flag, name, separator. */
export const ASSIGNED = new RegExp(
  '(?:--([A-Za-z][\\w-]{0,80})(?![\\w-])|(?<![\\w.-])([A-Za-z_][\\w.-]{0,80}))' +
  '(\\\\{0,3}["\'`]?\\s{0,4}[=:]=?\\s{0,4}|(?<=--[\\w-]{1,81})\\s{1,4})', 'g'
)
/** What is assigned, from where the separator ends; quotes may be escaped. */
export const ASSIGNED_VALUE = /\\{0,3}"(?:[^"\\\n]|\\(?!["\n]))*(?:\\{0,3}")?|'[^'\n]*'?|`[^`\n]*`?|[^\s"'`<>]*/y

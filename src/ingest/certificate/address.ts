/**
 * The address of a W&B server: `https://api.wandb.ai`, or a self-hosted one, possibly below a path. Queries go to
 * `<base>/graphql`, as W&B's own tools send them.
 *
 * The address is https, because an API key travels with every request. http is allowed for this machine only. A message
 * about a refused address quotes at most its scheme or its host: the rest may be a secret, put there by mistake.
 *
 * Where the address comes from is for `fetch/settings.ts` and the command line to say.
 */
import { EXIT, Fault, printable } from '../../core/errors.js'

export interface Address {
  /** its path has no trailing slash; an empty path is `/` */
  readonly base: URL
  /** where queries are sent: base + `/graphql` */
  readonly endpoint: URL
  /** host name, with the port unless it is the scheme's default; also the name of the entry in the netrc file */
  readonly host: string
  /** where run pages are, without a trailing slash: `https://wandb.ai`, or the base of a self-hosted server */
  readonly site: string
}

export const DEFAULT_BASE_URL = 'https://api.wandb.ai'

const DEFAULT_SITE = 'https://wandb.ai'

/** Hosts of the pages for people. They answer a query with HTML. */
const SITES: ReadonlySet<string> = new Set(['wandb.ai', 'www.wandb.ai', 'app.wandb.ai'])

const EXPECTED = 'an address such as https://api.wandb.ai (http for this machine only)'

/** `new URL` repairs backslashes, line breaks and a missing slash. An address that needs a repair is refused. */
const PLAIN = /^https?:\/\/[^\s\\\p{Cc}/?#]+(?:\/[^\s\\\p{Cc}]*)?$/iu

function wrongBaseUrl(found: string, expected: string = EXPECTED): Fault {
  return new Fault({ format: 'wandb', problem: 'wrong base URL', found, expected, exitCode: EXIT.usage })
}

/** localhost, 127.0.0.0/8 and ::1, as `URL` normalises them. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/**
 * @throws Fault exit 2: the text is no address; the scheme is not https (http is allowed to localhost, 127.0.0.0/8 and
 * [::1]); the address holds credentials, a query or a fragment; its host is W&B's site for people
 */
export function parseAddress(text: string): Address {
  if (text.includes('?') || text.includes('#')) throw wrongBaseUrl('a query or a fragment in it')
  if (/^[a-z]+:\/\/[^/]*@/i.test(text)) throw wrongBaseUrl('credentials in it', `${EXPECTED}; the key comes from the environment`)
  if (!PLAIN.test(text) || !URL.canParse(text)) {
    const scheme = /^([a-z][a-z0-9+.-]{0,15}):\/\//i.exec(text)?.[1]
    throw wrongBaseUrl(scheme === undefined || /^https?$/i.test(scheme) ? 'no address' : `scheme ${scheme}`)
  }
  const base = new URL(text)
  base.pathname = base.pathname.replace(/\/+$/, '')
  const { protocol, host, hostname, pathname } = base
  if (protocol === 'http:' && !isLoopback(hostname)) {
    throw wrongBaseUrl(`http to ${printable(hostname)}`, 'https: the API key would travel unencrypted')
  }
  if (pathname.endsWith('/graphql')) throw wrongBaseUrl('an address with /graphql', 'it without: the path is added')
  if (SITES.has(hostname)) throw wrongBaseUrl(`${hostname}, the site for people`, DEFAULT_BASE_URL)
  const origin = `${protocol}//${host}`
  const path = pathname === '/' ? '' : pathname
  const endpoint = new URL(`${origin}${path}/graphql`)
  return { base, endpoint, host, site: siteOf(`${origin}${path}`) }
}

/** The base as text, without a trailing slash, for messages. */
export function addressText({ base }: Address): string {
  return base.href.replace(/\/$/, '')
}

/** Base of the run pages of a server. @param server as `addressText` writes it */
export function siteOf(server: string): string {
  return server === DEFAULT_BASE_URL ? DEFAULT_SITE : server
}

/** Address of a run's page. */
export function runUrl(site: string, { entity, project, id }: Readonly<Record<'entity' | 'project' | 'id', string>>): string {
  return `${site}/${[entity, project, 'runs', id].map(part => encodeURIComponent(part.toWellFormed())).join('/')}`
}

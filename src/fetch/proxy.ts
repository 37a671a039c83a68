/**
 * The proxy for requests to a server: HTTPS_PROXY (else ALL_PROXY), unless NO_PROXY names the server. Names of variables in
 * small letters count first, as in curl and in W&B's own tools.
 *
 * A request goes through a tunnel (CONNECT): the proxy sees the server's name and nothing of the request, and the server's
 * certificate is checked as without a proxy. Requests to the loopback interface are never sent to a proxy when they are http:
 * the key would travel unencrypted.
 *
 * NO_PROXY is a list separated by commas or spaces: a host name, which stands for the names below it too (with or without a
 * dot or `*.` in front), an address, either with `:port`, or `*`. Not supported: ranges of addresses (10.0.0.0/8), SOCKS,
 * automatic configuration.
 */
import type { Agent } from 'node:http'
import { EXIT, Fault, printable } from '../core/errors.js'

export interface ProxyServer {
  /** `host:port`, for messages; without the user and password that its address may have */
  readonly host: string
  /** the address of the proxy; a secret, where it holds a password */
  readonly url: URL
}

/** @throws Fault exit 2, without quoting the address: one that is no http or https address */
export function findProxy(env: NodeJS.ProcessEnv, { protocol, hostname, port }: URL): ProxyServer | null {
  if (protocol !== 'https:') return null
  const variable = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].find(name => (env[name] ?? '') !== '')
  if (variable === undefined) return null
  const exceptions = env['no_proxy'] || env['NO_PROXY'] || ''
  if (exceptions.split(/[\s,]+/).some(entry => excepts(entry.toLowerCase(), hostname.replace(/^\[|\]$/g, ''), port || '443'))) return null
  const text = env[variable] ?? ''
  const written = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(written) ? new URL(written) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    const scheme = /^([a-z][a-z0-9+.-]{0,15}):\/\//i.exec(text)?.[1]
    throw new Fault({
      format: 'wandb',
      problem: 'wrong proxy',
      found: scheme === undefined || /^https?$/i.test(scheme) ? `${variable} is no address` : `${variable} has the scheme ${scheme}`,
      expected: 'http://host:port or https://host:port',
      exitCode: EXIT.usage
    })
  }
  return { host: printable(url.host), url }
}

function excepts(entry: string, hostname: string, port: string): boolean {
  if (entry === '') return false
  if (entry === '*') return true
  const bracketed = /^\[(.+)\](?::(\d+))?$/.exec(entry)
  const plain = /^([^:]+)(?::(\d+))?$/.exec(entry)
  // Neither: an IPv6 address without brackets, which has colons of its own.
  const [, name, only = port] = bracketed ?? plain ?? [entry, entry]
  const bare = name.replace(/^\*?\./, '')
  return only === port && (hostname === bare || hostname.endsWith(`.${bare}`))
}

/** An agent whose connections go through the proxy. The library is loaded here only: it costs 11 ms. */
export async function tunnelAgent({ url }: ProxyServer, maxSockets: number): Promise<Agent> {
  const { HttpsProxyAgent } = await import('https-proxy-agent')
  return new HttpsProxyAgent(url, { keepAlive: true, maxSockets, rejectUnauthorized: true }) as unknown as Agent
}

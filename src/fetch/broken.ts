/**
 * Classifies the code of a failed connection. A failure that may pass leads to a retry. One that does not pass (an unknown
 * host, a certificate, a server with another protocol) is a Fault.
 */
import type { Fault } from '../core/errors.js'

/** The connection failed for a reason that may pass: the request can be sent again. */
export interface Broken {
  readonly kind: 'broken'
  readonly reason: string
}

/** Makes the faults of one request, with its address and its subject. */
export type FaultMaker = (problem: string, found: string, expected: string) => Fault

/** Codes of X.509 verification, as listed in node's documentation of `tls`, with words for the common ones. */
const CERTIFICATE_PROBLEMS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'of an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'of an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'of an authority that is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'of an authority that is not known here',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'for another host',
  HOSTNAME_MISMATCH: 'for another host',
  CERT_REVOKED: 'revoked'
}

const CERTIFICATE_CODES =
  /^(?:CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|CRL_|ERROR_IN_C|INVALID_CA$|INVALID_PURPOSE$|PATH_L|HOSTNAME_M)/

export const PREMATURE_CLOSE = 'ERR_STREAM_PREMATURE_CLOSE'

const REASONS: Readonly<Record<string, string>> = {
  ECONNRESET: 'connection reset (ECONNRESET)',
  ECONNREFUSED: 'connection refused (ECONNREFUSED)',
  ETIMEDOUT: 'no connection (ETIMEDOUT)',
  EAI_AGAIN: 'no answer of the name server (EAI_AGAIN)'
}

/**
 * @param code of node's error
 * @param answered whether the status and headers had arrived
 * @throws Fault for a failure that does not pass
 */
export function brokenOf(code: string, answered: boolean, url: URL, fault: FaultMaker): Broken {
  const { hostname } = url
  if (code === 'ENOTFOUND') {
    throw fault('host unknown', `no address of ${hostname} (${code})`, 'a host that the name server knows')
  }
  if (CERTIFICATE_CODES.test(code)) {
    const problem = CERTIFICATE_PROBLEMS[code]
    throw fault(
      'certificate refused',
      problem === undefined ? code : `${problem} (${code})`,
      `a certificate for ${hostname} that this machine trusts; NODE_EXTRA_CA_CERTS can name a file with the authority's`
    )
  }
  if (/^(?:EPROTO$|ERR_SSL_|ERR_TLS_)/.test(code)) throw fault('TLS failed', code, `a server that speaks TLS at ${url.host}`)
  if (code.startsWith('HPE_')) throw fault('answer not HTTP', code, `a server that speaks HTTP at ${url.host}`)
  if (!/^[A-Z\d_]+$/.test(code)) throw fault('request failed', 'an error without a code', 'an answer')
  if (code.startsWith('ERR_') && code !== PREMATURE_CLOSE) throw fault('request failed', code, 'an answer')
  if (answered) return { kind: 'broken', reason: 'answer cut short' }
  return { kind: 'broken', reason: REASONS[code] ?? `connection failed (${code})` }
}

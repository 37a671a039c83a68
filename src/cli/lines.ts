/** Faults as lines on standard error: one line each, a limited number of lines, stack traces only when asked for. */
import { formatCount } from '../core/counts.js'
import type { Fault } from '../core/errors.js'
import { withoutSecrets } from '../core/secrets.js'

/** Beyond this many lines the rest is counted. */
const MAX_LINES = 20

export function faultLines(faults: readonly Fault[], verbose: boolean): string[] {
  const shown = faults.slice(0, MAX_LINES).map(f => `critic-traces: ${verbose ? withCauses(f) : f.message}`)
  return faults.length > MAX_LINES
    ? [
        ...shown,
        `critic-traces: and ${formatCount(faults.length - MAX_LINES)} more like ${faults.length - MAX_LINES === 1 ? 'this' : 'these'}`
      ]
    : shown
}

function withCauses(error: Error): string {
  const { cause } = error
  // The engine's message quotes a piece of the text that it could not parse. The piece may end inside a secret, so it is left out.
  const { message, stack = message } = error
  const own = withoutSecrets(error instanceof SyntaxError ? stack.replace(message, message.replace(/"[\s\S]*"/, '"…"')) : stack, false)
  return cause instanceof Error ? `${own}\n  caused by ${withCauses(cause)}` : own
}

/**
 * How the emulated server misbehaves: by a list of rules or a function that looks at each request. Behaviours of different
 * kinds add up (a slow answer that is cut); of two that would answer, the first one does.
 */

export type Behaviour =
  /** this status in place of an answer */
  | {
      readonly kind: 'status'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  /** the connection is reset */
  | { readonly kind: 'reset' }
  /** the answer comes later, or not at all */
  | { readonly kind: 'slow'; readonly ms: number | 'never' }
  /** content-length says more than is sent; chunks without the last one; gzip that ends early; JSON that ends early */
  | { readonly kind: 'truncate'; readonly how: 'length' | 'chunked' | 'gzip' | 'text' }
  /** HTTP 200 with `errors: [{message}]`, `errors: [message]` or `{error: message}` */
  | { readonly kind: 'errors200'; readonly form: 'objects' | 'strings' | 'error'; readonly message?: string }
  /** `project` or `run` is null */
  | { readonly kind: 'nullProject' | 'nullRun' }
  /** a page of history without its rows; a page of runs without its runs, which come with the next one */
  | { readonly kind: 'emptyPage' }
  /** the rows of a page in another order */
  | { readonly kind: 'outOfOrder' }
  /** a page of history has one row of another window (of its own where there is no other) */
  | { readonly kind: 'duplicateRows' }
  /** a page of history lacks the row in its middle */
  | { readonly kind: 'missingRow' }
  /** after this request the run has more rows: these, or so many like its last one */
  | { readonly kind: 'grow'; readonly run: string; readonly rows: number | readonly string[] }
  /** after this request the run has another display name, or another state */
  | { readonly kind: 'rename'; readonly run: string; readonly displayName: string }
  | { readonly kind: 'setState'; readonly run: string; readonly state: string }
  /** 307 (or another) to a URL */
  | { readonly kind: 'redirect'; readonly to: string; readonly status?: 301 | 302 | 303 | 307 | 308 }
  /** a login page with HTTP 200 */
  | { readonly kind: 'html' }
  /** the answer itself holds a bare NaN, which is no JSON */
  | { readonly kind: 'bareNaN' }
  /** an error message that repeats the Authorization header and the key in it */
  | { readonly kind: 'echoKey'; readonly status?: number }
  /** anything else: the answer as JSON, changed */
  | { readonly kind: 'edit'; readonly edit: (answer: unknown) => unknown }

export type BehaviourOf<K extends Behaviour['kind']> = Extract<Behaviour, { kind: K }>

export interface ScriptedRequest {
  /** 0-based among all requests */
  readonly index: number
  /** name of the operation; null where it has none or the request is no GraphQL */
  readonly operation: string | null
  /** every field that the query asks for: `history`, `runs` … */
  readonly fields: readonly string[]
  readonly variables: Readonly<Record<string, unknown>>
  /** from 1: how often the same query came with the same variables */
  readonly attempt: number
}

export type ScriptFunction = (request: ScriptedRequest) => Behaviour | readonly Behaviour[] | null

/** Applies where everything that it names fits. */
export interface Rule {
  readonly index?: number
  readonly operation?: string
  /** a field that the query asks for */
  readonly field?: string
  /** variables with these values */
  readonly variables?: Readonly<Record<string, unknown>>
  readonly attempt?: number
  /** how often it applies at most; default: always */
  readonly times?: number
  readonly then: Behaviour | readonly Behaviour[]
}

export type Script = ScriptFunction | readonly Rule[]

function fits(rule: Rule, request: ScriptedRequest): boolean {
  const { index = request.index, operation = request.operation, attempt = request.attempt } = rule
  return (
    index === request.index &&
    operation === request.operation &&
    attempt === request.attempt &&
    (rule.field === undefined || request.fields.includes(rule.field)) &&
    Object.entries(rule.variables ?? {}).every(([name, value]) => JSON.stringify(request.variables[name]) === JSON.stringify(value))
  )
}

/** The script as a function of its own: counts of `times` start at zero. Of several rules that fit, the first applies. */
export function compileScript(script: Script): (request: ScriptedRequest) => readonly Behaviour[] {
  if (typeof script === 'function') return request => [script(request) ?? []].flat()
  const left = script.map(rule => rule.times ?? Infinity)
  return request => {
    const index = script.findIndex((rule, k) => left[k] > 0 && fits(rule, request))
    if (index < 0) return []
    left[index]--
    return [script[index].then].flat()
  }
}

export function find<K extends Behaviour['kind']>(behaviours: readonly Behaviour[], kind: K): BehaviourOf<K> | undefined {
  return behaviours.find((b): b is BehaviourOf<K> => b.kind === kind)
}

/** 429 (or another status) with `Retry-After`: seconds, or an HTTP date. */
export function retryAfter(when: number | Date, status = 429): Behaviour {
  const value = typeof when === 'number' ? String(when) : when.toUTCString()
  return { kind: 'status', status, headers: { 'retry-after': value }, body: '{"errors":[{"message":"rate limit exceeded"}]}' }
}

/**
 * Filters, orders and cursors of `Project.runs`. Filters are MongoDB's, as far as an export needs them: `$and`, `$or`, and
 * equality, `$eq`, `$in` and `$regex` (unanchored, as there) on the display name, the id and the state. Anything else is an
 * error, so that no filter is taken for one that matched.
 */
import { GraphQLError } from 'graphql'
import { secondsOf, type StoredRun } from './store.js'

type Test = (run: StoredRun) => boolean

/** Both spellings work with the real server. */
const FIELDS: Readonly<Record<string, (run: StoredRun) => string | null>> = {
  displayName: run => run.displayName,
  display_name: run => run.displayName,
  name: run => run.name,
  state: run => run.state
}

function refuse(what: string): never {
  throw new GraphQLError(`filters: ${what}`)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function all(tests: readonly Test[]): Test {
  return run => tests.every(test => test(run))
}

function operator(field: (run: StoredRun) => string | null, name: string, operand: unknown): Test {
  if (name === '$eq') return run => field(run) === operand
  if (name === '$in' && Array.isArray(operand)) return run => operand.includes(field(run))
  if (name === '$regex' && typeof operand === 'string') {
    const pattern = new RegExp(operand)
    return run => pattern.test(field(run) ?? '')
  }
  return refuse(`${name} is not supported here`)
}

function condition(key: string, value: unknown): Test {
  if (key === '$and' || key === '$or') {
    if (!Array.isArray(value) || value.length === 0) return refuse(`${key} wants a list`)
    const tests = value.map(compile)
    return key === '$and' ? all(tests) : run => tests.some(test => test(run))
  }
  const field = Object.hasOwn(FIELDS, key) ? FIELDS[key] : refuse(`${key} is not supported here`)
  if (!isObject(value)) return operator(field, '$eq', value)
  return all(Object.entries(value).map(([name, operand]) => operator(field, name, operand)))
}

function compile(filter: unknown): Test {
  if (!isObject(filter)) return refuse('not an object')
  return all(Object.entries(filter).map(([key, value]) => condition(key, value)))
}

/** `+created_at` or `-created_at`; without one the newest run comes first, as the SDK documented while it sent none. */
function direction(order: string | null | undefined): 1 | -1 {
  if (order === '+created_at' || order === 'created_at') return 1
  if (order === '-created_at' || order === null || order === undefined || order === '') return -1
  throw new GraphQLError(`order: ${order} is not supported here`)
}

export interface Selection {
  readonly filters?: string | null
  readonly order?: string | null
}

/** The runs that a filter keeps, in order; ties by id. */
export function selectRuns(runs: readonly StoredRun[], { filters, order }: Selection): readonly StoredRun[] {
  const test = compile(JSON.parse(filters ?? '{}'))
  const sign = direction(order)
  return runs.filter(test).sort((a, b) => sign * (secondsOf(a.createdAt) - secondsOf(b.createdAt) || (a.name < b.name ? -1 : 1)))
}

/** The place after a run (null: before all of them); `visit` makes another text for the same place. */
export function cursorAfter(run: string | null, visit = 0): string {
  return Buffer.from(JSON.stringify([run, visit])).toString('base64')
}

interface CursorPlace {
  /** position of the first run after it */
  readonly at: number
  /** the run before it */
  readonly run: string | null
  /** how often empty pages came to it */
  readonly visit: number
}

/** The place that a cursor stands for. */
export function placeOf(cursor: string | null | undefined, runs: readonly StoredRun[]): CursorPlace {
  if (cursor === null || cursor === undefined || cursor === '') return { at: 0, run: null, visit: 0 }
  const text = Buffer.from(cursor, 'base64').toString()
  const match = /^\[(null|"(?:[^"\\]|\\.)*"),(\d+)\]$/.exec(text)
  if (match === null) throw new GraphQLError('after: invalid cursor')
  const run = JSON.parse(match[1]) as string | null
  const visit = Number(match[2])
  if (run === null) return { at: 0, run, visit }
  const index = runs.findIndex(({ name }) => name === run)
  if (index < 0) throw new GraphQLError('after: invalid cursor')
  return { at: index + 1, run, visit }
}

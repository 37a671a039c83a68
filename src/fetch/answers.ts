/**
 * Checks the server's answers against the shapes that the queries request. A field of another type is a Fault that names
 * it. Fields that were not requested are ignored.
 */
import { randomUUID } from 'node:crypto'
import { Fault, printable, printableId } from '../core/errors.js'
import { secretFault } from '../core/secret-guard.js'
import { isSecretText } from '../core/secrets.js'
import { flag, integer, list, nullable, object, refine, type CheckContext, type Kind } from '../core/checker.js'
import { DATE_TIME, DATE_TIME_EXPECTED, parseIsoSeconds } from '../ingest/histories/iso-time.js'
import { isSafeName } from '../ingest/histories/runs.js'
import { isExact } from '../core/strict-json.js'
import { isObject } from './body.js'

/** Project in which a run is looked for. */
export interface ProjectName {
  readonly entity: string
  readonly project: string
}

export interface ListedName {
  readonly id: string
  readonly displayName: string
  readonly state: string
  readonly createdAt: string
}

export interface RunsPage {
  readonly runs: readonly ListedName[]
  /** cursor of the next page; null: this is the last page */
  readonly next: string | null
}

export interface RunDetails extends ListedName {
  /** settings, nested as they were logged */
  readonly config: Readonly<Record<string, unknown>>
  /** null: nothing was logged */
  readonly lastStep: number | null
  /** null: the server does not state it */
  readonly lineCount: number | null
  readonly heartbeatAt: string | null
}

const CONTEXT: CheckContext = { format: 'wandb', place: {}, paths: [] }

/** Longest state or cursor, and longest name in a list of runs. Rows and configurations are limited by the answer's size. */
export const MAX_NAME_LENGTH = 1000

/** A text of any length. A message states only the type of another value: it may be a configuration. */
const longText: Kind<string> = {
  expected: 'a text',
  schema: { type: 'string' },
  read: (value, at, { format }) => {
    if (typeof value === 'string') return value
    const found = Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
    throw new Fault({ format, problem: 'wrong field', found: `${at} is ${found}`, expected: 'a text' })
  }
}

const anyText: Kind<string> = refine(longText, (value, at) => {
  if (isSecretText(value, at)) throw secretFault('wandb', at, {})
  if (value.length <= MAX_NAME_LENGTH) return value
  const expected = `a text of at most ${MAX_NAME_LENGTH} characters`
  throw new Fault({ format: 'wandb', problem: 'wrong field', found: `${at} has ${value.length} characters`, expected })
})

function shown(value: string): string {
  return printable(JSON.stringify(value), 100)
}

const anything: Kind<unknown> = { expected: 'anything', schema: {}, read: value => value }

const runId: Kind<string> = refine(anyText, (id, at) => {
  if (isSafeName(id)) return id
  throw new Fault({
    format: 'wandb',
    problem: 'unsafe name',
    found: `${at} is ${shown(id)}`,
    expected: 'an id that is safe as a file name'
  })
})

const dateTime: Kind<string> = refine(anyText, (written, at) => {
  if (DATE_TIME.test(written) && parseIsoSeconds(written) !== null) return written
  throw new Fault({ format: 'wandb', problem: 'wrong field', found: `${at} is ${shown(written)}`, expected: DATE_TIME_EXPECTED })
})

const NAMED = {
  name: { kind: runId, doc: 'Id.' },
  displayName: { kind: nullable(longText), doc: 'What people read.', default: null },
  state: { kind: nullable(anyText), doc: 'State.', default: null },
  createdAt: { kind: dateTime, doc: 'Time of creation.' }
} as const

const RUNS = object(
  {
    runs: {
      kind: nullable(
        object(
          {
            edges: { kind: list(object({ node: { kind: object(NAMED, 'skip'), doc: '' } }, 'skip')), doc: '' },
            pageInfo: {
              kind: object(
                {
                  endCursor: { kind: nullable(anyText), doc: '', default: null },
                  hasNextPage: { kind: flag, doc: '' }
                },
                'skip'
              ),
              doc: ''
            }
          },
          'skip'
        )
      ),
      doc: '',
      default: null
    }
  },
  'skip'
)

const HISTORY_KEYS = object({ lastStep: { kind: nullable(integer(-1)), doc: '', default: null } }, 'skip')

const RUN = object(
  {
    ...NAMED,
    heartbeatAt: { kind: nullable(anyText), doc: 'When it last logged.', default: null },
    config: { kind: nullable(longText), doc: 'JSON.', default: null },
    historyLineCount: { kind: nullable(integer(0)), doc: '', default: null },
    historyKeys: { kind: nullable(HISTORY_KEYS), doc: '', default: null }
  },
  'skip'
)

const HISTORY = object(
  { history: { kind: list(longText), doc: 'Rows, each as JSON; whether there are too many is for the certificate to say.' } },
  'skip'
)

/** @param data the `data` of an answer to RUNS_QUERY */
export function readRunsPage(data: unknown, where: ProjectName): RunsPage {
  const project = projectOf(data, where)
  const { runs } = RUNS.read(project, 'project', CONTEXT)
  if (runs === null) throw missingProject(where)
  const { endCursor, hasNextPage } = runs.pageInfo
  if (hasNextPage && (endCursor === null || endCursor === '')) {
    throw new Fault({
      format: 'wandb',
      problem: 'wrong page',
      found: 'more runs to come and no cursor',
      expected: `where the next page of ${projectPath(where)} starts`
    })
  }
  return { runs: runs.edges.map(({ node }) => listedName(node)), next: hasNextPage ? endCursor : null }
}

/** @param data the `data` of an answer to RUN_QUERY */
export function readRun(data: unknown, where: ProjectName, id: string): RunDetails {
  const run = RUN.read(runOf(data, where, id), 'project.run', CONTEXT)
  const { lastStep } = run.historyKeys ?? { lastStep: null }
  return {
    ...listedName(run),
    config: readConfig(run.config, id),
    lineCount: run.historyLineCount,
    heartbeatAt: run.heartbeatAt || null,
    lastStep: lastStep === null || lastStep < 0 ? null : lastStep
  }
}

/** Raw rows in an answer to HISTORY_QUERY, in the server's order. */
export function readHistoryRows(data: unknown, where: ProjectName, id: string): readonly string[] {
  return HISTORY.read(runOf(data, where, id), 'project.run', CONTEXT).history
}

function listedName({
  name,
  displayName,
  state,
  createdAt
}: {
  readonly name: string
  readonly displayName: string | null
  readonly state: string | null
  readonly createdAt: string
}): ListedName {
  // An empty text is treated as absent.
  return { id: name, displayName: displayName || name, state: state || 'unknown', createdAt }
}

function projectOf(data: unknown, where: ProjectName): unknown {
  const { project } = object({ project: { kind: anything, doc: '', default: null } }, 'skip').read(data, '', CONTEXT)
  if (project === null) throw missingProject(where)
  return project
}

function runOf(data: unknown, where: ProjectName, id: string): unknown {
  const { run } = object({ run: { kind: anything, doc: '', default: null } }, 'skip').read(projectOf(data, where), 'project', CONTEXT)
  if (run !== null) return run
  throw new Fault({
    format: 'wandb',
    problem: 'unknown run',
    found: `nothing under ${printableId(id)} in ${projectPath(where)}`,
    expected: 'a run that was not deleted'
  })
}

function missingProject(where: ProjectName): Fault {
  return new Fault({
    format: 'wandb',
    problem: 'unknown project',
    found: `nothing under ${projectPath(where)}`,
    expected: 'an entity and project that this key may read (fetch.runs of the study)'
  })
}

export function projectPath({ entity, project }: ProjectName): string {
  return printable(`${entity}/${project}`)
}

const STRINGS_AND_NUMBERS = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/gs

/** Marks a number that JSON or a double cannot hold: NaN, 1e400, 9007199254740993. No setting has this text. */
export const LOST = `lost ${randomUUID()}`

/** True if the double has the written digits (except for zeros at the end), or is written as JavaScript writes it. */
function isKept(token: string): boolean {
  const value = Number(token)
  return Number.isFinite(value) && (String(value) === token || isExact(token.replace(/(\.\d*?)0+(?=$|[eE])/, '$1')))
}

/** The logged settings, unwrapped from `{"k": {"value": v}}`, without W&B's own `_wandb`. */
function readConfig(text: string | null, id: string): Readonly<Record<string, unknown>> {
  if (text === null || text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text.replace(STRINGS_AND_NUMBERS, token => (token.startsWith('"') || isKept(token) ? token : JSON.stringify(LOST))))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // Not kept as the cause: the engine's message quotes the text.
    throw wrongConfig(id, 'no JSON')
  }
  if (!isObject(value)) throw wrongConfig(id, 'no object')
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, wrapped]) =>
      key === '_wandb' ? [] : [[key, isObject(wrapped) && Object.hasOwn(wrapped, 'value') ? wrapped.value : wrapped]]
    )
  )
}

function wrongConfig(id: string, what: string): Fault {
  return new Fault({
    format: 'wandb',
    problem: 'wrong field',
    found: `the config of run ${printableId(id)} is ${what}`,
    expected: 'an object as JSON'
  })
}

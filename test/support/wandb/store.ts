/** What the emulated server knows: projects, their runs, and how these change while a client reads. */
import { History, type RowSource } from './rows.js'

export interface EmulatedRun {
  readonly entity: string
  readonly project: string
  /** the run's id */
  readonly name: string
  readonly displayName: string | null
  readonly state: string
  /** served verbatim: W&B writes it with and without a Z */
  readonly createdAt: string
  readonly heartbeatAt: string | null
  /** as the training code passed it, nested */
  readonly config: Readonly<Record<string, unknown>>
  /** JSON texts in step order */
  readonly rows: RowSource
}

/** One run as it is now. */
export interface StoredRun extends Omit<EmulatedRun, 'rows' | 'displayName' | 'heartbeatAt' | 'state'> {
  displayName: string | null
  heartbeatAt: string | null
  state: string
  readonly history: History
}

export interface StoredProject {
  readonly entity: string
  readonly name: string
  readonly forbidden: boolean
  readonly runs: StoredRun[]
}

export interface Contents {
  readonly runs: readonly EmulatedRun[]
  /** `entity/project` of projects that exist without a run */
  readonly projects?: readonly string[]
  /** `entity/project` of projects that the key may not read: HTTP 403 */
  readonly forbidden?: readonly string[]
}

/** Seconds since the epoch; W&B's times without a zone are UTC. */
export function secondsOf(time: string): number {
  const seconds = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`) / 1000
  if (Number.isNaN(seconds)) throw new Error(`not a time: ${time}`)
  return seconds
}

export class Store {
  readonly #projects = new Map<string, StoredProject>()

  constructor({ runs, projects = [], forbidden = [] }: Contents) {
    for (const path of [...projects, ...forbidden]) this.#add(path, forbidden.includes(path))
    for (const { rows, ...run } of runs) {
      secondsOf(run.createdAt)
      const project = this.#add(`${run.entity}/${run.project}`, false)
      if (project.runs.some(other => other.name === run.name)) throw new Error(`two runs ${run.name} in ${run.project}`)
      project.runs.push({ ...run, history: new History(rows) })
    }
  }

  project(entity: string, name: string): StoredProject | null {
    return this.#projects.get(`${entity}/${name}`) ?? null
  }

  /** The run of that id, in whatever project. */
  run(name: string): StoredRun {
    const run = [...this.#projects.values()].flatMap(project => project.runs).find(run => run.name === name)
    if (run === undefined) throw new Error(`no run ${name}`)
    return run
  }

  /** Appends rows (given, or so many like the last one); the heartbeat moves on by a second a row. */
  grow(name: string, rows: number | readonly string[]): void {
    const run = this.run(name)
    if (typeof rows === 'number') run.history.grow(rows)
    else run.history.append(rows)
    const seconds = secondsOf(run.heartbeatAt ?? run.createdAt) + (typeof rows === 'number' ? rows : rows.length)
    run.heartbeatAt = new Date(seconds * 1000).toISOString()
  }

  #add(path: string, forbidden: boolean): StoredProject {
    const known = this.#projects.get(path)
    if (known !== undefined) return known
    const slash = path.indexOf('/')
    if (slash < 1) throw new Error(`not entity/project: ${path}`)
    const project = { entity: path.slice(0, slash), name: path.slice(slash + 1), forbidden, runs: [] }
    this.#projects.set(path, project)
    return project
  }
}

/** Stands for a JSON text in a configuration that `JSON.stringify` does not write: NaN, 1e400, an integer beyond 2^53. */
export function rawJson(text: string): string {
  return `raw:${text}`
}

/** `config` as the server sends it: every top-level key in `{"value": …}`, and the SDK's own entry. */
export function configText(config: EmulatedRun['config']): string {
  const wrapped = Object.entries(config).map(([key, value]) => [key, { value, desc: null }])
  const own = { value: { cli_version: '0.21.0', python_version: '3.12.3', t: { 1: [1, 5], 4: '3.12.3' } }, desc: null }
  return JSON.stringify({ ...Object.fromEntries(wrapped), _wandb: own }).replace(/"raw:([^"]*)"/g, '$1')
}

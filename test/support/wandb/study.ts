/** Studies whose histories are fetched: a small one of its own, and the replica's without its export. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FetchRuns, FetchStudy } from '../../../src/schema/fetch.js'
import type { FetchTarget } from '../../../src/cli/fetch-args.js'
import { runFetch } from '../../../src/cli/fetch.js'
import { Fault } from '../../../src/core/errors.js'
import type { Clock } from '../../../src/fetch/client.js'
import { tree } from '../folders.js'
import type { EmulatedRun } from './store.js'

export const CANARY = 'canary0f3b71c2d94e5a6b7c8d9e0f1a2b3c4d5e6f'

/** A clock that no test waits for: sleeping moves it. */
export class TestClock implements Clock {
  readonly slept: number[] = []
  #now: number

  constructor(time: string) {
    this.#now = Date.parse(time)
  }

  now(): number {
    return this.#now
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.slept.push(ms)
    this.#now += ms
    await Promise.resolve()
  }
}

export const NOW = '2026-10-06T07:31:12Z'

/** The section as a study file states it: ids may be left out. */
export type WrittenFetch = Omit<FetchStudy, 'runs'> & {
  readonly runs: ReadonlyArray<Omit<FetchRuns, 'ids' | 'not_ids'> & Partial<Pick<FetchRuns, 'ids' | 'not_ids'>>>
}

/** A study with one metric whose histories come from `team/project`. */
export function writeStudy(dir: string, fetch: Partial<WrittenFetch> = {}): void {
  mkdirSync(dir, { recursive: true })
  const study = {
    schema_version: 1,
    name: 'fetched',
    histories: {
      runs: 'wandb/runs.json',
      folder: 'wandb/history',
      selections: [{ name: 'main', title: 'Main', display_name: 'main' }],
      metrics: [{ name: 'reward', key: 'critic/score/mean', title: 'Reward', axis: 'Reward' }],
      analyses: [
        {
          name: 'main',
          selections: ['main'],
          metrics: ['reward'],
          statistics: {},
          outputs: { statistics: 'wandb/statistics.json' }
        }
      ],
      figures: []
    },
    fetch: { runs: [{ label: 'main', entity: 'team', project: 'project', display_name: 'main' }], ...fetch }
  }
  writeFileSync(join(dir, 'study.json'), JSON.stringify(study))
}

export function run(name: string, displayName: string, steps: readonly number[], more: Partial<EmulatedRun> = {}): EmulatedRun {
  return {
    entity: 'team',
    project: 'project',
    name,
    displayName,
    state: 'finished',
    createdAt: '2026-08-09T03:40:51Z',
    heartbeatAt: null,
    config: {},
    rows: steps.map(step => `{"_step": ${step}, "_timestamp": ${1786256585 + step}.25, "critic/score/mean": ${step % 7}e-07}`),
    ...more
  }
}

export function upTo(last: number): number[] {
  return Array.from({ length: last + 1 }, (_, step) => step)
}

/** The replica's folder without what a fetch writes, and with the server that its runs are said to be on. */
export function unfetchedReplica(replica: string, dir: string): void {
  cpSync(replica, dir, { recursive: true })
  for (const path of ['wandb/runs.json', 'wandb/recipe_comparison_runs.json', 'wandb/additional_case_runs.json', 'wandb/history']) {
    rmSync(join(dir, path), { recursive: true })
  }
}

/** The replica as if its runs were on another server. */
export function movedReplica(replica: string, dir: string, server: string): void {
  cpSync(replica, dir, { recursive: true })
  for (const path of tree(join(dir, 'wandb')).filter(name => name.endsWith('.json'))) {
    const file = join(dir, 'wandb', path)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('https://wandb.example', server))
  }
}

export interface FetchResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** thrown; null where the command ended by itself */
  readonly fault: Fault | null
  /** what `--json` would print */
  readonly report: Readonly<Record<string, unknown>>
  readonly clock: TestClock
}

export interface FetchCall {
  readonly only?: string
  readonly into?: FetchTarget
  readonly ids?: readonly string[]
  readonly notIds?: readonly string[]
  readonly time?: string
  readonly deadlineMinutes?: number
  readonly signal?: AbortSignal
  readonly key?: string
}

/** The command in this process, with a clock of its own. */
export async function fetchInto(dir: string, url: string, call: FetchCall = {}): Promise<FetchResult> {
  const text = { stdout: '', stderr: '' }
  const clock = new TestClock(call.time ?? NOW)
  const stream = (name: 'stdout' | 'stderr') => ({
    write: (part: string) => {
      text[name] += part
      return true
    }
  })
  const io = {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: { WANDB_API_KEY: call.key ?? CANARY },
    now: () => performance.now(),
    signal: call.signal ?? new AbortController().signal
  }
  const options = {
    study: dir,
    into: call.into ?? null,
    ids: call.ids ?? null,
    notIds: call.notIds ?? [],
    only: call.only ?? null,
    baseUrl: url,
    deadlineMinutes: call.deadlineMinutes ?? 60,
    json: false,
    quiet: false,
    verbose: false
  }
  try {
    const { exitCode, report } = await runFetch(options, io, clock)
    return { code: exitCode, ...text, fault: null, report: report as Readonly<Record<string, unknown>>, clock }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { code: error.exitCode, ...text, fault: error, report: {}, clock }
  }
}

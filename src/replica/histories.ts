/**
 * The part of the replica with exported training histories, as a fetch would leave them: the list of runs with two views of
 * it, and for each of the ten runs its rows and their certificate. Companions and runs of other names are listed too. One
 * companion has a history, which no command may read.
 */
import { certificateText } from '../ingest/certificate/file.js'
import { certify } from '../ingest/certificate/certificate.js'
import { mergeEntries, runsText, type RunEntry } from '../fetch/runs-file.js'
import { OTHER_LABEL, SAMPLES_PER_REQUEST, STEPS_PER_REQUEST } from '../schema/fetch.js'
import { CONFIG_KEYS } from './histories/config.js'
import { createdSeconds, onGrid } from './histories/clock.js'
import type { Experiment, SessionPlan } from './histories/experiment.js'
import { EXPERIMENTS } from './histories/experiments.js'
import { KEY } from './histories/keys.js'
import { makeRows, type MadeRow } from './histories/rows.js'
import { settleSessionSum, shareHarnesses } from './histories/settle.js'
import { ENTITY, FETCH_STUDY, PROJECT } from './histories/fetch.js'
import { TRAIN_NODE_SUFFIX, HISTORY_FOLDER, HISTORY_STUDY, RUNS_FILE } from './histories/study.js'
import type { ReplicaPart, StudyFolder } from './part.js'
import { pythonFloat } from './python-json.js'
import type { Random } from './random.js'

/** The main run whose companion has a history. */
const COMPANION_WITH_HISTORY = 'n7ed9z97'

/** Time at which the first fetch of the project listed its other runs. */
const LISTED_AT = '2026-10-06T07:31:12Z'

interface OtherRun {
  readonly id: string
  readonly displayName: string
  readonly label: string
  readonly createdAt: string
  readonly fetchedAt: string
}

/** Runs of the same project with names similar to those of the study. */
const OTHERS: readonly OtherRun[] = [
  {
    id: 'k3d90fqe',
    displayName: 'sao-3nodes-35b-a3b-dynbsz-r5',
    label: OTHER_LABEL,
    createdAt: '2026-08-17T06:02:29Z',
    fetchedAt: LISTED_AT
  },
  {
    id: 't7yq5m1b',
    displayName: 'sao-3nodes-35b-a3b-dynbsz-r7-eval',
    label: 'sao_r7',
    createdAt: '2026-09-02T10:45:00Z',
    fetchedAt: '2026-10-06T07:38:40Z'
  },
  { id: 'z40x8pgn', displayName: 'mix3999-sao-r3', label: OTHER_LABEL, createdAt: '2026-09-17T13:31:16Z', fetchedAt: LISTED_AT }
]

/** Keys that the trainer logs as integers. */
const INTEGERS: ReadonlySet<string> = new Set([
  KEY.step,
  KEY.globalStep,
  'fully_async/count/current_param_version',
  'num_turns/max',
  'response_length/max'
])

/** Final state of all these runs, whether their training succeeded or not. */
const STATE = 'crashed'

/** An entry of the list of runs, with the settings that the study keeps, in the study's order. */
function listed(run: OtherRun & { readonly config: Readonly<Record<string, unknown>> }): RunEntry {
  const { id, displayName, createdAt, fetchedAt, label } = run
  return {
    id,
    displayName,
    entity: ENTITY,
    project: PROJECT,
    createdAt,
    state: STATE,
    url: `${SERVER}/${ENTITY}/${PROJECT}/runs/${id}`,
    fetchedAt,
    label,
    config: Object.fromEntries(CONFIG_KEYS.flatMap(key => (key in run.config ? [[key, run.config[key]]] : [])))
  }
}

/** A server that does not exist. */
const SERVER = 'https://wandb.example'

/** Time at which a run last logged. */
function heartbeatOf(rows: readonly MadeRow[]): string {
  return new Date(Number(rows[rows.length - 1].values.get(KEY.timestamp)) * 1000).toISOString()
}

/** Certifies the rows of a run as complete: as many as the server counts, requested in windows of 100 steps. */
async function writeCertificate(folder: StudyFolder, entry: RunEntry, rows: readonly MadeRow[]): Promise<void> {
  const history = folder.files[folder.files.length - 1]
  const steps = Float64Array.from(rows, row => row.step)
  const lastStep = steps[steps.length - 1]
  const intervals = Array.from({ length: Math.ceil((lastStep + 1) / STEPS_PER_REQUEST) }, (_, i) => {
    const [from, to] = [i * STEPS_PER_REQUEST, Math.min((i + 1) * STEPS_PER_REQUEST - 1, lastStep)]
    return { from, to, rows: steps.filter(step => step >= from && step <= to).length }
  })
  const { id, displayName, label, createdAt, fetchedAt } = entry
  const certificate = certify(
    {
      synthetic: true,
      server: SERVER,
      run: { id, entity: ENTITY, project: PROJECT, display_name: displayName, label, created_at: createdAt, state: STATE },
      fetched_at: String(fetchedAt),
      snapshot: { last_step: lastStep, history_line_count: rows.length, heartbeat_at: heartbeatOf(rows), growing: false },
      history: { path: history.path, bytes: history.bytes, sha256: history.sha256 },
      requests: { steps: STEPS_PER_REQUEST, samples: SAMPLES_PER_REQUEST, intervals, reordered: 0 },
      left_out: { texts: 0, flags: 0, objects: 0, lists: 0 }
    },
    { bytes: history.bytes, sha256: history.sha256, steps }
  )
  await folder.writeText(`${HISTORY_FOLDER}/${label}/${id}.certificate.json`, 'certificate', certificateText(certificate))
}

/** One line: keys in order of code units, numbers as Python writes them, non-finite ones as the plan states. */
function spell(row: MadeRow, session: SessionPlan | null): string {
  const odd = new Map(session?.odd?.filter(o => o.step === row.step).map(o => [o.key, o.text]))
  const fields = [...row.values.keys()].sort().map(key => {
    const value = row.values.get(key) ?? 0
    return `${JSON.stringify(key)}: ${odd.get(key) ?? (INTEGERS.has(key) ? String(value) : pythonFloat(value))}`
  })
  return `{${fields.join(', ')}}\n`
}

function historyPath(label: string, id: string): string {
  return `${HISTORY_FOLDER}/${label}/${id}.jsonl`
}

function inBase36(random: Random): string {
  return Array.from({ length: 8 }, () => random.below(36).toString(36)).join('')
}

/** Rows of a companion. It logs its node, and scores that differ from the experiment's. */
function companionRows(created: number, firstStep: number, random: Random): MadeRow[] {
  return Array.from({ length: 6 }, (_, i): MadeRow => {
    const runtime = onGrid(600 * (i + random.between(0.9, 1.1)))
    return {
      step: firstStep + i,
      values: new Map([
        [KEY.step, firstStep + i],
        [KEY.timestamp, created + runtime],
        [KEY.runtime, runtime],
        [KEY.reward, 1],
        [KEY.validation, 0.999],
        ['perf/max_memory_allocated_gb', random.between(58, 71)]
      ])
    }
  })
}

async function writeExperiment(folder: StudyFolder, experiment: Experiment, random: Random): Promise<RunEntry[]> {
  const { label, displayName, fetchedAt, sessions, sums } = experiment
  const origin = createdSeconds(sessions[0])
  const rows = sessions.map(session => makeRows(experiment, session, origin, random.fork(session.id)))
  shareHarnesses(experiment, rows, random.fork('harnesses'))
  for (const [i, sum] of sums.entries()) settleSessionSum(rows, sum, random.fork(`sum ${i}`))
  const entries: RunEntry[] = []
  for (const [i, session] of sessions.entries()) {
    const config = { ...experiment.config, ...session.config }
    const entry = listed({ ...session, displayName, label, fetchedAt, config })
    entries.push(entry)
    await folder.writeText(historyPath(label, session.id), 'history', rows[i].map(row => spell(row, session)).join(''))
    await writeCertificate(folder, entry, rows[i])
    const companions = random.fork(`companion ${session.id}`)
    const id = inBase36(companions)
    entries.push(listed({ ...session, id, displayName: displayName + TRAIN_NODE_SUFFIX, label, fetchedAt, config: {} }))
    if (session.id !== COMPANION_WITH_HISTORY) continue
    const lines = companionRows(createdSeconds(session), session.firstStep, companions).map(row => spell(row, null))
    await folder.writeText(historyPath(label, id), 'excluded', lines.join(''))
  }
  return entries
}

export const histories: ReplicaPart = {
  section: 'histories',
  seed: 'histories/1',
  write: async (folder, random) => {
    const entries: RunEntry[] = []
    for (const experiment of EXPERIMENTS) {
      entries.push(...(await writeExperiment(folder, experiment, random.fork(experiment.label))))
    }
    entries.push(...OTHERS.map(run => listed({ ...run, config: {} })))
    const { entries: runs } = mergeEntries([], { fetched: entries, excluded: [], labels: new Set(), projects: [], fetches: [] })
    await folder.writeText(RUNS_FILE, 'runs', runsText(runs))
    for (const { path, labels } of FETCH_STUDY.views) {
      await folder.writeText(path, 'runs', runsText(runs.filter(run => labels.includes(run.label))))
    }
    return HISTORY_STUDY
  }
}

/** The section on the server of the histories. The part writes no file. */
export const fetched: ReplicaPart = {
  section: 'fetch',
  seed: 'fetch/1',
  write: async () => FETCH_STUDY
}

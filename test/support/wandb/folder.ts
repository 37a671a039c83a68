/** Runs for the emulator from the files that an export makes of them: `wandb/runs.json` and `wandb/history/<label>/<id>.jsonl`. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseRow } from './rows.js'
import type { EmulatedRun } from './store.js'

/** What a run holds on the server that an export leaves out. */
export interface Extras {
  /** adds to each row a string, a histogram, a picture and an object, and to each configuration what is not allowlisted */
  readonly extras?: boolean
}

type Nested = Record<string, unknown>

/** `{"a.b": 1}` as `{"a": {"b": 1}}`: W&B holds verl's configuration nested. */
export function nested(flat: Readonly<Record<string, unknown>>): Nested {
  const whole: Nested = {}
  for (const [path, value] of Object.entries(flat)) {
    const names = path.split('.')
    const last = names.pop() ?? path
    let level = whole
    for (const name of names) {
      level[name] ??= {}
      const below = level[name]
      if (typeof below !== 'object' || below === null || Array.isArray(below)) throw new Error(`${path} is below a value`)
      level = below as Nested
    }
    if (Object.hasOwn(level, last)) throw new Error(`${path} is there twice`)
    level[last] = value
  }
  return whole
}

function withExtras(row: string, index: number): string {
  return row.replace(
    /\}\s*$/,
    `, "note": "row ${index}", ` +
      `"rollout/table": {"_type": "table-file", "ncols": 2, "nrows": ${index}}, ` +
      `"gradients/embed": {"_type": "histogram", "values": [1, ${index}], "bins": [0.0, 0.5, 1.0]}, ` +
      `"timing": {"gen": ${index}.5}, "done": false}`
  )
}

const UNLISTED_CONFIG = {
  logger: ['console', 'wandb'],
  reward_server: { url: 'http://10.0.0.1:8000', api_key: 'not for export' }
}

interface Listed {
  readonly id: string
  readonly displayName: string
  readonly entity: string
  readonly project: string
  readonly createdAt: string
  readonly state: string
  readonly label: string
  readonly config?: Readonly<Record<string, unknown>>
}

/**
 * The runs of a study folder. A listed run without a history file has no rows (companions and others that were not exported).
 * The last heartbeat is the time of the last row.
 */
export function runsOfFolder(studyDir: string, { extras = false }: Extras = {}): EmulatedRun[] {
  const listed = JSON.parse(readFileSync(join(studyDir, 'wandb/runs.json'), 'utf8')) as readonly Listed[]
  return listed.map(({ id, displayName, entity, project, createdAt, state, label, config = {} }) => {
    const path = join(studyDir, 'wandb/history', label, `${id}.jsonl`)
    const lines = existsSync(path)
      ? readFileSync(path, 'utf8')
          .split('\n')
          .filter(line => line.trim() !== '')
      : []
    const last = lines.length === 0 ? null : parseRow(lines[lines.length - 1])._timestamp
    return {
      entity,
      project,
      name: id,
      displayName,
      state,
      createdAt,
      heartbeatAt: typeof last === 'number' ? new Date(last * 1000).toISOString() : null,
      config: extras ? { ...nested(config), ...UNLISTED_CONFIG } : nested(config),
      rows: extras ? lines.map(withExtras) : lines
    }
  })
}

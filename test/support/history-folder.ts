/** A study of training histories on disk, with its manifest, small enough to work out by hand. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface FolderRun {
  readonly id: string
  readonly displayName: string
  readonly createdAt: string
  /** lines of its history; null: no file */
  readonly lines: readonly string[] | null
}

/**
 * Two sessions of one run name and one of a reference. The second session starts at step 2: step 3 of the first is rolled
 * back, its reward at step 2 replaced, its score at step 2 stays.
 */
export const RUNS: readonly FolderRun[] = [
  {
    id: 'second',
    displayName: 'target',
    createdAt: '2026-01-01T02:00:00',
    lines: [
      '{"_step": 2, "_timestamp": 1767236400.0, "reward": 0.5}',
      '{"_step": 3, "_timestamp": 1767240000.5, "reward": 0.625, "score": NaN}',
      '{"_step": 4, "_timestamp": 1767243600.0, "reward": 1e-07, "score": 0.75}'
    ]
  },
  {
    id: 'first',
    displayName: 'target',
    createdAt: '2026-01-01T00:00:00Z',
    lines: [
      '{"_step": 0, "_timestamp": 1767225600.0, "note": "start"}',
      '{"_step": 1, "_timestamp": 1767227400.0, "reward": 0.25, "global": 0}',
      '{"_step": 2, "_timestamp": 1767229200.0, "reward": 0.375, "score": 0.5, "global": 1}',
      '{"_step": 3, "_timestamp": 1767231000.0, "reward": 0.125, "score": null, "global": 2}'
    ]
  },
  {
    id: 'ref',
    displayName: 'reference',
    createdAt: '2026-01-02T01:00:00.500+01:00',
    lines: [
      '{"_step": 0, "_timestamp": 1767312000.5, "reward": 0.5, "score": 0.25}',
      '{"_step": 1, "_timestamp": 1767315600.5, "reward": 0.75}'
    ]
  },
  { id: 'aside', displayName: 'target-node', createdAt: '2026-01-01T00:00:00Z', lines: null },
  { id: 'other', displayName: 'targets', createdAt: '2026-01-01T00:00:00Z', lines: null }
]

export const STUDY = {
  schema_version: 1,
  name: 'by hand',
  histories: {
    runs: 'wandb/runs.json',
    folder: 'wandb/history',
    keys: { step: '_step', timestamp: '_timestamp', global_step: 'global' },
    companion_suffixes: ['-node'],
    selections: [
      { name: 'ref', title: 'Reference', display_name: 'reference' },
      { name: 'target', title: 'Target', display_name: 'target', display_time: { multiply: 0.5 } }
    ],
    metrics: [
      { name: 'reward', key: 'reward', title: 'Reward', axis: 'Reward', trailing_mean: 2 },
      { name: 'score', key: 'score', title: 'Score', axis: 'Score (%)', multiply: 100, sparse: true }
    ],
    analyses: [
      {
        name: 'both',
        selections: ['ref', 'target'],
        metrics: ['reward', 'score'],
        supplied: { reference: 'ref', target: 'target', anchor: true, step_prefix: ['score'], same_step: ['reward'], time_prefix: true },
        statistics: {
          best: ['score'],
          ends: { count: 2, metrics: ['reward'] },
          thresholds: [{ name: 'half', metric: 'score', at_least: 0.5 }]
        },
        outputs: {
          observations: 'wandb/kept.csv',
          all_attempts: 'wandb/all.csv',
          statistics: 'wandb/both.json',
          points: 'wandb/points.csv',
          time_display: 'time_display.json'
        }
      }
    ],
    figures: [
      {
        name: '03-both',
        title: 'Both',
        analysis: 'both',
        view: 'step',
        x_title: 'Step',
        panels: [{ metric: 'reward' }, { metric: 'score' }]
      }
    ]
  }
}

function filesBelow(dir: string, prefix = ''): string[] {
  return readdirSync(join(dir, prefix), { withFileTypes: true }).flatMap(entry => {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`
    return entry.isDirectory() ? filesBelow(dir, path) : [path]
  })
}

/** Lists every file that is there. */
export function writeManifest(dir: string): void {
  rmSync(join(dir, 'source_manifest.json'), { force: true })
  const files = filesBelow(dir)
    .sort()
    .map(path => {
      const bytes = readFileSync(join(dir, path))
      return { path, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length, role: 'input' }
    })
  writeFileSync(join(dir, 'source_manifest.json'), JSON.stringify({ snapshot: '2026-01-03', files, revisions: {} }))
}

export interface FolderOptions {
  readonly runs?: readonly FolderRun[]
  readonly study?: object
  /** text of runs.json in place of the one made from `runs` */
  readonly list?: string
}

/** Writes study, list of runs, histories and manifest into `dir`. */
export function writeHistoryStudy(dir: string, { runs = RUNS, study = STUDY, list }: FolderOptions = {}): void {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  write('study.json', JSON.stringify(study))
  write(
    'wandb/runs.json',
    list ??
      JSON.stringify(
        runs.map(({ id, displayName, createdAt }) => ({
          id,
          displayName,
          createdAt,
          entity: 'e',
          project: 'p',
          state: 'crashed',
          url: null,
          fetchedAt: null,
          label: 'runs',
          config: {}
        }))
      )
  )
  for (const { id, lines } of runs) if (lines !== null) write(`wandb/history/runs/${id}.jsonl`, lines.map(line => `${line}\n`).join(''))
  writeManifest(dir)
}

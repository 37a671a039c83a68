/** Mutations of the further lists of runs: each field of each run that they state, a run less, a run more. */
import type { Study } from '../../../src/schema/study.js'
import type { Random } from '../random.js'
import { changeCharacter, sample, type MutableFolder, type Mutation } from './mutation.js'

interface Listed extends Record<string, unknown> {
  readonly id: string
  readonly label: string
  readonly config: Readonly<Record<string, unknown>>
}

function changed(value: unknown, random: Random): unknown {
  if (typeof value === 'boolean') return !value
  return typeof value === 'number' ? value * 2 : changeCharacter(String(value), random)
}

export function* viewMutations(folder: MutableFolder, { fetch }: Pick<Study, 'fetch'>, random: Random): Generator<Mutation> {
  for (const { path } of fetch?.views ?? []) {
    const runs = JSON.parse(folder.text(path)) as readonly Listed[]
    const edit = (what: string, list: readonly unknown[]): Mutation => ({
      kind: 'view of runs',
      covered: true,
      what: `${path}: ${what}`,
      files: new Map([[path, JSON.stringify(list, null, 1)]])
    })
    const fields = runs.flatMap((run, i) => [
      ...Object.keys(run)
        .filter(field => field !== 'config' && field !== 'createdAt')
        .map(field =>
          edit(
            `${run.id}: ${field}`,
            runs.map((one, k) => (k === i ? { ...one, [field]: changed(one[field], random) } : one))
          )
        ),
      ...Object.keys(run.config).flatMap(key =>
        [changed(run.config[key], random), undefined].map(value =>
          edit(
            `${run.id}: config ${key} ${String(value)}`,
            runs.map((one, k) => (k === i ? { ...one, config: { ...one.config, [key]: value } } : one))
          )
        )
      )
    ])
    yield* sample(fields, random, 24)
    yield edit(
      'a second later',
      runs.map((run, i) =>
        i === 0 ? { ...run, createdAt: String(run['createdAt']).replace(/\d(?=Z?$)/, d => String((Number(d) + 3) % 10)) } : run
      )
    )
    yield edit('a run less', runs.slice(1))
    yield edit('no run', [])
    yield edit('a run more', [...runs, { ...runs[0], id: 'x0000000' }])
    yield edit('a run of another label', [...runs, { ...runs[0], label: 'elsewhere' }])
  }
}

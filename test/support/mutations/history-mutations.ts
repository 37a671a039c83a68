/**
 * Mutations of exported histories, of runs.json and of the study's section on them.
 *
 * Targets are found through the claims: a claim's pointer says which selection, metric and statistic it publishes, the joined
 * histories say which rows that statistic is made of, and its decimals say how far one digit must move to be seen. A digit
 * below the published precision is no mutation of a published value.
 */
import type { MeasuredHistories } from '../../../src/runs/histories.js'
import type { Documents } from '../../../src/compute/documents.js'
import { pointerTokens } from '../../../src/compute/documents.js'
import type { Claim } from '../../../src/schema/claims.js'
import type { Random } from '../random.js'
import { changeCharacter, changeDigit, sample, withValue, type MutableFolder, type Mutation } from './mutation.js'

export interface HistorySubject {
  readonly folder: MutableFolder
  readonly claims: readonly Claim[]
  readonly measured: MeasuredHistories
  readonly documents: Documents
}

/** A number of a row that a claim is made of. */
interface Target {
  readonly claim: Claim
  readonly run: string
  readonly step: number
  readonly key: string
  /** change of the claimed value when the number changes by 1 */
  readonly weight: number
}

const TIMESTAMP = '_timestamp'

/** Numbers that a claim on a statistic of histories is made of. */
function targetsOf({ measured, documents }: HistorySubject, claim: Claim): Target[] {
  return claim.from.flatMap(reference => {
    const [section, selection, group, name, ...rest] = pointerTokens(reference.slice(reference.indexOf('#') + 1))
    const history = measured.selections.get(selection)
    if (section !== 'selections' || history === undefined) return []
    const parent = documents.resolve(reference.slice(0, reference.lastIndexOf('/')))
    if ('reason' in parent) return []
    const found = parent.value as { step?: number; run?: string; steps?: readonly [number, number]; count?: number }
    const field = rest.at(-1)
    const metric =
      group === 'metrics'
        ? name
        : group === 'thresholds'
          ? String((found as { metric?: string }).metric)
          : group === 'shares'
            ? rest[1]
            : ''
    const curve = history.curves.find(c => c.metric === metric)
    if (curve === undefined) return []
    const kept = [...curve.steps].map(i => ({ run: history.sessions[curve.session[i]].run, step: curve.step[i] }))
    const scale = Math.abs(claim.scale)
    const at = (places: readonly { run: string; step: number }[], key: string, weight: number): Target[] =>
      places.map(({ run, step }) => ({ claim, run, step, key, weight: weight * scale }))
    if (field === 'elapsed_hours')
      return at(
        kept.filter(k => k.step === found.step),
        TIMESTAMP,
        1 / 3600
      )
    if (field === 'display_hours')
      return at(
        kept.filter(k => k.step === found.step),
        TIMESTAMP,
        history.displayFactor / 3600
      )
    if (field === 'value')
      return at(
        kept.filter(k => k.step === found.step),
        curve.key,
        1
      )
    if (group === 'shares') return at(kept, curve.key, 1 / kept.length)
    if (field !== 'mean') return []
    if (rest.includes('final')) return at(kept.slice(-Number(found.count)), curve.key, 1 / Number(found.count))
    const [from, to] = found.steps ?? [0, -1]
    const inside = kept.filter(k => k.step >= from && k.step <= to)
    return at(inside, curve.key, 1 / inside.length)
  })
}

interface HistoryFile {
  readonly path: string
  readonly lines: readonly string[]
}

function fileOf({ folder, measured }: HistorySubject, run: string): HistoryFile {
  const path = measured.files.map(file => file.path).find(p => p.endsWith(`/${run}.jsonl`))
  if (path === undefined) throw new Error(`no history of ${run}`)
  return { path, lines: folder.text(path).split('\n') }
}

function lineAt({ lines }: HistoryFile, step: number): number {
  return lines.findIndex(line => line.includes(`"_step": ${step},`))
}

const escaped = (key: string): RegExp => new RegExp(`("${key.replace(/[/@.]/g, '\\$&')}": )(-?[0-9.eE+-]+)`)

function withLine({ path, lines }: HistoryFile, at: number, line: string | null): Map<string, string> {
  return new Map([[path, lines.flatMap((old, i) => (i === at ? (line === null ? [] : [line]) : [old])).join('\n')]])
}

/** One digit of a row's number, far enough up to be seen at the published precision. */
function* digits(subject: HistorySubject, random: Random, each: number): Generator<Mutation> {
  for (const claim of subject.claims) {
    const targets = targetsOf(subject, claim)
    for (const { run, step, key, weight } of random.shuffle(targets).slice(0, each)) {
      const file = fileOf(subject, run)
      const at = lineAt(file, step)
      const [, , number] = escaped(key).exec(file.lines[at]) ?? []
      // A whole unit of the last published decimal: half of it may be taken up by the rounding of the publication.
      const least = (1.01 * 10 ** -(claim.decimals ?? 15)) / weight
      const changed = number === undefined ? null : changeDigit(number, random, least)
      if (changed === null) continue
      yield {
        kind: key === TIMESTAMP ? 'history timestamp' : 'history value',
        covered: true,
        what: `${claim.id}: ${run} step ${step} ${key} ${number} -> ${changed}`,
        files: withLine(file, at, file.lines[at].replace(escaped(key), `$1${changed}`))
      }
    }
  }
}

const LEARNING_RATES = ['actor/lr', 'critic/lr'] as const

/** A learning rate in one row of each session, superseded ones among them: another number, none, or what is no number. */
function* learningRates(subject: HistorySubject, random: Random): Generator<Mutation> {
  const runs = new Set([...subject.measured.selections.values()].flatMap(({ sessions }) => sessions.map(({ run }) => run)))
  for (const run of runs) {
    const file = fileOf(subject, run)
    for (const key of LEARNING_RATES) {
      const at = random.shuffle([...file.lines.keys()].filter(i => file.lines[i].includes(`"${key}": `))).slice(0, 3)
      const edits = [
        (line: string): string => line.replace(escaped(key), '$19e-06'),
        (line: string): string => line.replace(escaped(key), '$1NaN'),
        (line: string): string => line.replace(`"${key}": `, `"${key}s": `)
      ]
      for (const [n, i] of at.entries()) {
        // Rows in which the actor was updated are counted by its gradient norm, which the cases do not read.
        const covered = n < 2 || key === 'critic/lr' || !/nzfia8d6|dtteaa2a|8j77hkaf/.test(run)
        const line = edits[n](file.lines[i])
        yield { kind: 'logged learning rate', covered, what: `${run} line ${i}: ${key} (${n})`, files: withLine(file, i, line) }
      }
    }
  }
}

/** Rows of the step view that carry a training metric: their number is published. */
function* rows(subject: HistorySubject, random: Random): Generator<Mutation> {
  for (const history of subject.measured.selections.values()) {
    const curve = history.curves.find(c => c.metric === 'reward')
    if (curve === undefined) continue
    const kept = [...curve.steps].map(i => ({ run: history.sessions[curve.session[i]].run, step: curve.step[i] }))
    const some = random.shuffle(kept)
    const change = (n: number, what: string, edit: (line: string) => string | null): Mutation => {
      const { run, step } = some[n]
      const file = fileOf(subject, run)
      const at = lineAt(file, step)
      return { kind: 'history row', covered: true, what: `${run} step ${step}: ${what}`, files: withLine(file, at, edit(file.lines[at])) }
    }
    yield change(0, 'row removed', () => null)
    yield change(1, 'row twice', line => `${line}\n${line}`)
    yield change(2, 'reward is NaN', line => line.replace(escaped(curve.key), '$1NaN'))
    yield change(3, 'reward is null', line => line.replace(escaped(curve.key), '$1null'))
    yield change(4, 'reward is a text', line => line.replace(escaped(curve.key), '$1"$2"'))
    yield change(5, 'reward under another key', line => line.replace(curve.key, `${curve.key}s`))
    yield change(6, 'no step', line => line.replace(/"_step": \d+, /, ''))
    yield change(7, 'row cut', line => line.slice(0, line.length >> 1))
  }
}

interface Listed {
  id: string
  displayName: string
  createdAt: string
  label: string
  state: string
  config: Record<string, unknown>
}

/** Keys of a run's configuration that claims refer to, by run. */
function publishedConfiguration({ claims, measured }: HistorySubject): ReadonlyMap<string, ReadonlySet<string>> {
  const published = new Map<string, Set<string>>()
  for (const reference of claims.flatMap(claim => claim.from)) {
    const [, selection, group, session, config, key] = pointerTokens(reference.slice(reference.indexOf('#') + 1))
    const run = group === 'sessions' && config === 'config' ? measured.selections.get(selection)?.sessions[Number(session)]?.run : undefined
    if (run !== undefined) published.set(run, new Set([...(published.get(run) ?? []), key]))
  }
  return published
}

function* runs(subject: HistorySubject, random: Random): Generator<Mutation> {
  const path = 'wandb/runs.json'
  const listed = JSON.parse(subject.folder.text(path)) as Listed[]
  const edit = (kind: string, what: string, covered: boolean, change: (list: Listed[]) => Listed[]): Mutation => {
    const files = new Map([[path, JSON.stringify(change(structuredClone(listed)), null, 1)]])
    return { kind, what, covered, files }
  }
  const one =
    (i: number, change: (run: Listed) => void) =>
    (list: Listed[]): Listed[] => {
      change(list[i])
      return list
    }
  const chosen = new Set([...subject.measured.selections.values()].flatMap(s => s.sessions.map(session => session.run)))
  const origins = new Set(['gspo', 'sao'].map(name => subject.measured.selections.get(name)?.sessions[0]?.run))
  const published = publishedConfiguration(subject)
  for (const [i, run] of listed.entries()) {
    if (chosen.has(run.id)) {
      yield edit(
        'runs.json',
        `${run.id}: display name`,
        true,
        one(i, r => {
          r.displayName = changeCharacter(r.displayName, random)
        })
      )
      yield edit(
        'runs.json',
        `${run.id}: id`,
        true,
        one(i, r => {
          r.id = changeCharacter(r.id, random)
        })
      )
      yield edit(
        'runs.json',
        `${run.id}: label`,
        true,
        one(i, r => {
          r.label = changeCharacter(r.label, random)
        })
      )
      yield edit(
        'runs.json',
        `${run.id}: state`,
        true,
        one(i, r => {
          r.state = 'finished'
        })
      )
      yield edit('runs.json', `${run.id}: not listed`, true, list => list.filter((_, k) => k !== i))
      yield edit('runs.json', `${run.id}: listed twice`, true, list => [...list, list[i]])
    } else {
      yield edit(
        'runs.json',
        `${run.id}: display name of a run that is not selected`,
        false,
        one(i, r => {
          r.displayName += 'x'
        })
      )
    }
    if (origins.has(run.id)) {
      // The last digit of the seconds and of the minutes: 1 s is 0.00028 h, above the published 0.0001 h.
      yield edit(
        'runs.json',
        `${run.id}: createdAt`,
        true,
        one(i, r => {
          r.createdAt = r.createdAt.replace(/\d(?=Z?$)/, d => String((Number(d) + 3) % 10))
        })
      )
      yield edit(
        'runs.json',
        `${run.id}: createdAt`,
        true,
        one(i, r => {
          r.createdAt = r.createdAt.replace(/\d(?=:\d\dZ?$)/, d => String((Number(d) + 1) % 10))
        })
      )
    }
    for (const key of published.get(run.id) ?? []) {
      yield edit(
        'run configuration',
        `${run.id}: ${key}`,
        true,
        one(i, r => {
          const value = r.config[key]
          r.config[key] =
            typeof value === 'boolean' ? !value : typeof value === 'number' ? value * 2 : changeCharacter(String(value), random)
        })
      )
      yield edit(
        'run configuration',
        `${run.id}: no ${key}`,
        true,
        one(i, r => {
          delete r.config[key]
        })
      )
    }
  }
}

/** A number in place of the workbook's cell. */
function sharedReference(stated: { readonly value: number }): object {
  return {
    metric: 'validation',
    selections: ['sao_r6', 'sao_r7'],
    step: 0,
    label: '{value}%',
    decimals: 1,
    source: 's',
    output: 'training_data/recipe-validation-start.json',
    ...stated
  }
}

/** One number or name of the study's section, each of which decides a published value: pointer into the section, value. */
const STUDY_EDITS: ReadonlyArray<readonly [pointer: string, value: unknown]> = [
  ...[
    ['GSPO', 'SAO'],
    ['SAO', 'GSPO'],
    ['SAO r6', 'SAO r7'],
    ['SAO r7', 'SAO r6'],
    ['OpenHands SDK training', 'OpenCode training'],
    ['Three-harness mixed training', 'x']
  ].map(([, title], i) => [`/selections/${i}/title`, title] as const),
  ...Array.from({ length: 5 }, (_, i) => [`/figures/${i}/title`, 'Training'] as const),
  ...Array.from({ length: 5 }, (_, i) => [`/figures/${i}/x_title`, 'Training steps'] as const),
  ...Array.from(
    { length: 5 },
    (_, i) =>
      [
        [`/figures/${i}/panels/1/title`, 'Evaluation'],
        [`/figures/${i}/panels/1/axis`, 'SWE-bench (%)']
      ] as const
  ).flat(),
  ['/figures/0/panels/1/axis', 'SWE-bench Multilingual (%)'],
  ['/figures/4/panels/1/axis', 'SWE-bench Verified (%)'],
  ['/analyses/0/selections', ['sao', 'gspo']],
  ['/metrics/1/title', 'Validations'],
  ['/metrics/2/axis', 'Mean tokens'],
  ['/analyses/0/statistics/thresholds/0/at_least', 0.69],
  ['/analyses/0/statistics/thresholds/0/at_least', 0.58],
  ['/analyses/0/statistics/thresholds/0/metric', 'reward'],
  ['/analyses/0/statistics/ends/count', 21],
  ['/analyses/0/statistics/ends/count', 10],
  ['/analyses/0/statistics/windows/0/from', 107],
  ['/analyses/0/statistics/windows/0/to', 124],
  ['/analyses/0/statistics/best', ['reward']],
  ['/analyses/0/statistics/compare', { reference: 'sao', target: 'gspo' }],
  ['/analyses/0/supplied/step_prefix', []],
  ['/analyses/0/supplied/same_step', ['reward', 'response_length']],
  ['/analyses/1/statistics/windows/0/from', 41],
  ['/analyses/1/statistics/windows/0/to', 101],
  ['/analyses/1/statistics/windows/1/from', 121],
  ['/analyses/1/statistics/windows/1/to', 138],
  ['/analyses/1/statistics/first_rows/0/metrics', ['reward']],
  ['/analyses/0/supplied/anchor', false],
  ['/analyses/1/shared_reference', sharedReference({ value: 0.65 })],
  ['/analyses/1/shared_reference', sharedReference({ value: 0.63 })],
  ['/analyses/1/shared_reference/from', 'data.json#/values/sao.verified/value'],
  ['/analyses/1/shared_reference/from', 'data.json#/values/multilingual_training.multilingual/value'],
  ['/analyses/1/shared_reference/scale', 0.02],
  ['/analyses/1/shared_reference/step', 1],
  ['/analyses/1/shared_reference/label', '65.0%'],
  ['/analyses/1/shared_reference/decimals', 2],
  ['/analyses/1/shared_reference/selections', ['sao_r6']],
  ['/figures/3/panels/2/guides/0', { value: 2, label: 'r6 clip at 1', selection: 'sao_r6' }],
  ['/figures/3/panels/2/guides/0/from', 'data.json#/values/sao_r7.critic_clip/value'],
  ['/figures/3/panels/2/guides/0/label', 'r6 clip at 5'],
  ['/figures/3/panels/2/guides/1/selection', 'sao_r6'],
  ['/figures/3/panels/2/guides', []],
  ['/figures/3/panels/2/scale', { kind: 'linear' }],
  ['/figures/1/x_title', 'Time (days)'],
  ['/metrics/0/trailing_mean', 11],
  ['/metrics/1/multiply', 10],
  ['/metrics/2/divide', 100],
  ['/analyses/2/statistics/ends/count', 11],
  ['/analyses/2/statistics/ends/count', 1],
  ['/analyses/2/statistics/final/count', 4],
  ['/analyses/2/statistics/shares/0/metrics', ['harness_openhands_sdk', 'harness_opencode']],
  ['/selections/0/display_name', 'gspo-3nodes-35b-a3b-openhand'],
  ['/selections/0/display_time/at_hours', 136],
  ['/selections/0/display_time/at_hours', 134],
  ['/selections/1/display_time/multiply', 0.6],
  ['/selections/1/display_time/multiply', 0.51],
  ['/selections/5/display_name', 'mix3999-sao-r4'],
  ['/metrics/0/key', 'critic/score/max'],
  ['/metrics/1/key', 'val-core/unknown/reward/mean@2'],
  ['/metrics/2/key', 'response_length/max'],
  ['/metrics/3/key', 'num_turns/max'],
  ['/metrics/4/key', 'critic/vf_loss'],
  ['/keys/step', 'training/global_step']
]

/** Nothing published depends on these. */
const FREE_STUDY_EDITS: typeof STUDY_EDITS = [
  ['/metrics/9/title', 'Rate'],
  ['/companion_suffixes', ['-trainnodes']]
]

function* studies({ folder }: HistorySubject): Generator<Mutation> {
  const study = JSON.parse(folder.text('study.json')) as unknown
  for (const [edits, covered] of [
    [STUDY_EDITS, true],
    [FREE_STUDY_EDITS, false]
  ] as const) {
    for (const [pointer, value] of edits) {
      const files = new Map([['study.json', JSON.stringify(withValue(study, `/histories${pointer}`, value))]])
      yield { kind: 'study: histories', what: `${pointer} = ${JSON.stringify(value)}`, covered, files }
    }
  }
}

/** Rows that no published value depends on: a metric that the study does not name. */
function* free(subject: HistorySubject, random: Random, count: number): Generator<Mutation> {
  const runs = [...subject.measured.selections.values()].flatMap(s => s.sessions.map(session => session.run))
  for (const run of random.shuffle(runs).slice(0, count)) {
    const file = fileOf(subject, run)
    const at = random.below(file.lines.length - 1)
    const [, , number] = escaped('_runtime').exec(file.lines[at]) ?? []
    const changed = number === undefined ? null : changeDigit(number, random)
    if (changed === null) continue
    yield {
      kind: 'history value',
      covered: false,
      what: `${run} line ${at}: _runtime ${number} -> ${changed}`,
      files: withLine(file, at, file.lines[at].replace(escaped('_runtime'), `$1${changed}`))
    }
  }
}

export function* historyMutations(subject: HistorySubject, random: Random): Generator<Mutation> {
  yield* digits(subject, random, 2)
  yield* learningRates(subject, random)
  yield* sample(rows(subject, random), random, 36)
  yield* sample(runs(subject, random), random, 60)
  yield* studies(subject)
  yield* free(subject, random, 8)
}

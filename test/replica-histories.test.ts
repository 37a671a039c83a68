/**
 * The synthetic histories: every published value recomputed here in plain loops from the JSON lines that were written, with
 * none of the program's code between; and what makes the files worth reading: layout, spelling, odd values.
 */
import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { EVIDENCE_STUDY } from '../src/replica/evidence/study.js'
import { histories } from '../src/replica/histories.js'
import { StudyFolder } from '../src/replica/part.js'
import { Random } from '../src/replica/random.js'
import { Documents } from '../src/compute/documents.js'
import { withDrawnNumbers } from '../src/compute/histories/drawn-numbers.js'
import { measureHistories } from '../src/runs/histories.js'
import { loadStudy } from '../src/study/study.js'
import { OutputSet } from '../src/render/outputs/output-set.js'
import type { HistoryStudy } from '../src/schema/histories.js'
import { cpuMs } from './support/cpu.js'
import { contextOf } from './support/context.js'
import { best, logged, mean, missing, num, range, readSessions, stepView, window } from './support/history-files.js'
import type { Point, Run, Session } from './support/history-files.js'
import { replicaSource } from './support/paths.js'
import { hashes } from './support/run.js'

interface Claim {
  readonly id: string
  readonly value: unknown
  readonly unit: string
  readonly kind: string
  readonly decimals?: number
  readonly from?: string | readonly string[]
  readonly elements?: readonly string[]
  readonly scale?: number
}

const KEYS = {
  reward: 'critic/score/mean',
  validation: 'val-core/unknown/reward/mean@1',
  length: 'response_length/mean',
  turns: 'num_turns/mean',
  variance: 'critic/vf_explained_var',
  advantage: 'critic/advantages/mean',
  advantageMax: 'critic/advantages/max',
  criticNorm: 'critic/grad_norm',
  actorNorm: 'actor/grad_norm',
  actorLr: 'actor/lr',
  criticLr: 'critic/lr'
}
const HARNESSES = ['openhands_sdk', 'opencode', 'claude_code']
/** Claims that the histories answer; those of traces and of written evidence have tests of their own. */
const OF_HISTORIES = /^(?:history|lineage|score68|best|window20|display|fill|recipe|case|lr)\./

/** Section 9 of the notes: the score whose first crossing is compared. */
const THRESHOLD = 0.68

const TRAINING = [KEYS.reward, KEYS.length, KEYS.turns]

const dir = t.testdir()
const folder = new StudyFolder(dir, undefined)
const began = process.cpuUsage()
const study = (await histories.write(folder, new Random(histories.seed))) as HistoryStudy
const took = cpuMs(began)
t.comment(`histories made in ${Math.round(took)} ms of CPU`)

const runs = JSON.parse(readFileSync(join(dir, 'wandb/runs.json'), 'utf8')) as readonly Run[]

function sessionsOf(displayName: string): Session[] {
  return readSessions(join(dir, 'wandb/history'), runs, displayName)
}

const gspo = sessionsOf('gspo-3nodes-35b-a3b-openhands')
const r6 = sessionsOf('sao-3nodes-35b-a3b-dynbsz-r6')
const r7 = sessionsOf('sao-3nodes-35b-a3b-dynbsz-r7')
const single = sessionsOf('swegen1729-sao-r1')
const mixed = sessionsOf('mix3999-sao-r4-mixed')
const all = [...gspo, ...r6, ...r7, ...single, ...mixed]

/** One number for all of several metrics, or NaN. */
function same<T>(values: readonly T[]): T | undefined {
  return values.every(v => JSON.stringify(v) === JSON.stringify(values[0])) ? values[0] : undefined
}

function trained(sessions: readonly Session[]): number | undefined {
  return same(TRAINING.map(key => stepView(sessions, key).length))
}

function rowsOf(sessions: readonly Session[]): number {
  return sessions.reduce((sum, s) => sum + s.rows.length, 0)
}

t.test('every published value comes out of the files at its precision', t => {
  const hours = (sessions: readonly Session[], { row }: Point): number => (num(row, '_timestamp') - sessions[0].created) / 3600
  const validations = { gspo: stepView(gspo, KEYS.validation), sao: stepView(r7, KEYS.validation) }
  const tops = { gspo: best(validations.gspo), sao: best(validations.sao) }
  const crossings = {
    gspo: validations.gspo.filter(p => p.value >= THRESHOLD)[0],
    sao: validations.sao.filter(p => p.value >= THRESHOLD)[0]
  }
  const elapsed = {
    gspo: { best: hours(gspo, tops.gspo), score68: hours(gspo, crossings.gspo) },
    sao: { best: hours(r7, tops.sao), score68: hours(r7, crossings.sao) }
  }
  const factor = { gspo: 135 / elapsed.gspo.best, sao: 0.5 }
  const common = TRAINING.flatMap(key => [gspo, r7].map(s => range(window(stepView(s, key), 106, 125))))
  const gaps = TRAINING.map(key => missing(stepView(r7, key)))
  const filled = (step: number): boolean => TRAINING.every(key => stepView(gspo, key).some(p => p.step === step))
  const ends = (sessions: readonly Session[], from: number, to?: number): number[] | undefined =>
    same(TRAINING.map(key => range(stepView(sessions, key).slice(from, to))))
  const last = (points: readonly Point[]): Point => points[points.length - 1]
  const computed: Record<string, unknown> = {
    'history.gspo.rows': rowsOf(gspo),
    'history.r6.rows': rowsOf(r6),
    'history.sao_r7.rows': rowsOf(r7),
    'history.sao_r7.sessions': r7.length,
    'lineage.gspo.training_observations': trained(gspo),
    'lineage.sao.training_observations': trained(r7),
    'lineage.gspo.validation_observations': validations.gspo.length,
    'lineage.sao.validation_observations': validations.sao.length,
    'lineage.gspo.last_step': last(stepView(gspo, '_step')).step,
    'lineage.sao.last_step': last(stepView(r7, '_step')).step,
    'lineage.sao.rolled_back_steps': [num(r7[4].rows[0], '_step'), last(logged(r7[3], '_step')).step],
    'score68.difference_hours': elapsed.sao.score68 - elapsed.gspo.score68,
    'window20.gspo.first.range': ends(gspo, 0, 20),
    'window20.gspo.last.range': ends(gspo, -20),
    'window20.sao.first.range': ends(r7, 0, 20),
    'window20.sao.last.range': ends(r7, -20),
    'window20.common.range': same(common),
    'display.time_to_best_reduction': (1 - (elapsed.sao.best * factor.sao) / (elapsed.gspo.best * factor.gspo)) * 100,
    'fill.sao.validation_prefix_steps': validations.gspo.map(p => p.step).filter(step => step < validations.sao[0].step),
    'fill.sao.training_steps': same(gaps)?.filter(filled),
    'fill.sao.missing_unfilled_steps': same(gaps)?.filter(step => !filled(step)),
    // The workbook's, in percent: test/replica-evidence.test.ts reads its cell.
    'recipe.shared_start': study.analyses[1].shared_reference?.from === 'data.json#/values/base.verified/value' ? 64 : NaN,
    'recipe.r6.last_step': last(stepView(r6, '_step')).step,
    'recipe.r6.negative_advantage_max_rows': stepView(r6, KEYS.advantageMax).filter(p => p.value < 0).length,
    'case.single.rows': single.map(s => s.rows.length),
    'case.mixed.rows': rowsOf(mixed),
    'case.single.gap_steps': same(TRAINING.map(key => missing(stepView(single, key)))),
    'case.mixed.first10.range': ends(mixed, 0, 10)
  }
  const atZero = (key: string): string => (stepView(gspo, key).some(p => p.step === 0) ? 'borrowed_gspo' : 'shared_gspo_reference')
  const rates = (sessions: readonly Session[], key: string): unknown => same(sessions.flatMap(s => logged(s, key).map(p => p.value)))
  const [r7First, superseded, ...r7Rest] = r7
  Object.assign(computed, {
    'history.r6.run': r6[0].run.id,
    'history.efgcpv3c.run': superseded.run.id,
    'score68.sao.run': crossings.sao.run,
    'best.sao.run': tops.sao.run,
    'case.single.runs': single.map(s => s.run.id),
    'case.mixed.run': mixed[0].run.id,
    'fill.anchor': same(TRAINING.map(atZero)),
    'fill.anchor.validation': atZero(KEYS.validation),
    'lr.actor.logged': rates([...gspo, ...r6, r7First, ...r7Rest, ...single, ...mixed], KEYS.actorLr),
    'lr.efgcpv3c.actor.logged': rates([superseded], KEYS.actorLr),
    'lr.critic.logged': rates([...r7, ...single, ...mixed], KEYS.criticLr),
    'lr.unusable_rows': all
      .flatMap(s => s.rows)
      .filter(row => [KEYS.actorLr, KEYS.criticLr].some(key => key in row && !Number.isFinite(row[key]))).length
  })
  const commonWindow = (key: string, from: number, to: number): unknown =>
    same([r6, r7].map(sessions => range(window(stepView(sessions, key), from, to))))
  Object.assign(computed, {
    'history.states': same([...gspo, ...r6, ...r7, ...single, ...mixed].map(({ run }) => run.state)),
    'score68.threshold': THRESHOLD,
    'display.sao.factor': factor.sao,
    'display.gspo.factor': factor.gspo,
    'recipe.shared_start.step': study.analyses[1].shared_reference?.step,
    'recipe.window.explained_variance': commonWindow(KEYS.variance, 40, 100),
    'recipe.window.turns': commonWindow(KEYS.turns, 120, 139)
  })
  for (const name of ['gspo', 'sao'] as const) {
    Object.assign(computed, {
      [`score68.${name}.step`]: crossings[name].step,
      [`score68.${name}.value`]: crossings[name].value,
      [`score68.${name}.elapsed_hours`]: elapsed[name].score68,
      [`best.${name}.step`]: tops[name].step,
      [`best.${name}.value`]: tops[name].value,
      [`best.${name}.elapsed_hours`]: elapsed[name].best,
      [`display.${name}.best_hours`]: elapsed[name].best * factor[name],
      [`display.${name}.score68_hours`]: elapsed[name].score68 * factor[name]
    })
  }
  for (const [name, sessions] of Object.entries({ r6, r7 })) {
    const validation = stepView(sessions, KEYS.validation)
    const update = [KEYS.actorNorm, KEYS.actorLr].map(key => stepView(sessions, key)[0]).reduce((a, b) => (b.step < a.step ? b : a))
    const config = (key: string): unknown => same(sessions.map(s => s.run.config[key]))
    Object.assign(
      computed,
      Object.fromEntries(
        Object.entries({
          training_observations: trained(sessions),
          'best.step': best(validation).step,
          'best.value': best(validation).value,
          'first_actor_update.wandb_step': update.step,
          'first_actor_update.global_step': update.row['training/global_step'],
          'explained_variance.40_100': mean(window(stepView(sessions, KEYS.variance), 40, 100)),
          'turns.120_139': mean(window(stepView(sessions, KEYS.turns), 120, 139)),
          'reward.120_139': mean(window(stepView(sessions, KEYS.reward), 120, 139)),
          max_abs_advantage_mean: Math.max(...stepView(sessions, KEYS.advantage).map(p => Math.abs(p.value))),
          'config.critic_warmup': config('trainer.critic_warmup'),
          'config.clip_grad': config('critic.optim.clip_grad'),
          'config.gae_whiten_advantages': config('algorithm.gae_whiten_advantages'),
          first_validation_step: validation[0].step
        }).map(([key, value]) => [`recipe.${name}.${key}`, value])
      )
    )
  }
  for (const [name, sessions] of Object.entries({ single, mixed })) {
    const validation = stepView(sessions, KEYS.validation)
    const values: Record<string, unknown> = {
      training_observations: trained(sessions),
      validation_observations: validation.length,
      'validation.first': validation[0].value,
      'validation.first_step': validation[0].step,
      'validation.best': best(validation).value,
      'validation.best_step': best(validation).step,
      'validation.last': last(validation).value,
      'validation.last_step': last(validation).step,
      'validation.mean_final_five': mean(validation.slice(-5)),
      'validation.gain_points': (best(validation).value - validation[0].value) * 100
    }
    for (const [metric, key] of [
      ['reward', KEYS.reward],
      ['response_tokens', KEYS.length],
      ['turns', KEYS.turns]
    ]) {
      values[`${metric}.first10`] = mean(stepView(sessions, key).slice(0, 10))
      values[`${metric}.last10`] = mean(stepView(sessions, key).slice(-10))
    }
    Object.assign(computed, Object.fromEntries(Object.entries(values).map(([key, value]) => [`case.${name}.${key}`, value])))
  }
  const shares = HARNESSES.map(harness => stepView(mixed, `harness_selected/${harness}/mean`))
  HARNESSES.forEach((harness, i) => {
    computed[`case.mixed.harness.${harness}`] = mean(shares[i]) * 100
  })
  computed['case.mixed.harness.nonzero_batches'] = shares[0].filter((_, i) => shares.every(points => points[i].value !== 0)).length

  const { claims } = JSON.parse(readFileSync(replicaSource('claims.json'), 'utf8')) as { claims: readonly Claim[] }
  const due = claims.filter(claim => OF_HISTORIES.test(claim.id))
  t.same(due.map(claim => claim.id).sort(), Object.keys(computed).sort())
  t.equal(due.length, 125)
  for (const { id, value, decimals } of due) {
    const found = computed[id]
    if (typeof value === 'number' && typeof found === 'number' && decimals !== undefined) {
      const ulp = 2 ** (Math.floor(Math.log2(Math.abs(found) || 1)) - 52)
      t.ok(Math.abs(found - value) <= 0.5 * 10 ** -decimals + ulp, `${id}: ${found}, published ${value}`)
    } else {
      t.same(found, value, id)
    }
  }
  t.equal(elapsed.gspo.best, 136.05747247649563, 'to the last digit')
  t.equal(tops.sao.run, 'n7ed9z97')
  t.equal(crossings.sao.run, 'n7ed9z97')
  t.notOk(
    TRAINING.some(key => stepView(r7, key).some(p => p.run === 'efgcpv3c')),
    'the superseded run gives the step view nothing'
  )
  t.end()
})

t.test('exact sums, on the grids of the batches', t => {
  const units = (sessions: readonly Session[], key: string, from: number, to: number, grid: number): number => {
    const scaled = window(stepView(sessions, key), from, to).map(p => p.value * grid)
    t.ok(scaled.every(Number.isInteger), `${key} in 1/${grid}`)
    return scaled.reduce((a, b) => a + b, 0)
  }
  t.equal(units(r6, KEYS.reward, 120, 139, 64), 664)
  t.equal(units(r7, KEYS.reward, 120, 139, 64), 754)
  t.equal(units(r6, KEYS.turns, 120, 139, 64), 140177)
  t.equal(units(r7, KEYS.turns, 120, 139, 64), 62785)
  t.equal(units(single, KEYS.turns, 100, 109, 64), 71092)
  t.equal(units(mixed, KEYS.length, 21, 30, 128), 73751559)
  t.equal(units(mixed, KEYS.reward, 192, 201, 128), 615)
  for (const [harness, hits] of [
    ['openhands_sdk', 7662],
    ['opencode', 7635],
    ['claude_code', 7871]
  ] as const) {
    t.equal(units(mixed, `harness_selected/${harness}/mean`, 21, 201, 128), hits)
  }
  const shares = mixed[0].rows.slice(2).map(row => HARNESSES.reduce((sum, h) => sum + num(row, `harness_selected/${h}/mean`), 0))
  t.ok(shares.length === 181 && shares.every(sum => sum === 1), 'every trajectory has one harness')
  t.end()
})

t.test('sessions are laid out as the counts need', t => {
  const layout = (sessions: readonly Session[]): unknown[] =>
    sessions.map(({ run, rows }) => {
      const steps = rows.map(row => num(row, '_step'))
      t.ok(
        steps.every((step, i) => step === steps[0] + i),
        `${run.id} has no hole`
      )
      const quiet = rows.filter(row => TRAINING.every(key => row[key] === undefined)).map(row => row['_step'])
      const lags = new Set(rows.slice(quiet.length).map(row => num(row, '_step') - num(row, 'training/global_step')))
      return [run.id, steps[0], rows.length, quiet, ...lags]
    })
  const [first, , third, , fifth] = r7.map(s => s.run.id)
  t.same(layout(r7), [
    [first, 0, 45, [0, 1], 1],
    ['efgcpv3c', 40, 19, [40], 0],
    [third, 40, 124, [40, 41], 0],
    ['n7ed9z97', 160, 64, [160, 161], 0],
    [fifth, 200, 40, [200, 201], 0]
  ])
  t.same(layout(r6), [['iam7jvyb', 0, 140, [0, 1], 1]])
  t.same(layout(gspo), [[gspo[0].run.id, 0, 126, [0, 1], 1]])
  t.same(layout(single), [
    ['nzfia8d6', 0, 26, [0, 1], 1],
    ['dtteaa2a', 26, 84, [26, 27], 0]
  ])
  t.same(layout(mixed), [['8j77hkaf', 19, 183, [19, 20], 0]])
  t.equal(
    r7.reduce((sum, s) => sum + logged(s, KEYS.reward).length, 0),
    283,
    'observations of the time view'
  )
  t.equal(
    r7.reduce((sum, s) => sum + logged(s, KEYS.validation).length, 0),
    12,
    'one validation was rolled back'
  )
  t.same(
    all.filter(s => logged(s, `harness_selected/opencode/mean`).length > 0).map(s => s.run.id),
    ['8j77hkaf']
  )
  const gspoKeys = gspo.flatMap(s => s.rows).flatMap(row => Object.keys(row))
  t.same(
    gspoKeys.filter(key => /^critic\/(vf|grad|lr)/.test(key)),
    [],
    'GSPO has no critic'
  )
  t.same(
    r7.map(s => [...new Set(logged(s, KEYS.actorLr).map(p => p.value))]),
    [[1e-6], [2e-6], [1e-6], [1e-6], [1e-6]]
  )
  t.same(new Set(r7.flatMap(s => logged(s, KEYS.criticLr)).map(p => p.value)), new Set([5e-6]), 'the configured 2.5e-6 is never logged')
  t.same(
    r7.map(s => s.run.config['critic.optim.lr']),
    [5e-6, 5e-6, 5e-6, 2.5e-6, 2.5e-6]
  )
  t.end()
})

t.test('clocks run on, and never back', t => {
  for (const { run, created, rows } of all) {
    const times = rows.map(row => num(row, '_timestamp'))
    t.ok(
      times.every((time, i) => time > (i === 0 ? created : times[i - 1])),
      `${run.id}: later at every row`
    )
    t.ok(
      times.every(time => Number.isInteger(time * 2 ** 22)),
      `${run.id}: sub-second, exact in differences`
    )
    t.ok(
      rows.every(row => num(row, '_runtime') < num(row, '_timestamp') - created + 1),
      `${run.id}: _runtime counts from the session's start`
    )
    t.ok(times[times.length - 1] < Date.parse(run.fetchedAt) / 1000, `${run.id}: fetched after its last row`)
  }
  for (const sessions of [r7, single]) {
    sessions.slice(1).forEach((session, i) => {
      const down = (session.created - num(sessions[i].rows[sessions[i].rows.length - 1], '_timestamp')) / 3600
      t.ok(down > 1 && down < 12, `${down.toFixed(2)} hours before ${session.run.id}`)
    })
  }
  t.end()
})

t.test('the list of runs is what a fetch leaves, with its further lists and a certificate a history', t => {
  const created = (run: Run): number => Date.parse(run.createdAt.replace(/Z?$/, 'Z'))
  const inOrder = [...runs].sort((a, b) => created(a) - created(b) || (a.id < b.id ? -1 : 1))
  t.same(
    runs.map(run => run.id),
    inOrder.map(run => run.id),
    'in order of creation, then by id'
  )
  t.equal(runs.length, 23)
  for (const [path, labels] of [
    ['recipe_comparison_runs.json', ['sao_r6', 'sao_r7']],
    ['additional_case_runs.json', ['multilingual_single', 'multilingual_mixed']]
  ] as const) {
    const view = JSON.parse(readFileSync(join(dir, 'wandb', path), 'utf8')) as readonly Run[]
    t.ok(view.length > 2, path)
    t.same(
      view,
      runs.filter(run => (labels as readonly string[]).includes(run.label)),
      `${path}: the same entries`
    )
  }
  for (const { run, rows } of all) {
    const history = `wandb/history/${run.label}/${run.id}`
    const certificate = JSON.parse(readFileSync(join(dir, `${history}.certificate.json`), 'utf8')) as {
      readonly run: { readonly id: string }
      readonly snapshot: { readonly history_line_count: number }
      readonly history: { readonly path: string; readonly sha256: string }
    }
    t.match(
      certificate,
      {
        run: { id: run.id },
        snapshot: { history_line_count: rows.length },
        history: {
          path: `${history}.jsonl`,
          sha256: createHash('sha256')
            .update(readFileSync(join(dir, `${history}.jsonl`)))
            .digest('hex')
        }
      },
      `${run.id}: certified`
    )
  }
  t.equal(runs.filter(run => !run.createdAt.endsWith('Z')).length, 2, 'a run and its companion have no zone')
  t.equal(new Set(runs.map(run => run.id)).size, runs.length)
  t.ok(runs.every(run => run.state === 'crashed' && /^[a-z0-9]{8}$/.test(run.id)))
  t.ok(runs.every(run => run.url === `https://wandb.example/synthetic/critic-traces-replica/runs/${run.id}`))
  const selected = new Set(study.selections.map(s => s.display_name))
  t.equal(all.length, 10)
  t.same(
    runs
      .filter(run => selected.has(run.displayName))
      .map(run => run.id)
      .sort(),
    all.map(s => s.run.id).sort()
  )
  const others = runs.filter(run => !selected.has(run.displayName)).map(run => run.displayName)
  t.equal(others.filter(name => name.endsWith('-trainnode') && selected.has(name.slice(0, -10))).length, 10)
  t.same(others.filter(name => !name.endsWith('-trainnode')).sort(), [
    'mix3999-sao-r3',
    'sao-3nodes-35b-a3b-dynbsz-r5',
    'sao-3nodes-35b-a3b-dynbsz-r7-eval'
  ])

  const roles: Record<string, number> = {}
  for (const { role, path, sha256, bytes } of folder.files) {
    roles[role] = (roles[role] ?? 0) + 1
    const content = readFileSync(join(dir, path))
    t.equal(createHash('sha256').update(content).digest('hex'), sha256, path)
    t.equal(content.length, bytes)
  }
  t.same(roles, { runs: 3, history: 10, certificate: 10, excluded: 1 })
  const found = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile()).length
  t.equal(found, folder.files.length, 'every file is listed')
  t.end()
})

t.test('the order of the list of runs changes nothing but its own hash', async t => {
  const shuffled = join(t.testdir(), 'study')
  cpSync(dir, shuffled, { recursive: true })
  writeFileSync(
    join(shuffled, 'study.json'),
    JSON.stringify({ schema_version: 1, name: 'shuffled', histories: study, evidence: EVIDENCE_STUDY })
  )
  const {
    study: { histories: stated }
  } = await loadStudy(shuffled)
  if (stated === null) throw new Error('no histories')
  const values = { 'base.verified': { value: 64 }, 'sao_r6.critic_clip': { value: 1 }, 'sao_r7.critic_clip': { value: 10 } }
  const section = withDrawnNumbers(stated, new Documents(new Map([['data.json', JSON.stringify({ values })]])))
  const measured = async (list: readonly Run[], name: string): Promise<unknown> => {
    writeFileSync(join(shuffled, 'wandb/runs.json'), JSON.stringify(list))
    const set = await OutputSet.open(join(shuffled, '..', name))
    const { files, warnings, excluded } = await measureHistories(contextOf(shuffled, true), section, set)
    await set.commit()
    return { files, warnings, excluded, outputs: hashes(join(shuffled, '..', name)) }
  }
  const listed = await measured(runs, 'listed')
  t.equal(Object.keys((listed as { outputs: object }).outputs).length, 19, 'every file of the histories')
  for (const seed of [1, 2, 3, 4]) {
    const list = new Random(`shuffle/${seed}`).shuffle([...runs])
    t.notSame(
      list.map(run => run.id),
      runs.map(run => run.id)
    )
    t.strictSame(await measured(list, `shuffled${seed}`), listed, `seed ${seed}`)
  }
  t.strictSame(await measured([...runs].reverse(), 'reversed'), listed, 'newest first')
})

t.test('rows are spelt as Python writes them, with odd values where no claim looks', t => {
  const text = all.map(s => s.text).join('')
  t.match(text, /"actor\/lr": 1e-06,/)
  t.match(text, /"critic\/lr": 5e-06,/)
  t.match(text, /"critic\/score\/max": 1\.0,/)
  t.match(text, /"_step": 239, "_timestamp": \d{10}\.\d+,/)
  t.match(text, /"val-core\/unknown\/reward\/mean@1": 0\.6166666666666667}/)
  t.notMatch(text, /\d\.\d*e-\d[,}]|\r|\t/, 'two digits of exponent, no other white space')
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0
  t.same([count(/: NaN[,}]/g), count(/: -?Infinity[,}]/g), count(/: "NaN"[,}]/g), count(/: null[,}]/g)], [1, 1, 2, 0])
  const odd = all.flatMap(s =>
    s.rows.flatMap(row => {
      const found = Object.entries(row).filter(([, value]) => typeof value !== 'number')
      return found.map(([key, value]) => [s.run.id, row['_step'], key, value])
    })
  )
  t.same(odd, [
    ['iam7jvyb', 114, 'critic/grad_norm', 'NaN'],
    ['iam7jvyb', 127, 'actor/ppo_kl', 'NaN'],
    ['efgcpv3c', 55, 'critic/grad_norm', 'Infinity'],
    [r7[2].run.id, 88, 'critic/grad_norm', 'NaN']
  ])
  t.end()
})

t.test('it looks like training', t => {
  const variance = (sessions: readonly Session[]): Point[] => stepView(sessions, KEYS.variance)
  t.ok(variance(r6)[0].value < -1000 && variance(r7)[0].value < -20, 'critics start far below zero')
  t.ok(
    variance(r6)
      .slice(40)
      .every(p => Math.abs(p.value) < 0.4) && mean(variance(r7).slice(-20)) > 0.3,
    'and come up'
  )
  const norms = [r6, r7].flatMap(sessions => stepView(sessions, KEYS.criticNorm)).map(p => p.value)
  t.ok(Math.min(...norms) > 0.2 && Math.min(...norms) < 0.8 && Math.max(...norms) > 400, 'gradient norms over decades')
  const low = logged(r7[1], KEYS.reward).reduce((a, b) => (b.value < a.value ? b : a))
  t.ok(low.value < 0.12 && num(low.row, KEYS.length) < 15000, `superseded: reward ${low.value} at step ${low.step}, short responses`)
  t.ok(
    stepView(r7, KEYS.reward).every(p => p.value > 0.3),
    'nowhere else'
  )
  for (const [sessions, from, to] of [
    [gspo, 36, 54],
    [r6, 36, 88],
    [r7, 36, 54]
  ] as const) {
    const points = stepView(sessions, KEYS.length)
    t.ok(Math.abs(mean(points.slice(0, 20)) / 1000 - from) < 2 && Math.abs(mean(points.slice(-20)) / 1000 - to) < 3, 'responses grow')
    const rewards = stepView(sessions, KEYS.reward).map(p => p.value)
    const jumps = rewards.slice(1).map((v, i) => Math.abs(v - rewards[i]))
    t.ok(jumps.reduce((a, b) => a + b) / jumps.length > 0.02, 'rewards are noisy')
  }
  t.ok(
    stepView(r7, KEYS.advantage).every(p => Math.abs(p.value) < 0.0405),
    'whitened'
  )
  t.ok(mean(stepView(r6, KEYS.advantage).slice(-30)) < -0.3, 'adrift')
  t.end()
})

t.test('the study section names what is there', t => {
  const keys = new Set(all.flatMap(s => s.rows.flatMap(row => Object.keys(row))))
  for (const { name, key } of study.metrics) t.ok(keys.has(key), `${name}: ${key}`)
  t.ok([study.keys.step, study.keys.timestamp, study.keys.global_step].every(key => key !== null && keys.has(key)))
  const names = new Set(study.metrics.map(m => m.name))
  t.ok(study.analyses.every(a => a.metrics.every(m => names.has(m))))
  t.same(
    study.figures.map(f => [f.name, f.view, f.panels.length]),
    [
      ['03-training-by-step', 'step', 4],
      ['04-training-over-time', 'time', 4],
      ['05-sao-recipe-training', 'step', 4],
      ['06-sao-critic-diagnostics', 'step', 4],
      ['07-multilingual-cases', 'step', 4]
    ]
  )
  // a claim points into a document that an analysis writes
  const outputs = new Set(study.analyses.flatMap(a => [a.outputs.statistics, a.outputs.time_display, a.shared_reference?.output]))
  const { claims } = JSON.parse(readFileSync(replicaSource('claims.json'), 'utf8')) as { claims: readonly Claim[] }
  for (const { id, from, elements } of claims.filter(claim => OF_HISTORIES.test(claim.id))) {
    const places = [from ?? elements ?? []].flat()
    t.ok(places.length > 0 && places.every(place => outputs.has(place.split('#')[0])), id)
  }
  t.end()
})

t.test('the same bytes twice, in well under a second', async t => {
  const again = new StudyFolder(t.testdir(), undefined)
  const start = process.cpuUsage()
  t.strictSame(await histories.write(again, new Random(histories.seed)), study)
  t.strictSame(again.files, folder.files)
  t.ok(Math.min(took, cpuMs(start)) < 3000)
})

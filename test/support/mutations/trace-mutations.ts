/**
 * Mutations of a snapshot: its page, its NPZ files, the study's section on it. Three depths: in the page alone (the arrays
 * are then no longer equal), in page and NPZ (the stored mean and RMSE no longer fit), and in page, NPZ and stored statistics,
 * so that nothing but the audit can notice. There the value is one that a published statistic depends on: the mean of an
 * example, or a sum of changes that the new value moves by more than the published precision.
 */
import type { Random } from '../random.js'
import { npzOf, page, SNAPSHOT_TIME, withStored, type TestTrace } from '../snapshot.js'
import { changeCharacter, changeDigit, withValue, type MutableFolder, type Mutation } from './mutation.js'

export interface TraceSubject {
  readonly folder: MutableFolder
  readonly traces: readonly TestTrace[]
  /** indexes of the two traces of the figure */
  readonly examples: readonly number[]
}

type Edit = (trace: TestTrace) => void

export const SNAPSHOT = 'traces'

function pageText(traces: readonly TestTrace[], time = SNAPSHOT_TIME): string {
  return page(JSON.stringify({ snapshot_time: time, alignment: 'value before the token', traces }))
}

/** Every trace with its stored statistics, as the page holds it. */
function stored({ traces }: TraceSubject): TestTrace[] {
  return traces.map(trace => withStored(structuredClone(trace)))
}

interface Depth {
  readonly npz: boolean
  readonly statistics: boolean
}

const PAGE: Depth = { npz: false, statistics: false }
const ARRAYS: Depth = { npz: true, statistics: false }
const EVERYTHING: Depth = { npz: true, statistics: true }

async function edited(
  subject: TraceSubject,
  kind: string,
  what: string,
  index: number,
  edit: Edit,
  { npz, statistics }: Depth,
  covered = true
): Promise<Mutation> {
  const traces = stored(subject)
  const trace = traces[index]
  const name = trace.npz
  edit(trace)
  if (statistics) {
    const { value_mean: _mean, value_rmse: _rmse, ...bare } = trace
    traces[index] = withStored(bare)
  }
  const files = new Map<string, string | Uint8Array>([[`${SNAPSHOT}/index.html`, pageText(traces)]])
  if (npz) files.set(`${SNAPSHOT}/${name}`, await npzOf(traces[index]))
  return { kind, what: `trace ${index}: ${what}`, covered, files }
}

/** Sums of |change| at boundaries and inside: what the two published means are made of. */
function changes({ values, response_positions: positions }: TestTrace): readonly [number, number] {
  const sums: [number, number] = [0, 0]
  for (let i = 1; i < values.length; i++) sums[positions[i] - positions[i - 1] === 1 ? 1 : 0] += Math.abs(values[i] - values[i - 1])
  return sums
}

async function* values(subject: TraceSubject, random: Random, count: number): AsyncGenerator<Mutation> {
  for (const [depth, kind] of [
    [PAGE, 'page: value'],
    [ARRAYS, 'page and NPZ: value'],
    [EVERYTHING, 'page, NPZ and statistics']
  ] as const) {
    for (let made = 0; made < count; ) {
      const index = random.below(subject.traces.length)
      const trace = subject.traces[index]
      const at = random.below(trace.values.length)
      // Above what the stored statistics are compared to, and the published ten decimals over some hundred transitions.
      const text = changeDigit(JSON.stringify(trace.values[at]), random, 1e-6)
      if (text === null) continue
      const edit: Edit = t => {
        t.values[at] = Number(text)
      }
      if (depth.statistics) {
        const after = structuredClone(trace)
        edit(after)
        const [before, now] = [changes(trace), changes(after)]
        const seen = subject.examples.includes(index) || before.some((sum, i) => Math.abs(sum - now[i]) > 1e-6)
        if (!seen) continue
      }
      made++
      yield edited(subject, kind, `values[${at}] ${trace.values[at]} -> ${text}`, index, edit, depth)
    }
  }
}

async function* arrays(subject: TraceSubject, random: Random): AsyncGenerator<Mutation> {
  for (const [index, trace] of subject.traces.entries()) {
    const at = 1 + random.below(trace.values.length - 2)
    const flip: Edit = t => {
      t.returns[at] = 1 - t.returns[at]
    }
    yield edited(subject, 'page: returns', `returns[${at}] flipped`, index, flip, PAGE)
    yield edited(subject, 'page, NPZ and statistics', `returns[${at}] flipped`, index, flip, EVERYTHING)
    const shift: Edit = t => {
      t.response_positions = t.response_positions.map((p, i) => (i >= at ? p + 1 : p))
    }
    yield edited(subject, 'page: positions', `positions from ${at} on + 1`, index, shift, PAGE)
    const back: Edit = t => {
      t.response_positions[at] = t.response_positions[at - 1]
    }
    yield edited(subject, 'page and NPZ: positions', `positions[${at}] repeated`, index, back, ARRAYS)
    const inner = trace.response_positions.findIndex((p, i) => i > 0 && p - trace.response_positions[i - 1] === 1)
    const open: Edit = t => {
      t.response_positions = t.response_positions.map((p, i) => (i >= inner ? p + 1 : p))
    }
    yield edited(subject, 'page and NPZ: positions', `a boundary more, at ${inner}`, index, open, ARRAYS)
    const short: Edit = t => {
      t.values.pop()
    }
    yield edited(subject, 'page: values', 'one less', index, short, PAGE)
  }
}

/** What a trace may leave out: without it the snapshot still loads. */
const OPTIONAL: ReadonlyArray<keyof TestTrace> = [
  'step',
  'outcome',
  'score',
  'uid',
  'prediction_stage',
  'npz',
  'value_mean',
  'value_rmse',
  'segment_texts'
]

async function* fields(subject: TraceSubject, random: Random): AsyncGenerator<Mutation> {
  for (const [index, trace] of subject.traces.entries()) {
    const change = (what: string, edit: Edit, covered = true): Promise<Mutation> =>
      edited(subject, 'page: fields', what, index, edit, PAGE, covered)
    yield change('step', t => {
      t.step += 1
    })
    yield change('score a half', t => {
      t.score = 0.5
    })
    yield change('score against the outcome', t => {
      t.score = trace.outcome === 'success' ? 0 : 1
    })
    yield change('no score', t => {
      t.score = null
    })
    for (const key of OPTIONAL)
      yield change(`without ${key}`, t => {
        Reflect.deleteProperty(t, key)
      })
    yield change('outcome', t => {
      t.outcome = t.outcome === 'success' ? 'failure' : 'success'
    })
    yield change('prediction stage', t => {
      t.prediction_stage = changeCharacter(t.prediction_stage, random)
    })
    yield change('NPZ name', t => {
      t.npz = changeCharacter(t.npz, random)
    })
    yield change('stored mean', t => {
      t.value_mean = Number(t.value_mean) + 1e-9
    })
    yield change('stored RMSE', t => {
      t.value_rmse = Number(t.value_rmse) - 1e-9
    })
    yield change('uid of another trace', t => {
      t.uid = subject.traces[(index + 1) % subject.traces.length].uid
    })
    yield change(
      'uid',
      t => {
        t.uid = changeCharacter(t.uid, random)
      },
      false
    )
    yield change('end marker of the first span', t => {
      t.segment_texts[0] = t.segment_texts[0].replace('im_end', 'im_ends')
    })
    yield change(
      'text of the first span',
      t => {
        t.segment_texts[0] = `x${t.segment_texts[0]}`
      },
      false
    )
    if (trace.segment_texts.length > 1)
      yield change('a span less', t => {
        t.segment_texts.pop()
      })
  }
  const path = `${SNAPSHOT}/index.html`
  const all = stored(subject)
  const whole = (what: string, text: string): Mutation => ({ kind: 'page: fields', what, covered: true, files: new Map([[path, text]]) })
  yield whole('snapshot time', pageText(all, SNAPSHOT_TIME.replace('678901', '678902')))
  yield whole('a trace less', pageText(all.slice(1)))
  yield whole('a trace twice', pageText([...all, all[0]]))
  yield whole('page cut', pageText(all).slice(0, 5000))
  yield whole('NaN among the values', pageText(all).replace(/"values":\[[^,]+,/, '"values":[NaN,'))
}

/** One byte of an array's data in an NPZ file, and of a member's checksum. */
async function* bytes({ traces }: TraceSubject, random: Random): AsyncGenerator<Mutation> {
  for (const trace of traces) {
    const path = `${SNAPSHOT}/${trace.npz}`
    const original = await npzOf(trace)
    const data = Buffer.from(original).indexOf(Buffer.from(Float64Array.of(trace.values[0]).buffer))
    const flipped = (at: number, kind: string, covered: boolean): Mutation => {
      const changed = Buffer.from(original)
      changed[at] ^= 1 << random.below(8)
      return { kind, what: `${trace.npz} byte ${at}`, covered, files: new Map([[path, changed]]) }
    }
    yield flipped(data + random.below(8 * trace.values.length), 'NPZ: byte of the data', true)
    // Bytes 10 to 13 of a local header are the time of the file.
    yield flipped(10, 'NPZ: time in the header', false)
    yield { kind: 'NPZ: file', what: `${trace.npz} removed`, covered: true, files: new Map([[path, null]]) }
    yield { kind: 'NPZ: file', what: `${trace.npz} cut`, covered: true, files: new Map([[path, original.slice(0, original.length >> 1)]]) }
  }
  const [one, other] = traces
  const swapped = new Map([
    [`${SNAPSHOT}/${one.npz}`, await npzOf(other)],
    [`${SNAPSHOT}/${other.npz}`, await npzOf(one)]
  ])
  yield { kind: 'NPZ: file', what: 'two files changed places', covered: true, files: swapped }
}

const STUDY_EDITS: ReadonlyArray<readonly [pointer: string, value: unknown]> = [
  ['/success_threshold', 1],
  ['/success_threshold', -1],
  ['/jump_threshold', 0.11],
  ['/jump_threshold', 0.2],
  ['/jump_threshold', 0.01],
  ['/expectations/outcomes_per_step', [1, 2]],
  ['/expectations/outcomes_per_step', [2, 1]],
  ['/expectations/prediction_stage', 'after_critic_update'],
  ['/expectations/boundary_end_marker', '<|im_start|>'],
  ['/expectations/boundary_end_marker', null],
  ['/examples/success', { step: 12, outcome: 'success' }],
  ['/examples/failure', { step: 11, outcome: 'failure' }],
  ['/examples/success', { step: 9, outcome: 'success' }],
  ['/snapshot', 'trace']
]

function* studies({ folder }: TraceSubject): Generator<Mutation> {
  const study = JSON.parse(folder.text('study.json')) as unknown
  for (const [pointer, value] of STUDY_EDITS) {
    const files = new Map([['study.json', JSON.stringify(withValue(study, `/critic_traces${pointer}`, value))]])
    yield { kind: 'study: critic traces', what: `${pointer} = ${JSON.stringify(value)}`, covered: true, files }
  }
}

export async function* traceMutations(subject: TraceSubject, random: Random): AsyncGenerator<Mutation> {
  yield* values(subject, random, 15)
  yield* arrays(subject, random)
  yield* fields(subject, random)
  yield* bytes(subject, random)
  yield* studies(subject)
}

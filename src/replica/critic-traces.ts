/**
 * The snapshot part of the replica: the page, an NPZ file for each trace, and the two NPZ files of the next step that the
 * page does not name.
 */
import { zipSync } from 'fflate'
import { encodeNpy, encodeNpyBool, encodeNpyFloat, encodeNpyInt, encodeNpyText, NpzWriter } from '../ingest/npz/write.js'
import { ByteBuffer } from './bytes.js'
import { layExcluded, layTraces } from './layout.js'
import type { TraceLayout } from './layout.js'
import { PAGE_HEAD, PAGE_TAIL } from './page.js'
import type { ReplicaPart, StudyFolder } from './part.js'
import { makeValues } from './pool.js'
import { NumberWriter, pythonFloat } from './python-json.js'
import type { Random } from './random.js'
import type { ValueTrace } from './settle.js'
import * as target from './targets.js'
import { escapeForPage, Transcript } from './transcript.js'

const FOLDER = 'critic_traces'

/** Bytes of transcript per token. A tokenizer gives fewer; this gives the page the size of the real one. */
const TEXT_PER_TOKEN = 11.65

/** Traces up to this many tokens have a deflated NPZ file, as `np.savez_compressed` writes. The others are stored. */
const DEFLATED_UP_TO = 12000

const ALIGNMENT =
  'A value belongs to the state before its token: it is what the critic predicted when everything up to ' +
  'the previous token had been read, and the token at the same index is the action taken there. Only tokens that the ' +
  'model wrote are kept; a gap in response_positions is tool output or formatting.'

function npzName({ step, outcome, uid }: TraceLayout): string {
  return `step_${String(step).padStart(6, '0')}_${outcome}_${uid.slice(0, 8)}.npz`
}

function scoreOf(layout: TraceLayout): number {
  return layout.outcome === 'success' ? 1 : 0
}

async function writeNpz(folder: StudyFolder, { layout, values }: ValueTrace, role: string): Promise<void> {
  const members: ReadonlyArray<readonly [string, Uint8Array]> = [
    ['values', encodeNpy(Float32Array.from(values))],
    ['returns', encodeNpy(new Float32Array(layout.tokens).fill(scoreOf(layout)))],
    ['response_positions', encodeNpy(BigInt64Array.from(layout.positions, BigInt))],
    ['step', encodeNpyInt(layout.step)],
    ['score', encodeNpyFloat(scoreOf(layout))],
    ['uid', encodeNpyText(layout.uid)],
    ['synthetic', encodeNpyBool(true)]
  ]
  const name = `${FOLDER}/${npzName(layout)}`
  if (layout.tokens <= DEFLATED_UP_TO) {
    // fflate's deflate is the same JavaScript everywhere; zlib's bytes differ between builds and processors
    const files = Object.fromEntries(members.map(([member, npy]) => [`${member}.npy`, npy]))
    await folder.write(name, role, send => send(zipSync(files, { level: 4, mtime: new Date(1980, 0, 1) })))
    return
  }
  await folder.write(name, role, async send => {
    const pieces: Uint8Array[] = []
    const writer = new NpzWriter(bytes => {
      pieces.push(bytes)
    })
    for (const [member, npy] of members) await writer.add(member, npy)
    await writer.finish()
    await send(Buffer.concat(pieces))
  })
}

/** Mean and root mean square error, as the trainer's collector stores them. */
function storedStatistics({ layout, values }: ValueTrace): { mean: number; rmse: number } {
  const score = scoreOf(layout)
  let sum = 0
  let squares = 0
  for (const value of values) {
    sum += value
    squares += (value - score) * (value - score)
  }
  return { mean: sum / values.length, rmse: Math.sqrt(squares / values.length) }
}

/** Sixteen points of the trace for a sparkline: a nested key `values` before the real one. */
function preview(values: Float64Array): string {
  const indices = Array.from({ length: 16 }, (_, i) => Math.floor((i * (values.length - 1)) / 15))
  return `{"indices": [${indices.join(', ')}], "values": [${indices.map(i => pythonFloat(values[i])).join(', ')}]}`
}

class SnapshotWriter {
  readonly #out = new ByteBuffer()
  readonly #numbers = new NumberWriter()
  readonly #transcript: Transcript
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
    this.#transcript = new Transcript(this.#out, random)
  }

  head(): Uint8Array {
    this.#out.text(PAGE_HEAD)
    // The label comes first, so that reading the beginning of the page is enough.
    this.#out.text(`{"synthetic": true, "snapshot_time": "${target.SNAPSHOT_TIME}", "alignment": "${escapeForPage(ALIGNMENT)}", `)
    // An unknown key with a `traces` of its own. The collector's settings are in the configuration, which is read.
    this.#out.text('"viewer": {"traces": null}, "traces": [')
    return this.#out.take()
  }

  trace(trace: ValueTrace, first: boolean): Uint8Array {
    const { layout, values } = trace
    const { mean, rmse } = storedStatistics(trace)
    const out = this.#out
    const score = pythonFloat(scoreOf(layout))
    out.text(
      `${first ? '' : ', '}{"step": ${layout.step}, "outcome": "${layout.outcome}", "score": ${score}, ` +
        `"uid": "${layout.uid}", "prediction_stage": "${target.PREDICTION_STAGE}", "npz": "${npzName(layout)}", ` +
        `"value_mean": ${pythonFloat(mean)}, "value_rmse": ${pythonFloat(rmse)}, "preview": ${preview(values)}, "values": `
    )
    this.#numbers.floats(out, values)
    out.text(', "returns": ')
    this.#numbers.floats(out, new Float64Array(layout.tokens).fill(scoreOf(layout)))
    out.text(', "response_positions": ')
    this.#numbers.integers(out, layout.positions)
    out.text(', "segment_texts": [')
    this.#spans(layout)
    out.text(']}')
    return out.take()
  }

  #spans({ spanStarts, tokens, outcome }: TraceLayout): void {
    const start = this.#out.length
    // some failures run out of room in the middle of their last turn
    const last = outcome === 'failure' && this.#random.uniform() < 0.3 ? 'cut' : 'finish'
    spanStarts.forEach((_, i) => {
      const isLast = i + 1 === spanStarts.length
      const end = isLast ? tokens : spanStarts[i + 1]
      this.#out.text(i === 0 ? '"' : ', "')
      // a span that is too long shortens the next, and the reverse
      this.#transcript.write(Math.round(TEXT_PER_TOKEN * end) - (this.#out.length - start), isLast ? last : 'turn')
      this.#out.text('"')
    })
  }

  tail(): Uint8Array {
    this.#out.text(']}')
    this.#out.text(PAGE_TAIL)
    return this.#out.take()
  }
}

export const criticTraces: ReplicaPart = {
  section: 'critic_traces',
  seed: 'critic-traces/1',
  write: async (folder, random) => {
    const layouts = random.fork('layout')
    const { traces, excluded } = makeValues(layTraces(layouts), layExcluded(layouts), random.fork('values'))
    const writer = new SnapshotWriter(random.fork('texts'))
    await folder.write(`${FOLDER}/index.html`, 'snapshot', async send => {
      await send(writer.head())
      for (const [i, trace] of traces.entries()) await send(writer.trace(trace, i === 0))
      await send(writer.tail())
    })
    for (const trace of traces) await writeNpz(folder, trace, 'npz')
    for (const trace of excluded) await writeNpz(folder, trace, 'excluded')
    return {
      snapshot: FOLDER,
      jump_threshold: target.JUMP_THRESHOLD,
      sampling: 'stratified by outcome',
      expectations: {
        outcomes_per_step: [1, 1],
        returns_equal_outcome: true,
        prediction_stage: target.PREDICTION_STAGE,
        boundary_end_marker: target.END_MARKER,
        score_agrees_with_outcome: 'binary',
        distinct_uids: true
      },
      examples: {
        success: { step: target.SUCCESS_EXAMPLE.step, outcome: 'success' },
        failure: { step: target.FAILURE_EXAMPLE.step, outcome: 'failure' }
      }
    }
  }
}

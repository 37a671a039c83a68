/**
 * Lets the JavaScript engine meet every kind of token before the real input does.
 *
 * The engine compiles the inner loops for the branches that it has seen taken, and throws the code away at the first
 * number with, say, an exponent: five times in the first traces of a real snapshot. One small made-up trace costs 3 ms,
 * in a worker that has nothing to do yet, and saves a third of the time of the first 32 MB (166 ms without, 112 ms with
 * it, 75 ms once all is compiled); a small document costs the main thread 6 ms and saves it 17 of 48.
 */

import { Buffer } from 'node:buffer'
import { DEFAULT_KEYS } from '../../schema.js'
import { SlicePool } from './pool.js'
import { TraceSlicer } from './slicer.js'
import { parseTrace, type TraceScratch } from './trace.js'

/** One of each shape that number-array.ts and number.ts tell apart. */
const NUMBERS = [
  '0', '-3', '1.0', '-0.5', '12345', '12.25', '0.98828125', '-0.0269775390625', '0.00360107421875',
  '0.10000000149011612', '-0.8999999761581421', '0.00020000000949949026', '1e-07', '7.152557373046875e-07', '-1.5E+30',
  '1234567890123', '0.123456789012345678901234', '0.9007199254740993', 'NaN', '-Infinity', '1 ,2\n', '3'
]

/** More elements than an empty column holds, so that growing is met too. */
const REPEATS = 4

/** Enough of both for the skim's loops; small chunks end inside everything. */
const DOCUMENT_TRACES = 10
const CHUNK_SIZES = [1 << 20, 100]

/** Call once in each thread that is going to parse, before its first trace. */
export function warmUpParser(scratch: TraceScratch): void {
  parseTrace({ index: 0, offset: 0, bytes: Buffer.from(madeUpTrace()) }, {
    keys: DEFAULT_KEYS, endMarker: '<|im_end|>', scratch
  })
}

/** Call once in the thread that is going to slice, while it waits for the first bytes. */
export function warmUpSlicer(): void {
  const traces = Array<string>(DOCUMENT_TRACES).fill(madeUpTrace()).join(', ')
  const header = '"a": [1, -0.5e3, "x\\n", {}], "snapshot_time": "t", "alignment": null'
  const document = Buffer.from(`{${header}, "traces": [${traces}]}\n`)
  const pool = new SlicePool()
  for (const size of CHUNK_SIZES) {
    const slicer = new TraceSlicer({ keys: DEFAULT_KEYS, pool })
    for (let from = 0; from < document.length; from += size) {
      for (const slice of slicer.push(document.subarray(from, from + size))) pool.give(slice.bytes)
    }
    slicer.end()
  }
}

function madeUpTrace(): string {
  const array = `[${Array<string>(REPEATS).fill(NUMBERS.join(', ')).join(',')}]`
  return `{ "values": ${array}, "returns": ${array},"response_positions": ${array}, "step": 1, "outcome": "success",
    "uid": "a", "score": 1.0, "npz": null, "\\u0078": {"y": [{}, [true], -1e5, "z"]}, "segment_texts":
    ["plain<|im_end|>", "\\n\\"\\u00e9 é 路径", "<|im_end|\\u003e", "", "a longer text that ends in \\\\"]}`
}

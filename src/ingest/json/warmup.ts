/**
 * Lets the JavaScript engine meet every kind of token before the first real trace does.
 *
 * The engine compiles the inner loops for the branches that it has seen taken, and throws the code away at the first
 * number with, say, an exponent: five times in the first traces of a real snapshot, a third of the time of the first
 * 32 MB (measured: 166 ms without, 112 ms with this, 75 ms once all is compiled). One small trace with all of them costs
 * 3 ms, in a worker that has nothing to do yet.
 */

import { Buffer } from 'node:buffer'
import { DEFAULT_KEYS } from '../../schema.js'
import { parseTrace, type TraceScratch } from './trace.js'

/** One of each shape that number-array.ts and number.ts tell apart. */
const NUMBERS = [
  '0', '-3', '1.0', '-0.5', '12345', '12.25', '0.98828125', '-0.0269775390625', '0.00360107421875', '0.10000000149011612',
  '-0.8999999761581421', '0.00020000000949949026', '1e-07', '7.152557373046875e-07', '-1.5E+30', '1234567890123',
  '0.123456789012345678901234', '0.9007199254740993', 'NaN', '-Infinity', '1 ,2\n', '3'
]

/** More elements than an empty column holds, so that growing is met too. */
const REPEATS = 4

/** Call once in each thread that is going to parse, before its first trace. */
export function warmUp(scratch: TraceScratch): void {
  const array = `[${Array<string>(REPEATS).fill(NUMBERS.join(', ')).join(',')}]`
  const text = `{ "values": ${array}, "returns": ${array},"response_positions": ${array}, "step": 1, "outcome": "success",
    "uid": "a", "score": 1.0, "npz": null, "\\u0078": {"y": [{}, [true], -1e5, "z"]},
    "segment_texts": ["plain<|im_end|>", "\\n\\"\\u00e9 é 路径", "<|im_end|\\u003e", ""]}`
  const slice = { index: 0, offset: 0, bytes: Buffer.from(text) }
  parseTrace(slice, { keys: DEFAULT_KEYS, endMarker: '<|im_end|>', scratch })
}

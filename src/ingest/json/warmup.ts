/**
 * Lets the JavaScript engine meet every kind of token before the real input does.
 *
 * The engine compiles the inner loops for the branches that it has seen taken, and throws the code away at the first
 * number with, say, an exponent: five times in the first traces of a real snapshot. One small made-up trace costs 3 ms,
 * in a worker that has nothing to do yet, and saves a third of the time of the first 32 MB (166 ms without, 112 ms with
 * it, 75 ms once all is compiled). The same for the slicer gained nothing that could be measured in a whole run.
 */

import { Buffer } from 'node:buffer'
import { DEFAULT_KEYS } from '../../schema.js'
import { parseTrace, type TraceScratch } from './trace.js'

/** One of each shape that number-array.ts and number.ts tell apart. */
const NUMBERS = [
  '0', '-3', '1.0', '-0.5', '12345', '12.25', '0.98828125', '-0.0269775390625', '0.00360107421875',
  '0.10000000149011612', '-0.8999999761581421', '0.00020000000949949026', '1e-07', '7.152557373046875e-07', '-1.5E+30',
  '1234567890123', '0.123456789012345678901234', '0.9007199254740993', 'NaN', '-Infinity', '1 ,2\n', '3'
]

/** More elements than an empty column holds, so that growing is met too. */
const REPEATS = 4

/** Call once in each thread that is going to parse, before its first trace. */
export function warmUpParser(scratch: TraceScratch): void {
  parseTrace({ index: 0, offset: 0, bytes: Buffer.from(madeUpTrace()) }, {
    keys: DEFAULT_KEYS, endMarker: '<|im_end|>', scratch
  })
}

function madeUpTrace(): string {
  const array = `[${Array<string>(REPEATS).fill(NUMBERS.join(', ')).join(',')}]`
  return `{ "values": ${array}, "returns": ${array},"response_positions": ${array}, "step": 1, "outcome": "success",
    "uid": "a", "score": 1.0, "npz": null, "\\u0078": {"y": [{}, [true], -1e5, "z"]}, "segment_texts":
    ["plain<|im_end|>", "\\n\\"\\u00e9 é 路径", "<|im_end|\\u003e", "", "a longer text that ends in \\\\"]}`
}

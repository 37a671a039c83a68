/** Rates of the stages that see every byte, each alone in one thread, best of five. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DataElement } from '../../src/ingest/html/data-element.js'
import { TraceSlicer } from '../../src/ingest/json/slicer.js'
import { openKernel } from '../../src/kernel/open.js'
import { parseTrace, TraceScratch, type TraceSlice } from '../../src/ingest/json/trace.js'
import { DEFAULT_KEYS } from '../../src/schema/traces.js'
import { contentOf } from './content.js'

export interface Rate {
  readonly name: string
  /** 10^6 bytes a second */
  readonly megabytes: number
  readonly tokens: number | null
}

const CHUNK = 1 << 20

async function best(work: () => void | Promise<void>): Promise<number> {
  let least = Infinity
  for (let round = 0; round < 5; round++) {
    const start = performance.now()
    await work()
    least = Math.min(least, performance.now() - start)
  }
  return least / 1000
}

export async function parseRates(path: string): Promise<Rate[]> {
  const page = readFileSync(path)
  const content = await contentOf(page)
  // The chunks lie in a kernel's memory, as in the program.
  const kernel = openKernel()
  const chunksOf = (bytes: Buffer): Uint8Array[] =>
    Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, i) => kernel.hold(bytes.subarray(i * CHUNK, (i + 1) * CHUNK)))
  const chunks = { page: chunksOf(page), content: chunksOf(content) }
  const slice = (): TraceSlice[] => {
    const slicer = new TraceSlicer({ keys: DEFAULT_KEYS, kernel })
    const slices = chunks.content.flatMap(chunk => slicer.push(chunk))
    slicer.end()
    return slices
  }
  const slices = slice()
  const scratch = new TraceScratch()
  let tokens = 0
  const parse = (): void => {
    tokens = 0
    for (const s of slices) tokens += parseTrace(s, { keys: DEFAULT_KEYS, endMarker: '<|im_end|>', scratch }).values.length
  }
  const rate = async (
    name: string,
    bytes: number,
    work: () => void | Promise<void>,
    counted: () => number | null = () => null
  ): Promise<Rate> => {
    const time = await best(work)
    const n = counted()
    return { name, megabytes: bytes / time / 1e6, tokens: n === null ? null : n / time }
  }
  return [
    await rate('SHA-256', page.length, () => {
      createHash('sha256').update(page).digest()
    }),
    await rate('find script#data', page.length, async () => {
      const element = new DataElement({ kernel })
      for (const chunk of chunks.page) await element.push(chunk)
      await element.end()
    }),
    await rate('cut into traces', content.length, () => {
      slice()
    }),
    await rate('parse traces strictly', content.length, parse, () => tokens),
    await rate('JSON.parse', content.length, () => {
      JSON.parse(content.toString('utf8'))
    })
  ]
}

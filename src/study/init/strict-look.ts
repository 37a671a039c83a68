/**
 * Reads the lines that a draft was made from with the strict reader of histories. What it refuses is reported when the
 * draft is made, before the study is run. Later lines are not read.
 */
import { Fault, printable } from '../../core/errors.js'
import type { HistoryStudy } from '../../schema/histories.js'
import type { ByteChunks } from '../../core/chunks.js'
import { fileChunks } from '../../core/still-file.js'
import { historyText } from '../../ingest/histories/history.js'
import { HistoryParser } from '../../ingest/histories/parse.js'
import { earliestFirst } from '../../ingest/histories/row-order.js'
import { Ascii } from '../../ingest/json/text.js'
import { MAX_BYTES, MAX_LINES } from './row-keys.js'
import { LOOK_CHUNK, type DraftSelection } from './selections.js'
import { reasonOf } from './survey.js'

export type LookedAt = Pick<HistoryStudy, 'keys'> & { readonly metrics: ReadonlyArray<{ readonly key: string }> }

/** One line for each history that `all` would refuse: its path, the fault and the line. */
export async function refusedHistories(
  selections: readonly DraftSelection[],
  { keys, metrics }: LookedAt,
  signal?: AbortSignal
): Promise<string[]> {
  const refused: string[] = []
  for (const { history } of selections.flatMap(selection => selection.runs)) {
    if (history === null) continue
    signal?.throwIfAborted()
    try {
      const chunks = fileChunks(history.real, { chunkSize: LOOK_CHUNK, ...(signal === undefined ? {} : { signal }) })
      await readFirst(historyText(history.path, chunks), new HistoryParser({ keys, wanted: metrics.map(m => m.key) }))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      refused.push(`${printable(history.path, 400)}: ${reasonOf(error)}`)
    }
  }
  return refused
}

/** Reads the first lines. The end of the text is checked only if it lies within the limits. */
async function readFirst(chunks: ByteChunks, parser: HistoryParser): Promise<void> {
  let bytes = 0
  let lines = 0
  for await (const chunk of chunks) {
    let end = 0
    const within = Math.min(chunk.length, MAX_BYTES - bytes)
    while (end < within && lines < MAX_LINES) {
      const next = chunk.indexOf(Ascii.LineFeed, end)
      if (next >= 0 && next < within) lines++
      end = next >= 0 && next < within ? next + 1 : within
    }
    parser.push(chunk.subarray(0, end))
    bytes += end
    if (lines === MAX_LINES || bytes === MAX_BYTES) return
  }
  earliestFirst(parser.finish())
}

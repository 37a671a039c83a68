/**
 * The exported history of a listed run inside a study: `<folder>/<label>/<id>.jsonl`, or the same with `.gz`. The file
 * must be a regular file and must not change while it is read. It is hashed in the same pass.
 */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { Fault, describeCause, printable } from '../../core/errors.js'
import { ByteTally, tallied, type ByteGenerator } from '../../core/chunks.js'
import { gunzippedIfGzip } from '../../core/gunzip.js'
import { fileChunks } from '../../core/still-file.js'
import { canonicalRelative, isSafeRelative, resolveInside } from '../../core/paths.js'
import { parseHistory } from './parse.js'
import { earliestFirst } from './row-order.js'
import type { HistoryKeys } from './rows.js'
import { isSafeName } from './runs.js'
import type { ListedRun, RunHistory } from './types.js'

export interface ReadHistoryOptions {
  /** stops the reading by throwing the signal's reason */
  readonly signal?: AbortSignal | undefined
  /** bytes of the file to read at once; default 1 MiB */
  readonly chunkBytes?: number | undefined
  /** called after each chunk of the file with its length */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/** A run's history as a place in the study. */
export interface HistoryFile {
  /** relative to the study, canonical */
  readonly path: string
  /** the path with links followed */
  readonly real: string
}

/**
 * Finds the file of a run's history. Exactly one of `.jsonl` and `.jsonl.gz` must exist.
 *
 * @throws Fault exit 3: no such file, both files, a path or a link that leaves the study.
 */
export function findHistory(studyDir: string, folder: string, run: Pick<ListedRun, 'id' | 'label'>): HistoryFile {
  const relative = `${folder}/${run.label}/${run.id}.jsonl`
  const plain = canonicalRelative(relative)
  const file = join(studyDir, plain)
  if (!isSafeRelative(relative) || !isSafeName(run.label) || !isSafeName(run.id)) {
    throw historyFault('unsafe path', printable(JSON.stringify(relative)), 'a path inside the study', studyDir)
  }
  let root: string
  try {
    root = realpathSync.native(studyDir)
  } catch (cause) {
    throw new Fault({
      format: 'history',
      problem: 'unreadable folder',
      found: describeCause(cause),
      expected: 'the folder of a study',
      place: { file: studyDir },
      cause
    })
  }
  const found: HistoryFile[] = []
  for (const path of [plain, `${plain}.gz`]) {
    const resolved = resolveInside(root, path)
    if (resolved.kind === 'inside') found.push({ path, real: resolved.real })
    else if (resolved.kind === 'outside') {
      const link = `${printable(JSON.stringify(path))}, a link that leads out of the study`
      throw historyFault('unsafe path', link, 'a file inside the study', file)
    } else if (resolved.kind === 'unreadable') throw historyFault('unreadable file', resolved.code, 'a readable file', file)
  }
  if (found.length === 0) throw historyFault('missing file', 'nothing', 'this file, or the same with .gz', file)
  if (found.length > 1) throw historyFault('stated twice', 'the file and the same with .gz', 'one of them', file)
  return found[0]
}

function historyFault(problem: string, found: string, expected: string, file: string): Fault {
  return new Fault({ format: 'history', problem, found, expected, place: { file } })
}

/**
 * Reads the history of `run` into columns of the `wanted` keys, in their order.
 *
 * @throws Fault exit 3: what `findHistory` throws, an unreadable file, malformed rows (with line and byte; in a gzipped
 * file the byte of the text), rows in falling step order without timestamps. Exit 1: the file changed while it was read.
 */
export async function readHistory<Run extends Pick<ListedRun, 'id' | 'label'>>(
  studyDir: string,
  folder: string,
  run: Run,
  keys: HistoryKeys,
  wanted: readonly string[],
  options: ReadHistoryOptions = {}
): Promise<RunHistory<Run>> {
  const { signal, chunkBytes, onBytes } = options
  signal?.throwIfAborted()
  const { path, real } = findHistory(studyDir, folder, run)
  const file = join(studyDir, path)
  const tally = new ByteTally()
  const chunks = fileChunks(real, { format: 'history', signal, ...(chunkBytes === undefined ? {} : { chunkSize: chunkBytes }) })
  try {
    const text = historyText(path, tallied(reported(chunks, onBytes), tally))
    const rows = earliestFirst(await parseHistory(text, { keys, wanted }, signal))
    return { run, file: { path, sha256: tally.sha256(), bytes: tally.bytes }, ...rows }
  } catch (error) {
    throw error instanceof Fault ? asHistoryFault(error, file) : error
  }
}

/** The text of a history, inflated if its bytes are gzip. @throws Fault also for a `.gz` of no bytes, which is not gzip */
export function historyText(path: string, chunks: ByteGenerator): ByteGenerator {
  return gunzippedIfGzip(path.endsWith('.gz') ? notEmpty(chunks) : chunks)
}

async function* notEmpty(chunks: ByteGenerator): ByteGenerator {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    yield chunk
  }
  if (bytes > 0) return
  throw new Fault({
    format: 'gzip',
    problem: 'truncated',
    found: 'an empty file',
    expected: 'compressed data',
    place: { offset: 0 }
  })
}

async function* reported(chunks: ByteGenerator, onBytes: ((bytes: number) => void) | undefined): ByteGenerator {
  for await (const chunk of chunks) {
    yield chunk
    onBytes?.(chunk.length)
  }
}

/** The fault with the study's name for the file, and with the format `history`. */
function asHistoryFault(error: Fault, file: string): Fault {
  const { format, place } = error.details
  return new Fault({
    ...error.details,
    format: format === 'file' ? 'history' : format,
    place: { ...place, file }
  })
}

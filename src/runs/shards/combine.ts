/** One partial of several, which need not be all: a merge of many may be done as a tree. */
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { EXIT, Fault } from '../../core/errors.js'
import { realPlace } from '../../core/system/folder.js'
import { KeptRows } from './kept-rows.js'
import { openPartials, type Partials } from './open-partials.js'
import { writePartial } from './partial-write.js'

export interface CombinedPartial {
  /** number of shards that are in it */
  readonly shards: number
  readonly count: number
  readonly traces: number
}

/** @param file may be no partial that is read. @throws as `openPartials` does, beside missing shards */
export async function combinePartials(paths: readonly string[], file: string): Promise<CombinedPartial> {
  const partials = await openPartials(paths, false)
  if (partials.files.some(path => realpathSync(path) === realPlace(file))) {
    const expected = 'a file of another name'
    throw new Fault({ format: 'usage', problem: 'output is an input', found: file, expected, exitCode: EXIT.usage })
  }
  const rows = new KeptRows(dirname(file))
  try {
    for (const number of partials.planned.keys()) for (const row of partials.rows(number)) rows.add(rows.kept(row))
    return await writeCombined(partials, rows, file)
  } finally {
    rows.close()
  }
}

async function writeCombined(partials: Partials, rows: KeptRows, file: string): Promise<CombinedPartial> {
  const planned = [...partials.planned].map(([number, snapshot]) => ({ number, ...snapshot })).sort((a, b) => a.number - b.number)
  const { head, shards, parts } = partials
  await writePartial(file, { ...head, shards, planned, parts }, rows.inOrder())
  return { shards: shards.length, count: head.count, traces: rows.all.length }
}

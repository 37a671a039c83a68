/** One partial of several, which need not be all: a merge of many may be done as a tree. */
import { realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { EXIT, Fault } from '../../core/errors.js'
import { realPlace } from '../../core/system/folder.js'
import type { PartialRow } from './contract.js'
import { openPartials } from './open-partials.js'
import { writePartial } from './run-shard.js'

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
  const rows: PartialRow[] = []
  const numbers = [...partials.planned.keys()].sort((a, b) => a - b)
  for (const number of numbers) {
    const own: PartialRow[] = []
    for (const row of partials.rows(number)) own.push({ ...row, state: row.state.slice(), curve: row.curve.slice() })
    for (const row of own.sort((a, b) => a.trace - b.trace)) rows.push(row)
  }
  const planned = [...partials.planned].map(([number, snapshot]) => ({ number, ...snapshot })).sort((a, b) => a.number - b.number)
  const { head, shards, parts } = partials
  await writePartial(dirname(file), basename(file), { ...head, shards, planned, parts }, rows)
  return { shards: shards.length, count: head.count, traces: rows.length }
}

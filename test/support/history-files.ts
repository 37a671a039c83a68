/**
 * Exported histories read in the plainest way, for tests: one object a row, loops from the notes, none of the program's
 * code.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Run {
  readonly id: string
  readonly displayName: string
  readonly createdAt: string
  readonly fetchedAt: string
  readonly state: string
  readonly url: string
  readonly label: string
  readonly config: Readonly<Record<string, unknown>>
}

type Row = Readonly<Record<string, unknown>>

export interface Session {
  readonly run: Run
  /** seconds since 1970 */
  readonly created: number
  readonly text: string
  readonly rows: readonly Row[]
}

export interface Point {
  readonly step: number
  readonly value: number
  readonly row: Row
  readonly run: string
}

/** Bare NaN and Infinity as JSON has no spelling for them: a text. No text of these files holds such a word. */
function parseRow(line: string): Row {
  return JSON.parse(line.replaceAll(/: (-?Infinity|NaN)(?=[,}])/g, ': "$1"')) as Row
}

/** The runs of exactly this display name below `folder`, in order of creation. */
export function readSessions(folder: string, runs: readonly Run[], displayName: string): Session[] {
  return runs
    .filter(run => run.displayName === displayName)
    .map(run => {
      const text = readFileSync(join(folder, run.label, `${run.id}.jsonl`), 'utf8')
      const zoned = /Z$/.test(run.createdAt) ? run.createdAt : `${run.createdAt}Z`
      return { run, created: new Date(zoned).getTime() / 1000, text, rows: text.trimEnd().split('\n').map(parseRow) }
    })
    .sort((a, b) => a.created - b.created)
}

export function num(row: Row, key: string): number {
  const value = row[key]
  if (typeof value !== 'number') throw new TypeError(`${key} is ${String(value)}`)
  return value
}

export function logged(session: Session, key: string): Point[] {
  return session.rows
    .filter(row => typeof row[key] === 'number')
    .map(row => ({ step: num(row, '_step'), value: num(row, key), row, run: session.run.id }))
}

/** Step view: a session that starts at s drops what lies beyond s, and what lies at s where it logs the metric itself. */
export function stepView(sessions: readonly Session[], key: string): Point[] {
  let points: Point[] = []
  for (const session of sessions) {
    const own = logged(session, key)
    const start = num(session.rows[0], '_step')
    points = points.filter(p => p.step < start || (p.step === start && own[0]?.step !== start))
    points.push(...own)
  }
  return points
}

export function mean(points: readonly Point[]): number {
  let sum = 0
  for (const { value } of points) sum += value
  return sum / points.length
}

export function best(points: readonly Point[]): Point {
  return points.reduce((a, b) => (b.value > a.value ? b : a))
}

export function range(points: readonly Point[]): number[] {
  return [points[0].step, points[points.length - 1].step]
}

export function missing(points: readonly Point[]): number[] {
  const [first, last] = range(points)
  return Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(step => !points.some(p => p.step === step))
}

export function window(points: readonly Point[], from: number, to: number): Point[] {
  return points.filter(p => p.step >= from && p.step <= to)
}

/** What is found while rows of a dump are read, and becomes notes on the whole of it. Plain data: the parts of a dump are added up. */
import type { DumpFacts, DumpReading, Findings } from '../../schema/samples.js'

/** Findings that grow while rows are read. */
export type GrowingFindings = { -readonly [name in keyof Findings]: Findings[name] }

export const NOTHING_FOUND: Findings = { zeroRows: 0, zeroColumns: 0, promptRows: 0, summed: null }

/** Findings of the parts of a dump, in canonical order, as those of the whole. */
export function joinedFindings(parts: readonly Findings[]): Findings {
  return parts.reduce(
    (all, part) => ({
      zeroRows: all.zeroRows + part.zeroRows,
      zeroColumns: Math.max(all.zeroColumns, part.zeroColumns),
      promptRows: all.promptRows + part.promptRows,
      summed: part.summed ?? all.summed
    }),
    NOTHING_FOUND
  )
}

export function factsOf({ kind, mask, end, notes, laterNotes, findings }: DumpReading): DumpFacts {
  return { kind, mask, end, notes: [...new Set([...notes, ...notesOf(findings), ...laterNotes])] }
}

function notesOf({ zeroRows, zeroColumns, promptRows, summed }: Findings): readonly string[] {
  const notes: string[] = []
  if (zeroRows > 0) {
    const columns = zeroColumns === 1 ? '1 trailing column that is' : `${grouped(zeroColumns)} trailing columns that are`
    const most = zeroRows === 1 ? columns : `up to ${columns}`
    notes.push(`${most} 0 in every array, in ${zeroRows === 1 ? '1 row' : `${grouped(zeroRows)} rows`}, taken for padding`)
  }
  if (promptRows > 0) notes.push('the arrays hold the prompt too: positions are counted from the first token of the response')
  if (summed !== null) notes.push(`the score is the sum of ${summed} over the response`)
  return notes
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

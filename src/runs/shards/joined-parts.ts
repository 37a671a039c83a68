/** The parts of one snapshot, measured by several shards, as if one machine had measured it. */
import { EXIT, Failures, Fault, printable } from '../../core/errors.js'
import { factsOf, joinedFindings } from '../../ingest/dumps/findings.js'
import type { DumpReading, ReadDump } from '../../schema/samples.js'
import type { HashedFile } from '../../schema/study.js'
import type { SnapshotPlan } from '../../study/inventory.js'
import { requireMeasured, type TraceFault } from '../measure.js'
import type { SourceEnd } from '../trace-source.js'
import type { MeasuredPart } from './contract.js'

/**
 * @param parts in the order of the shards, which is the canonical one
 * @param traces number of traces of all parts
 * @throws Failures with what is wrong with the snapshot, as one machine would say it
 */
export function joinedParts(
  parts: readonly MeasuredPart[],
  plan: SnapshotPlan,
  traces: number
): Pick<SourceEnd, 'header' | 'html' | 'dump'> {
  const faults = joinedFaults(parts, plan)
  if (faults.length > 0) throw new Failures(faults.map(({ fault }) => fault))
  const [{ header, html }] = parts
  for (const part of parts) if (html !== null && part.html?.sha256 !== html.sha256) throw changed(plan, html.path)
  const end = { header, html, dump: joinedDump(parts, plan), reading: null, namedElsewhere: null }
  return requireMeasured({ taken: traces, faults: [], end }, plan)
}

/** In canonical order up to the first that stops the reading. */
function joinedFaults(parts: readonly MeasuredPart[], { html }: SnapshotPlan): TraceFault[] {
  const found: TraceFault[] = []
  for (const { faults } of parts) {
    for (const { index, fault: serialized } of faults) {
      // Every part of a page meets what is wrong behind its traces.
      if (index === null && html !== null) continue
      const fault = Fault.deserialize(serialized)
      found.push({ index, fault })
      if (index === null || fault.exitCode !== EXIT.checkFailed) return found
    }
  }
  const ofPage = html === null ? undefined : parts.flatMap(({ faults }) => faults).find(({ index }) => index === null)
  return ofPage === undefined ? found : [...found, { index: null, fault: Fault.deserialize(ofPage.fault) }]
}

function joinedDump(parts: readonly MeasuredPart[], plan: SnapshotPlan): ReadDump | null {
  const dumps = parts.flatMap(({ dump }) => dump ?? [])
  if (dumps.length === 0) return null
  const reading = joinedReading(dumps.map(dump => dump.reading))
  const leftOut = dumps.flatMap(dump => dump.leftOut).sort((a, b) => a.index - b.index)
  const [{ tokenizer }] = dumps
  return {
    facts: factsOf(reading),
    inputs: joinedInputs(
      dumps.map(({ inputs }) => inputs),
      reading.files,
      plan
    ),
    leftOut,
    against: null,
    tokenizer
  }
}

export function joinedReading(readings: readonly DumpReading[]): DumpReading {
  return { ...readings[0], findings: joinedFindings(readings.map(({ findings }) => findings)) }
}

/** Every file of a dump once, in canonical order. Two shards that read it read the same. */
function joinedInputs(lists: readonly (readonly HashedFile[])[], order: readonly string[], plan: SnapshotPlan): readonly HashedFile[] {
  const byPath = new Map<string, HashedFile>()
  for (const file of lists.flat()) {
    const known = byPath.get(file.path)
    if (known !== undefined && known.sha256 !== file.sha256) throw changed(plan, file.path)
    byPath.set(file.path, file)
  }
  return order.flatMap(path => byPath.get(path) ?? [])
}

function changed({ source }: SnapshotPlan, path: string): Fault {
  return new Fault({
    format: 'partial',
    problem: 'inputs differ',
    found: `another hash of ${printable(path)} in another shard`,
    expected: 'files that stand still from the first shard to the last',
    place: { file: source },
    exitCode: EXIT.checkFailed
  })
}

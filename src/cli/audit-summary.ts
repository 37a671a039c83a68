/**
 * An audit on the terminal: tables of claims, discrepancies, quantities of several sources, guards and values without a
 * claim, and one fault for each that does not hold.
 */
import { NO_SOURCES, shownValue } from '../compute/audit/comparison.js'
import type { AuditedClaim, AuditedDiscrepancy, AuditedGuard, AuditedSame, AuditReport, ClaimStatus } from '../compute/audit/contract.js'
import { parseReference } from '../compute/documents.js'
import { EXIT, Fault, printable, type Place } from '../core/errors.js'
import { counted, formatCount } from '../core/counts.js'
import { formatTable, type TerminalCell, type TableOptions, type Tone } from '../render/terminal/table.js'

const STATUS: { readonly [status in ClaimStatus]: { readonly text: string; readonly tone: Tone } } = {
  agrees: { text: 'agrees', tone: 'good' },
  differs: { text: 'DIFFERS', tone: 'bad' },
  not_computable: { text: 'NOT COMPUTABLE', tone: 'bad' },
  source: { text: 'source, not computed', tone: 'muted' },
  quoted: { text: 'quoted, not computed', tone: 'muted' }
}

/** Most characters of a value in the table; `audit.json` has the whole value. */
const MAX_CELL = 40

/** Most characters of a reference. */
const MAX_REFERENCE = 120

export function auditTables(report: AuditReport, options: TableOptions): string {
  const claims = formatTable(
    [
      { title: 'claim' },
      { title: 'published', align: 'right' },
      { title: 'computed', align: 'right' },
      { title: 'unit' },
      { title: 'status' }
    ],
    report.claims.map(claim => [
      claim.id,
      shownValue(claim.published),
      claim.computed === null ? '-' : shownValue(claim.computed),
      claim.unit,
      STATUS[claim.status]
    ]),
    { ...options, maxCell: MAX_CELL }
  )
  const discrepancies =
    report.discrepancies.length === 0
      ? ''
      : `\n${formatTable(
          [{ title: 'discrepancy' }, { title: 'sources' }, { title: 'status' }],
          report.discrepancies.map(d => [d.id, sourcesText(d), discrepancyCell(d)]),
          options
        )}`
  const same =
    report.same.length === 0
      ? ''
      : `\n${formatTable(
          [{ title: 'quantity of several sources' }, { title: 'sources' }, { title: 'status' }],
          report.same.map(quantity => [quantity.id, sourcesText(quantity), sameCell(quantity)]),
          options
        )}`
  const guards =
    report.guards.length === 0
      ? ''
      : `\n${formatTable(
          [{ title: 'guard' }, { title: 'section' }, { title: 'status' }],
          report.guards.map(guard => [guard.id, guard.section, guardCell(guard)]),
          options
        )}`
  return `${auditHead(report)}\n${claims}${same}${discrepancies}${guards}${unclaimedTable(report, options)}`
}

/** Cited values without a claim; nothing where there is none. */
function unclaimedTable({ unclaimed }: AuditReport, options: TableOptions): string {
  if (unclaimed === null || unclaimed.length === 0) return ''
  return `\n${formatTable(
    [{ title: 'cited without a claim' }, { title: 'printed', align: 'right' }, { title: 'place' }],
    unclaimed.map(({ reference, text, file, line }) => [reference, text, `${file}, line ${line}`]),
    { ...options, maxCell: MAX_REFERENCE }
  )}`
}

function guardCell({ status }: AuditedGuard): TerminalCell {
  if (status === 'holds') return { text: 'kept', tone: 'good' }
  return status === 'fails' ? { text: 'FAILS', tone: 'bad' } : { text: 'not checked: no page', tone: 'muted' }
}

/**
 * One line for the claims, one for quantities of several sources, one for the discrepancies, one for the guards, one for what
 * pages cite, one for each note.
 */
export function auditHead({ claims, counts, same, discrepancies, guards, unclaimed, strict, notes }: AuditReport): string {
  const { agrees, differs, not_computable, source, quoted } = counts
  const of = (status: AuditedDiscrepancy['status']): string => formatCount(discrepancies.filter(d => d.status === status).length)
  const claimed =
    `${counted(claims.length, 'claim')}: ${formatCount(agrees)} ${agrees === 1 ? 'agrees' : 'agree'}, ` +
    `${formatCount(differs)} ${differs === 1 ? 'differs' : 'differ'}, ` +
    `${formatCount(not_computable)} not computable, ${formatCount(source)} of the source alone, ${formatCount(quoted)} quoted from other publications, compared with nothing computed\n`
  const head = `${claimed}${sameHead(same)}`
  const ofGuards = (status: AuditedGuard['status']): string => formatCount(guards.filter(g => g.status === status).length)
  const guarded =
    guards.length === 0
      ? ''
      : `${counted(guards.length, 'guard')} of the wording: ${ofGuards('holds')} kept, ${ofGuards('fails')} not, ${ofGuards('not_checked')} not checked\n`
  const cited =
    unclaimed === null
      ? ''
      : `${counted(unclaimed.length, 'value')} cited without a claim${unclaimed.length === 0 || strict ? '' : ` (--strict makes ${unclaimed.length === 1 ? 'it' : 'them'} fail)`}\n`
  const noted = `${guarded}${cited}${notes.map(note => `note: ${note}\n`).join('')}`
  if (discrepancies.length === 0) return `${head}${noted}`
  return (
    `${head}${counted(discrepancies.length, 'contradiction')} of the sources: ${of('holds')} disclosed, ${of('fails')} not, ` +
    `${of('not_checked')} not checked\n${noted}`
  )
}

function sameHead(same: readonly AuditedSame[]): string {
  if (same.length === 0) return ''
  const of = (status: AuditedSame['status']): string => formatCount(same.filter(one => one.status === status).length)
  return (
    `${counted(same.length, 'quantity', 'quantities')} of several sources: ${of('agrees')} ${of('agrees') === '1' ? 'agrees' : 'agree'}, ` +
    `${of('disclosed')} contradictory and disclosed, ${of('fails')} not\n`
  )
}

function sameCell({ status }: AuditedSame): TerminalCell {
  if (status === 'agrees') return { text: 'agree', tone: 'good' }
  return status === 'fails' ? { text: 'CONTRADICT', tone: 'bad' } : { text: 'contradict, disclosed', tone: 'muted' }
}

function sourcesText({ sources }: Pick<AuditedDiscrepancy | AuditedSame, 'sources'>): string {
  if (sources.length === 0) return NO_SOURCES
  return sources.map(({ label, value }) => `${label}: ${value === null ? '-' : shownValue(value)}`).join('; ')
}

function discrepancyCell({ status }: AuditedDiscrepancy): TerminalCell {
  if (status === 'holds') return { text: 'disclosed', tone: 'good' }
  return status === 'fails' ? { text: 'FAILS', tone: 'bad' } : { text: 'not checked: no page', tone: 'muted' }
}

/**
 * One fault for each claim that differs or cannot be computed, each undisclosed contradiction, each problem of a discrepancy or a
 * guard, and each cited value that fails.
 */
export function auditFaults({ claims, same, discrepancies, guards, unclaimed, strict }: AuditReport): Fault[] {
  return [
    ...claims.flatMap(claim => (claim.status === 'differs' || claim.status === 'not_computable' ? [claimFault(claim)] : [])),
    ...same.flatMap(({ id, problems }) => problems.map(problem => auditFault('sources contradict', `${id}: ${problem}`))),
    ...discrepancies.flatMap(({ id, problems }) => problems.map(problem => auditFault('discrepancy', `${id}: ${problem}`))),
    ...guards.flatMap(({ id, problems }) => problems.map(problem => auditFault('guard', `${id}: ${problem}`))),
    ...(!strict
      ? []
      : (unclaimed ?? []).map(({ file, line, column, reference, text }) =>
          auditFault('cited without a claim', `${reference} as ${text}`, { file, line, column })
        ))
  ]
}

function claimFault({ id, status, reason, at }: AuditedClaim): Fault {
  const problem = status === 'differs' ? 'claim differs' : 'claim not computable'
  const place = at === null ? null : parseReference(at)
  return auditFault(problem, `${id}, ${reason}`, place === null ? {} : { file: place.file, member: place.pointer })
}

function auditFault(problem: string, found: string, place: Place = {}): Fault {
  return new Fault({ format: 'audit', problem, found: printable(found, 600), place, exitCode: EXIT.checkFailed })
}

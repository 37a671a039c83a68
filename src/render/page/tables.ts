/**
 * The tables that the program makes: claims with their audit, discrepancies with their disclosures, files that were
 * read. They are plain rows, so that the page and the Markdown have the same content.
 */
import { NO_SOURCES } from '../../compute/audit/comparison.js'
import type { AuditedClaim, AuditedDiscrepancy, AuditedGuard, AuditedSame, ClaimStatus } from '../../compute/audit/contract.js'
import { formatFigureCount, formatPlural } from '../figures/format.js'
import type { HashedFile } from '../../schema/study.js'
import { discrepancyRow, guardRow, isWrong, sameRow } from './failure.js'
import type { PageInputs } from './inputs.js'
import { collapse } from './text.js'
import { exact } from './values.js'

export const STATUS_TEXT: Readonly<Record<ClaimStatus, string>> = {
  agrees: 'agrees',
  differs: 'differs',
  not_computable: 'not computable',
  source: 'of the source',
  quoted: 'quoted'
}

/** Words that follow a number of claims. */
const COUNTED: Readonly<Record<ClaimStatus, string>> = {
  agrees: 'agree',
  differs: 'differ',
  not_computable: 'not computable',
  source: 'of the source alone',
  quoted: 'quoted from other publications, compared with nothing computed'
}

export interface TableCell {
  /** one paragraph each */
  readonly lines: readonly string[]
  /** whether the lines are set as code */
  readonly code?: boolean
  /** status of a claim, which decides how the cell is marked */
  readonly status?: ClaimStatus
  /** the cell before says the same; paper has a sign in place of it */
  readonly repeats?: boolean
  /** output path that each line links to; null for no link */
  readonly links?: readonly (string | null)[]
}

export interface TableRow {
  /** id of the claim or discrepancy, as links use it; null where nothing links to the row */
  readonly id: string | null
  readonly cells: readonly TableCell[]
}

export interface PageTable {
  readonly name:
    | 'audit'
    | 'same'
    | 'outputs'
    | 'discrepancies'
    | 'guards'
    | 'sources'
    | 'excluded'
    | 'revisions'
    | 'estimator'
    | 'quality'
    | 'compared'
    | 'evidence'
    | 'turns'
    | 'steps'
    | 'failing'
  readonly caption: string
  readonly head: readonly string[]
  readonly rows: readonly TableRow[]
  /** the rows are shown when the caption is opened; `open` where something in them is wrong */
  readonly folded?: 'closed' | 'open'
}

/** The tables of one block reference, below a line with counts. */
export interface TableGroup {
  readonly lead: string | null
  readonly tables: readonly PageTable[]
}

/**
 * One table for each section of the publication, by section number. Claims without a section come last, in the order of
 * the claims file.
 */
function claimTables({ claims }: PageInputs): readonly PageTable[] {
  const sections = new Map<string, AuditedClaim[]>()
  for (const claim of claims) {
    const section = sections.get(claim.section) ?? []
    sections.set(claim.section, section)
    section.push(claim)
  }
  return [...sections].sort(([a], [b]) => compareSections(a, b)).map(([section, claims]) => auditTable(section, claims))
}

/** Orders sections as `2`, `5.1`, `5.2`, `9`, `9,10`, `10`. */
function compareSections(a: string, b: string): number {
  const [x, y] = [a, b].map(section => section.match(/\d+/g)?.map(Number) ?? [Infinity])
  const at = x.findIndex((number, i) => number !== y[i])
  if (at < 0) return x.length - y.length
  return at < y.length ? x[at] - y[at] : 1
}

function sectionText(section: string): string {
  if (section === '') return 'No section'
  return /\d,\s*\d/.test(section) ? `Sections ${section.replace(/,\s*/g, ', ')}` : `Section ${section}`
}

function auditTable(section: string, claims: readonly AuditedClaim[]): PageTable {
  return {
    name: 'audit',
    caption: `${sectionText(section)}: ${countsText(claims, true)}`,
    folded: claims.some(isWrong) ? 'open' : 'closed',
    head: ['Claim', 'Published', 'Computed', 'Status', 'Computed value stands in'],
    rows: claims.map(claim => ({
      id: claim.id,
      cells: [
        { lines: [claim.id, claim.definition].filter(line => line !== '') },
        { lines: [publishedText(claim)] },
        { lines: [claim.computed === null ? '–' : exact(claim.computed)], repeats: exact(claim.computed) === exact(claim.published) },
        { lines: statusLines(claim), status: claim.status },
        {
          lines: claim.provenance.map(({ file, pointer }) => `${file}#${pointer}`),
          code: true,
          links: claim.provenance.map(({ file, sha256 }) => (sha256 === null ? null : file))
        }
      ]
    }))
  }
}

const STATUSES = Object.keys(STATUS_TEXT) as readonly ClaimStatus[]

/** `12 claims: 10 agree, 1 differ …`. For a part of the claims, statuses with a count of 0 are left out. */
function countsText(claims: readonly AuditedClaim[], part: boolean): string {
  const counts = STATUSES.flatMap(status => {
    const count = claims.filter(claim => claim.status === status).length
    return part && count === 0 ? [] : [`${count} ${COUNTED[status]}`]
  })
  return `${formatPlural(claims.length, 'claim')}: ${counts.join(', ')}.`
}

/** The published value with its unit and its published decimals: 64.0 and not 64. */
export function publishedText({ published, decimals, unit }: Pick<AuditedClaim, 'published' | 'decimals' | 'unit'>): string {
  const text = typeof published === 'number' && decimals !== null ? published.toFixed(decimals) : exact(published)
  return unit === '' ? text : `${text} ${unit}`
}

function statusLines({ status, difference, reason }: AuditedClaim): readonly string[] {
  const text = STATUS_TEXT[status]
  if (status === 'differs') return difference === null ? [text] : [text, `by ${exact(difference)}`]
  return reason === null ? [text] : [text, reason]
}

/** Outputs that contain values of claims. Each is listed once, with its hash and all inputs of its claims. */
export function claimOutputsTable({ claims }: PageInputs): PageTable {
  const outputs = new Map<string, { readonly sha256: string | null; readonly inputs: Set<string> }>()
  for (const { file, sha256, inputs } of claims.flatMap(claim => claim.provenance)) {
    const output = outputs.get(file) ?? { sha256, inputs: new Set<string>() }
    outputs.set(file, output)
    for (const { path } of inputs) output.inputs.add(path)
  }
  return {
    name: 'outputs',
    caption:
      'Outputs in which computed values of claims stand, with the inputs of these claims. An output may have been computed from more.',
    head: ['Output', 'SHA-256', 'Inputs of these claims'],
    rows: [...outputs].map(([file, { sha256, inputs }]) => ({
      id: null,
      cells: [
        { lines: [file], code: true, links: [sha256 === null ? null : file] },
        { lines: [sha256 ?? 'no such output'], code: true },
        { lines: inputLines([...inputs]) }
      ]
    }))
  }
}

/** Largest number of inputs that are listed by name. Further ones are counted. */
const MAX_INPUTS = 12

export function inputLines(paths: readonly string[], max: number = MAX_INPUTS): readonly string[] {
  if (paths.length <= max) return paths
  return [...paths.slice(0, max), `and ${paths.length - max} more, named in audit.json`]
}

/** Quantities that several sources state. There is no table where the claims file lists none. */
function sameTables({ same = [] }: PageInputs): readonly PageTable[] {
  if (same.length === 0) return []
  const count = (status: AuditedSame['status']): number => same.filter(one => one.status === status).length
  return [
    {
      name: 'same',
      caption:
        `${formatPlural(same.length, 'quantity', 'quantities')} of several sources: ${count('agrees')} agree, ${count('disclosed')} contradictory and disclosed, ` +
        `${count('fails')} not.`,
      folded: count('fails') > 0 ? 'open' : 'closed',
      head: ['Quantity', 'What the sources state', 'Compared'],
      rows: same.map(quantity => ({
        id: sameRow(quantity),
        cells: [
          { lines: [quantity.id, collapse(quantity.definition)] },
          { lines: quantity.sources.map(({ label, value }) => `${label}: ${value === null ? '–' : exact(value)}`) },
          { lines: comparedLines(quantity) }
        ]
      }))
    }
  ]
}

function comparedLines({ status, pairs, problems }: AuditedSame): readonly string[] {
  if (status === 'fails') return ['contradictory', ...problems]
  if (status === 'agrees') return ['agree']
  const disclosed = pairs.flatMap(({ of, discrepancy }) => (discrepancy === null ? [] : [`${of.join(' and ')} differ: ${discrepancy}`]))
  return ['contradictory, disclosed', ...disclosed]
}

export function discrepanciesTable({ discrepancies }: PageInputs): PageTable {
  return {
    name: 'discrepancies',
    caption: 'Where sources contradict each other or say more than they show.',
    head: ['Discrepancy', 'What the sources state', 'Decision', 'Disclosed'],
    rows: discrepancies.map(discrepancy => ({
      id: discrepancyRow(discrepancy),
      cells: [
        { lines: [discrepancy.id] },
        { lines: sourceLines(discrepancy) },
        { lines: [collapse(discrepancy.decision)] },
        { lines: disclosedLines(discrepancy) }
      ]
    }))
  }
}

function sourceLines({ sources }: AuditedDiscrepancy): readonly string[] {
  if (sources.length === 0) return [NO_SOURCES]
  return sources.map(source => `${source.label}: ${sourceText(source)}`)
}

/** The stated value. The value in the outputs follows where its digits differ. */
function sourceText({ value, stated }: AuditedDiscrepancy['sources'][number]): string {
  if (value === null) return '–'
  const [said, held] = [exact(stated ?? value), exact(value)]
  return said === held ? said : `${said} (computed ${held})`
}

function disclosedLines({ status, disclosure, problems }: AuditedDiscrepancy): readonly string[] {
  if (status === 'not_checked') return ['not checked']
  return status === 'holds' ? [`yes, in ${disclosure.found_in.join(' and ')}`] : ['no', ...problems]
}

/** Guards: what the pages must or must not say where no sources contradict each other. */
function guardsTable({ guards }: PageInputs): PageTable {
  return {
    name: 'guards',
    caption:
      `What these pages must say, or must not, for other reasons: ${formatPlural(guards.length, 'guard')}, ` +
      `${formatFigureCount(guards.filter(({ status }) => status === 'holds').length)} kept.`,
    folded: guards.some(({ status }) => status === 'fails') ? 'open' : 'closed',
    head: ['Guard', 'Section', 'Why', 'Kept'],
    rows: guards.map(guard => ({
      id: guardRow(guard),
      cells: [{ lines: [guard.id] }, { lines: [guard.section] }, { lines: [collapse(guard.reason)] }, { lines: keptLines(guard) }]
    }))
  }
}

function keptLines({ status, disclosure, problems }: AuditedGuard): readonly string[] {
  if (status === 'not_checked') return ['not checked']
  if (status === 'fails') return ['no', ...problems]
  return [disclosure === null ? 'yes' : `yes, said in ${disclosure.found_in.join(' and ')}`]
}

/** Revisions of the code that made the inputs, as the manifest states them. */
function revisionsTable({ revisions }: PageInputs): PageTable {
  return {
    name: 'revisions',
    caption: 'Revisions of the code that made these files, as their manifest states them.',
    head: ['Code', 'Revision'],
    rows: Object.entries(revisions).map(([name, revision]) => ({
      id: null,
      cells: [{ lines: [name] }, { lines: [exact(revision)], code: true }]
    }))
  }
}

function sourcesTable({ inputs, study }: PageInputs): PageTable {
  return filesTable('sources', `Files that were read, relative to the study${study.synthetic ? ', all of them generated' : ''}.`, inputs)
}

function filesTable(name: 'sources' | 'excluded', caption: string, files: readonly HashedFile[]): PageTable {
  return {
    name,
    caption,
    head: ['File', 'Bytes', 'SHA-256'],
    rows: files.map(({ path, bytes, sha256 }) => ({
      id: null,
      cells: [{ lines: [path], code: true }, { lines: [formatFigureCount(bytes)] }, { lines: [sha256], code: true }]
    }))
  }
}

/** The tables of a block reference. */
export function tablesOf(kind: 'audit' | 'discrepancies' | 'sources', inputs: PageInputs): TableGroup {
  switch (kind) {
    case 'audit':
      return { lead: countsText(inputs.claims, false), tables: [...claimTables(inputs), ...sameTables(inputs), claimOutputsTable(inputs)] }
    case 'discrepancies':
      return { lead: null, tables: [discrepanciesTable(inputs), ...(inputs.guards.length === 0 ? [] : [guardsTable(inputs)])] }
    case 'sources': {
      const caption =
        'Files of the study that enter no statistic: their hashes were checked, certificates judged by their histories, and of array files the step was read.'
      return {
        lead: null,
        tables: [
          sourcesTable(inputs),
          ...(inputs.excluded.length === 0 ? [] : [filesTable('excluded', caption, inputs.excluded)]),
          ...(Object.keys(inputs.revisions).length === 0 ? [] : [revisionsTable(inputs)])
        ]
      }
    }
  }
}

/**
 * The tables that the program makes: claims with their audit, discrepancies with their disclosures, files that were read.
 * As plain rows, so that the page and the Markdown say the same.
 */
import { collapse } from './text.js'
import { STATUSES, type AuditedClaim, type ClaimStatus, type ConflictingSource, type PageInputs } from './inputs.js'
import { exact } from './values.js'

export const STATUS_TEXT: Readonly<Record<ClaimStatus, string>> = {
  agrees: 'agrees',
  differs: 'differs',
  not_computable: 'not computable',
  source: 'of the source',
  quoted: 'quoted'
}

export interface Cell {
  /** one paragraph each */
  readonly lines: readonly string[]
  /** set as code */
  readonly code?: boolean
  /** of a claim: how the cell is marked */
  readonly status?: ClaimStatus
  /** output path that the lines link to, line by line; null: no link */
  readonly links?: readonly (string | null)[]
}

export interface Row {
  /** claim or discrepancy id: what others link to; null where nothing does */
  readonly id: string | null
  readonly cells: readonly Cell[]
}

export interface Table {
  readonly name: 'audit' | 'outputs' | 'discrepancies' | 'sources'
  readonly caption: string
  readonly head: readonly string[]
  readonly rows: readonly Row[]
}

export function auditTable({ claims }: PageInputs): Table {
  return {
    name: 'audit',
    caption: countsText(claims),
    head: ['Claim', 'Published', 'Computed', 'Status', 'Computed value stands in'],
    rows: claims.map(claim => ({
      id: claim.id,
      cells: [
        { lines: [claim.id, claim.definition].filter(line => line !== '') },
        { lines: [withUnit(claim.published, claim.unit)] },
        { lines: [claim.computed === null ? '–' : exact(claim.computed)] },
        { lines: statusLines(claim), status: claim.status },
        {
          lines: claim.provenance.map(({ file, pointer }) => `${file}#${pointer}`), code: true,
          links: claim.provenance.map(({ file, sha256 }) => sha256 === null ? null : file)
        }
      ]
    }))
  }
}

/** `230 claims: 221 agree, 0 differ …` */
function countsText(claims: readonly AuditedClaim[]): string {
  const counts = STATUSES.map(status => `${claims.filter(claim => claim.status === status).length} ${STATUS_TEXT[status]}`)
  return `${claims.length} claims: ${counts.join(', ')}.`
}

function withUnit(value: unknown, unit: string): string {
  return unit === '' ? exact(value) : `${exact(value)} ${unit}`
}

function statusLines({ status, difference, reason }: AuditedClaim): readonly string[] {
  const text = STATUS_TEXT[status]
  if (status === 'differs') return difference === null ? [text] : [text, `by ${exact(difference)}`]
  return reason === null ? [text] : [text, reason]
}

/** Outputs in which values of claims stand, each once, with hash and inputs. */
export function outputsTable({ claims }: PageInputs): Table {
  const outputs = new Map(claims.flatMap(claim => claim.provenance.map(p => [p.file, p] as const)))
  return {
    name: 'outputs',
    caption: 'Outputs in which the computed values stand.',
    head: ['Output', 'SHA-256', 'Computed from'],
    rows: [...outputs.values()].map(({ file, sha256, inputs }) => ({
      id: null,
      cells: [
        { lines: [file], code: true, links: [sha256 === null ? null : file] },
        { lines: [sha256 ?? 'no such output'], code: true },
        { lines: inputLines(inputs.map(input => input.path)) }
      ]
    }))
  }
}

/** Inputs listed by name; more are counted. */
const MAX_INPUTS = 12

export function inputLines(paths: readonly string[], max: number = MAX_INPUTS): readonly string[] {
  if (paths.length <= max) return paths
  return [...paths.slice(0, max), `and ${paths.length - max} more, named in audit.json`]
}

export function discrepanciesTable({ discrepancies, audited, documents }: PageInputs): Table {
  const stated = ({ label, value, reference }: ConflictingSource): string => {
    const resolution = value === null && reference !== null ? documents.resolve(reference) : { value }
    return `${label}: ${'reason' in resolution ? resolution.reason : exact(resolution.value)}`
  }
  return {
    name: 'discrepancies',
    caption: 'Where sources contradict each other or say more than they show.',
    head: ['Discrepancy', 'What the sources state', 'Decision', 'Disclosed'],
    rows: discrepancies.map(({ id, sources, decision }) => {
      const result = audited.find(other => other.id === id)
      return {
        id: `discrepancy-${id}`,
        cells: [
          { lines: [id] },
          { lines: sources.map(stated) },
          { lines: [collapse(decision)] },
          { lines: result === undefined ? ['not checked'] : [result.status, result.found_in.join(', ')].filter(line => line !== '') }
        ]
      }
    })
  }
}

export function sourcesTable({ inputs, study }: PageInputs): Table {
  return {
    name: 'sources',
    caption: `Files that were read, relative to the study${study.synthetic ? ', all of them generated' : ''}.`,
    head: ['File', 'Bytes', 'SHA-256'],
    rows: inputs.map(({ path, bytes, sha256 }) => ({
      id: null, cells: [{ lines: [path], code: true }, { lines: [String(bytes)] }, { lines: [sha256], code: true }]
    }))
  }
}

/** The tables of a block reference. */
export function tablesOf(kind: 'audit' | 'discrepancies' | 'sources', inputs: PageInputs): readonly Table[] {
  switch (kind) {
    case 'audit': return [auditTable(inputs), outputsTable(inputs)]
    case 'discrepancies': return [discrepanciesTable(inputs)]
    case 'sources': return [sourcesTable(inputs)]
  }
}

/** What the audit says of contradictions among sources, and of what the pages say. */
import { finite, list, nullable, oneOf, pair, type Infer } from '../../core/checker.js'
import { PROBLEMS, VALUE } from './audited-claims.js'
import { anyText, closed, someText, whole } from './kinds.js'

const FOUND_IN = { kind: list(someText), doc: 'names of the pages' }

const DISCLOSURE = closed({ text: { kind: someText, doc: 'as the claims file states it' }, found_in: FOUND_IN })

const FORBIDDEN = {
  kind: list(closed({ text: { kind: someText, doc: 'the pattern' }, found_in: FOUND_IN })),
  doc: 'regular expressions that must match on no page'
}

const PAGE_STATUS = { kind: oneOf('holds', 'fails', 'not_checked'), doc: 'not_checked: there was no page' }

const ID = { kind: someText, doc: 'name in the claims file' }

const SECTION = { kind: anyText, doc: 'of the publication' }

const SOURCE = closed({
  label: { kind: someText, doc: 'as a reader would call it' },
  value: { kind: nullable(VALUE), doc: 'what the outputs hold, or else what the claims file states' },
  stated: { kind: nullable(VALUE), doc: 'what the claims file says that it states' },
  reference: { kind: nullable(someText), doc: 'where it stands in the outputs' },
  status: { kind: oneOf('agrees', 'differs', 'not_computable', 'stated', 'found'), doc: 'stated: a quotation without a reference' },
  reason: { kind: nullable(someText), doc: 'why it differs, or cannot be had' }
})

export const DISCREPANCY = closed({
  id: ID,
  section: SECTION,
  sources: { kind: list(SOURCE), doc: 'that contradict each other' },
  chosen: { kind: nullable(someText), doc: 'label of the source that the study follows; null: none alone' },
  decision: { kind: someText, doc: 'why' },
  disclosure: { kind: DISCLOSURE, doc: 'what a page must say' },
  forbidden: FORBIDDEN,
  averages: {
    kind: list(
      closed({
        of: { kind: pair(someText), doc: 'labels of two sources' },
        value: { kind: finite, doc: 'their mean' },
        found_in: FOUND_IN
      })
    ),
    doc: 'means of two numbers that contradict each other, which no page may print'
  },
  status: PAGE_STATUS,
  problems: PROBLEMS
})

export const GUARD = closed({
  id: ID,
  section: SECTION,
  reason: { kind: someText, doc: 'why it must be said, or must not' },
  disclosure: { kind: nullable(DISCLOSURE), doc: 'what a page must say; null: nothing' },
  forbidden: FORBIDDEN,
  status: PAGE_STATUS,
  problems: PROBLEMS
})

/** A value that a page cites from an output. */
export const CITED = closed({
  file: { kind: someText, doc: 'template, relative to the study' },
  line: { kind: whole(1), doc: 'of the template' },
  column: { kind: whole(1), doc: 'of the line' },
  reference: { kind: someText, doc: 'output path, # and JSON pointer' },
  text: { kind: anyText, doc: 'as the page prints it' }
})

export type AuditedSource = Infer<typeof SOURCE>
export type AuditedDiscrepancy = Infer<typeof DISCREPANCY>
export type AuditedGuard = Infer<typeof GUARD>
export type CitedValue = Infer<typeof CITED>

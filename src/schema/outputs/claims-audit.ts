/** `audit.json`. */
import { flag, list, nullable, type Infer } from '../../core/checker.js'
import { CLAIM, COUNTS, SAME, VALUE } from './audited-claims.js'
import { CITED, DISCREPANCY, GUARD } from './audited-pages.js'
import { envelopeFields, output } from './document.js'
import { closed, reasons, sha256, someText } from './kinds.js'

export const CLAIMS_AUDIT = output(
  'claims-audit',
  {
    title: 'Audit of published values',
    description:
      "Every value of the study's claims file beside what the run computed, compared at the published precision, and the contradictions " +
      'among sources that a reader must be told of.',
    definitions: [VALUE]
  },
  {
    ...envelopeFields('claims-audit'),
    claims_file: {
      kind: closed({
        path: { kind: someText, doc: 'relative to the study' },
        sha256: { kind: sha256, doc: "SHA-256 of the file's bytes, hexadecimal" }
      }),
      doc: 'the file that holds the published values'
    },
    counts: { kind: COUNTS, doc: 'claims by status' },
    claims: { kind: list(CLAIM), doc: 'in the order of the claims file' },
    same: {
      kind: list(SAME),
      doc: 'quantities that several sources state: every two agree, or a discrepancy discloses that they do not'
    },
    discrepancies: { kind: list(DISCREPANCY), doc: 'contradictions among sources, in the order of the claims file' },
    guards: {
      kind: list(GUARD),
      doc: 'what the pages must say, or must not, without a contradiction of sources, in the order of the claims file'
    },
    unclaimed: {
      kind: nullable(list(CITED)),
      doc:
        'values that the pages cite from outputs and that no claim and no source of a discrepancy holds, without those that the study calls unpublished; ' +
        'null: no page was made of templates'
    },
    strict: { kind: flag, doc: 'a value in unclaimed fails the audit' },
    notes: {
      kind: list(someText),
      doc: 'what a reader should know and no run fails for: that the claims file lists no discrepancies, how many values are cited of outputs of which nothing is published'
    },
    undefined_reasons: { kind: reasons, doc: 'JSON pointer of each null -> why it is undefined' }
  }
)

export type ClaimsAuditDocument = Infer<typeof CLAIMS_AUDIT>

/** What the audit says of claims, and of quantities that several sources state. */
import { finite, flag, list, nullable, oneOf, pair, type Infer } from '../../core/checker.js'
import { anyOf, anyText, closed, define, matching, natural, sha256, someText } from './kinds.js'

const scalar = anyOf(finite, anyText, flag)

/** What a claim states, and what an output holds. */
export const VALUE = define('value', () => anyOf(finite, anyText, flag, list(scalar)))

export const PROBLEMS = { kind: list(someText), doc: 'what is wrong, each in a sentence' }

const STATUS = ['agrees', 'differs', 'not_computable', 'source', 'quoted'] as const

export const COUNTS = closed({
  agrees: { kind: natural, doc: 'the computed value agrees' },
  differs: { kind: natural, doc: 'it does not' },
  not_computable: { kind: natural, doc: 'nothing stands at the reference' },
  source: { kind: natural, doc: 'a property of the original files' },
  quoted: { kind: natural, doc: 'another publication states it' }
})

const PROVENANCE = closed({
  file: { kind: someText, doc: 'output that holds the value' },
  pointer: { kind: matching('a JSON pointer', /^(?:\/.*)?$/), doc: 'JSON pointer into it' },
  sha256: { kind: nullable(sha256), doc: "of the output's text; null where there is no such output" },
  inputs: {
    kind: list(
      closed({
        path: { kind: someText, doc: 'relative to the study' },
        sha256: { kind: sha256, doc: "SHA-256 of the file's bytes, hexadecimal" }
      })
    ),
    doc: 'files of the study that the value follows from, as far as the outputs or the run say so'
  }
})

export const CLAIM = closed({
  id: { kind: someText, doc: 'name in the claims file' },
  published: { kind: VALUE, doc: 'as the claims file states it' },
  computed: {
    kind: nullable(VALUE),
    doc: 'scaled, unrounded; null where nothing is computed; where several references stand and not all agree, a value that does not'
  },
  unit: { kind: anyText, doc: 'may be empty' },
  decimals: { kind: nullable(natural), doc: 'published decimals; null: compared for equality' },
  kind: { kind: oneOf('computed', 'config', 'quoted', 'source'), doc: 'what the value is: docs/claims.md' },
  section: { kind: anyText, doc: 'of the publication' },
  definition: { kind: someText, doc: 'what it is' },
  from: { kind: list(someText), doc: 'where the value stands in the outputs: path, #, JSON pointer' },
  status: { kind: oneOf(...STATUS), doc: 'what was found: docs/outputs.md' },
  difference: { kind: nullable(finite), doc: 'computed minus published, of the first two numbers that do not agree' },
  reason: { kind: nullable(someText), doc: 'null where the claim agrees' },
  at: {
    kind: nullable(someText),
    doc: 'the reference whose value does not agree, the first of several; null where the claim agrees or has no reference'
  },
  provenance: { kind: list(PROVENANCE), doc: 'one entry for each reference' }
})

/** Two sources of one quantity. */
const PAIR = closed({
  of: { kind: pair(someText), doc: 'labels of two sources' },
  status: {
    kind: oneOf('agrees', 'disclosed', 'differs', 'not_computable'),
    doc: 'disclosed: they differ, and a discrepancy names both; differs: none does'
  },
  discrepancy: { kind: nullable(anyText), doc: 'the discrepancy that discloses it' }
})

export const SAME = closed({
  id: { kind: someText, doc: 'name in the claims file' },
  section: { kind: anyText, doc: 'of the publication; may be empty' },
  definition: { kind: someText, doc: 'what it is' },
  decimals: { kind: nullable(natural), doc: 'precision to which two are compared; null: for equality' },
  sources: {
    kind: list(
      closed({
        label: { kind: someText, doc: 'as a reader would call it' },
        reference: { kind: someText, doc: 'where it stands in the outputs' },
        value: { kind: nullable(VALUE), doc: 'what stands there, scaled; null where there is none' },
        reason: { kind: nullable(anyText), doc: 'where value is null' }
      }),
      2
    ),
    doc: 'in the order of the claims file'
  },
  pairs: { kind: list(PAIR, 1), doc: 'every two of the sources' },
  status: { kind: oneOf('agrees', 'disclosed', 'fails'), doc: 'agrees: every two; disclosed: some differ, each disclosed' },
  problems: PROBLEMS
})

export type ClaimStatus = (typeof STATUS)[number]
export type Provenance = Infer<typeof PROVENANCE>
export type AuditedClaim = Infer<typeof CLAIM>
export type AuditedPair = Infer<typeof PAIR>
export type AuditedSame = Infer<typeof SAME>

/** `derived_metrics.json`. */
import { finite, flag, list, nullable, oneOf, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { TITLE, UNIT } from './evidence-parts.js'
import { anyText, closed, map, reasons } from './kinds.js'

export const DERIVED_METRICS = output(
  'derived-metrics',
  {
    title: 'Values that follow from others',
    description:
      'Ratios, differences and the like of values in other outputs. Original ones follow from what sources state, ' +
      'displayed ones from a stated convention.'
  },
  {
    ...envelopeFields('derived-metrics'),
    values: {
      kind: map(
        closed({
          value: { kind: nullable(finite), doc: 'null where it is undefined' },
          unit: UNIT,
          title: TITLE,
          kind: { kind: oneOf('original', 'displayed'), doc: 'of what sources state, or after a stated convention of display' },
          published: { kind: flag, doc: 'false: it follows from a stand-in that no source publishes' },
          operation: {
            kind: oneOf('ratio', 'difference', 'product', 'scale', 'reduction_percent'),
            doc: 'how it follows from its operands; docs/study.md'
          },
          by: { kind: finite, doc: 'factor of scale', optional: true },
          operands: {
            kind: list(
              closed({
                reference: { kind: anyText, doc: 'output path, # and JSON pointer' },
                value: { kind: nullable(finite), doc: 'what stands there; null where it is undefined' },
                published: { kind: flag, doc: 'false: a stand-in that no source publishes' }
              }),
              1,
              2
            ),
            doc: 'in the order of the operation'
          }
        })
      ),
      doc: "by the study's name of the value"
    },
    undefined_reasons: { kind: reasons, doc: 'JSON pointer of each null -> why it is undefined' }
  }
)

export type DerivedMetricsDocument = Infer<typeof DERIVED_METRICS>

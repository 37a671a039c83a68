/** `figure_constants.json`. */
import { finite, flag, list, nullable, oneOf, type FieldValues, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { anyOf, anyText, closed, map, natural, reasons, whole } from './kinds.js'
import { operands } from './operands.js'

const OPERANDS = { kind: operands, doc: 'where the number comes from; empty: the study states it' }

/** A number that a figure draws. */
const DRAWN_FIELDS = {
  value: { kind: finite, doc: "in the metric's own unit" },
  plotted_value: { kind: finite, doc: 'as the axis shows it; absent where scaling leaves the double range', optional: true },
  operands: OPERANDS
} as const

const LABEL = { kind: anyText, doc: 'as the figure writes it' }

const HEADING = { kind: anyText, doc: 'heading' }

const FIGURE_TITLE = { kind: anyText, doc: 'of the figure' }

const CURVE_PANEL = closed({
  metric: { kind: anyText, doc: 'metric of the study' },
  key: { kind: anyText, doc: 'key of the history rows' },
  title: HEADING,
  axis: { kind: anyText, doc: 'title of the axis' },
  multiply: { kind: finite, doc: 'plotted value = value * multiply / divide' },
  divide: { kind: finite, doc: 'see multiply' },
  trailing_mean: { kind: nullable(whole()), doc: 'latest points in the mean that is drawn; null: none is drawn' },
  sparse: { kind: flag, doc: 'dashed, with markers' },
  scale: {
    kind: closed({
      kind: { kind: oneOf('linear', 'log', 'symlog'), doc: 'symlog: linear around zero, logarithmic beyond' },
      linear_to: { kind: finite, doc: 'of symlog: linear up to this', optional: true }
    }),
    doc: 'of the vertical axis'
  },
  guides: {
    kind: list(
      closed({
        label: LABEL,
        selection: { kind: nullable(anyText), doc: 'selection whose colour it has; null: none' },
        ...DRAWN_FIELDS
      })
    ),
    doc: 'horizontal lines'
  },
  shared_reference: {
    kind: nullable(
      closed({
        label: LABEL,
        selections: { kind: list(anyText), doc: 'curves that it is meant for' },
        step: { kind: natural, doc: 'where it is drawn' },
        ...DRAWN_FIELDS
      })
    ),
    doc: 'the point that several curves begin with; null: none in this panel'
  }
})

const CURVE_SERIES = closed({
  title: { kind: anyText, doc: 'as the legend has it' },
  selection: { kind: anyText, doc: 'selection of the study whose curve it names' },
  display_name: { kind: anyText, doc: 'of the runs of that selection' }
})

const CURVES = closed({
  kind: { kind: oneOf('curves'), doc: 'a figure of histories' },
  title: FIGURE_TITLE,
  analysis: { kind: anyText, doc: 'whose curves it shows' },
  view: { kind: oneOf('step', 'time'), doc: 'by step, or by display hours' },
  x_title: { kind: anyText, doc: 'of the horizontal axes' },
  series: { kind: list(CURVE_SERIES), doc: 'names in the legend, in the order drawn' },
  panels: { kind: list(CURVE_PANEL), doc: 'in the order of the study' }
})

const BAR_PANEL = closed({
  title: HEADING,
  axis: { kind: anyText, doc: 'title of the value axis' },
  from: { kind: finite, doc: 'where it begins' },
  groups: { kind: list(anyText), doc: 'names below the bars' },
  series: {
    kind: list(
      closed({
        title: { kind: anyText, doc: 'as the legend writes it' },
        bars: {
          kind: list(
            nullable(
              closed({
                value: { kind: nullable(finite), doc: 'drawn and printed; null: undefined' },
                operands: OPERANDS
              })
            )
          ),
          doc: 'one for each group; null: none'
        }
      })
    ),
    doc: 'in the order drawn'
  }
})

const BARS = closed({
  kind: { kind: oneOf('bars'), doc: 'a figure of written evidence' },
  title: FIGURE_TITLE,
  panels: { kind: list(BAR_PANEL), doc: 'in the order of the study' }
})

export const FIGURE_CONSTANTS_DOCUMENT = output(
  'figure-constants',
  {
    title: 'Figure constants',
    description: 'What figures draw beside curves, how they scale them, and what their bars show.'
  },
  {
    ...envelopeFields('figure-constants'),
    figures: { kind: map(anyOf(CURVES, BARS)), doc: "by the figure's name" },
    undefined_reasons: { kind: reasons, doc: 'JSON pointer of a null to why it is undefined' }
  }
)

export type DrawnFields = FieldValues<typeof DRAWN_FIELDS>
export type CurveSeries = Infer<typeof CURVE_SERIES>
export type CurvePanel = Infer<typeof CURVE_PANEL>
export type BarPanel = Infer<typeof BAR_PANEL>
export type FigureConstantsDocument = Infer<typeof FIGURE_CONSTANTS_DOCUMENT>

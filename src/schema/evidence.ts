/**
 * The section of a study on its written evidence: a workbook, slides, configurations, datasets, what follows from them and
 * what is drawn. The study names everything; the code contains no cell, no file and no published value. Checks between fields
 * are in `study/evidence-checks.ts`, checks between sections in `study/across-sections.ts`.
 */
import { Fault } from '../core/errors.js'
import {
  alternatives,
  describeValue,
  factor,
  finite,
  flag,
  integer,
  list,
  nullable,
  object,
  oneOf,
  pair,
  pattern,
  record,
  refine,
  text,
  type CheckContext,
  type Field,
  type Infer
} from '../core/checker.js'
import { relativePath } from '../core/path-kinds.js'
import { safePattern } from '../core/safe-pattern.js'
import { MAX_COLUMN, MAX_ROW } from './grid.js'
import { caption, figureName, MAX_DECIMALS, NAME_EXPECTED, NAME_PATTERN } from './names.js'
import { reference } from './reference.js'

const VALUE_NAME_PATTERN = /^(?=.{1,100}$)[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)*$/

const MAX_SLIDE = 10_000
const MAX_TABLE = 10_000
const MAX_LINE = 1_000_000
const MAX_PATTERNS = 20
const MAX_LABELS = 8
const MAX_PANELS = 6
const MAX_GROUPS = 8
const MAX_SERIES = 6

const valueName = pattern(
  'a name: a lower-case letter, then lower-case letters, digits, "_" and "-", and "." between parts; at most 100',
  VALUE_NAME_PATTERN
)

const title: Field<string> = { kind: text(300), doc: 'What it is, in one sentence.' }
const unit: Field<string> = { kind: text(50), doc: 'Unit, as tables and the article write it; absent: it has none.', default: '' }
const published: Field<boolean> = {
  kind: flag,
  doc: 'False: a stand-in that no source publishes; said wherever it is used.',
  default: true
}

const named = {
  name: { kind: valueName, doc: "The study's name of the value." },
  // A percentage has no digits that the fraction does not have. What a pattern finds has no unit: `multiply` accounts for the `k` of `200k`.
  as: {
    kind: oneOf('number', 'percent', 'text', 'match'),
    doc: 'The number as written, a fraction times 100, the text as written (or what a pattern finds in it), or the number that a pattern finds in it.',
    default: 'number'
  },
  pattern: {
    kind: nullable(safePattern),
    doc: 'Regular expression with one group: of `"match"` around the number, of `"text"` (where it may be left out) around the text.',
    default: null
  },
  multiply: { kind: factor, doc: 'The number is multiplied by this.', default: 1 },
  unit,
  title,
  published,
  excluded: {
    kind: nullable(text(300)),
    doc: 'Why the value is read and reported, and used in no comparison and no figure; null: it may be used.',
    default: null
  }
} as const

const CELL = 'a cell: column letters A to XFD and a row from 1 to 1048576'

/** Checks that a cell lies in the grid of spreadsheets. @throws Fault */
function checkCell(cell: string, at: string, context: CheckContext): string {
  const letters = cell.replace(/[0-9]+$/, '')
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
  if (column <= MAX_COLUMN && Number(cell.slice(letters.length)) <= MAX_ROW) return cell
  throw new Fault({
    format: context.format,
    problem: 'wrong field',
    found: `${at} is ${describeValue(cell)}`,
    expected: CELL,
    place: context.place
  })
}

const cell = refine(pattern(CELL, /^[A-Z]{1,3}[1-9][0-9]{0,6}$/), checkCell)
const labelText: Field<string> = { kind: text(), doc: 'What stands there; any white space counts as one space.' }

const cellValue = object({
  ...named,
  sheet: { kind: text(200), doc: 'Name of the sheet.' },
  cell: { kind: cell, doc: 'Cell of the sheet: `C8`.' },
  labels: {
    kind: list(object({ cell: { kind: cell, doc: 'Cell of the same sheet.' }, text: labelText }), 0, MAX_LABELS),
    doc: 'Texts of other cells that say what the value is: head of its column, name of its row.',
    default: []
  }
})

const slideTable = object({
  index: { kind: integer(1, MAX_TABLE), doc: 'Table of the slide, from 1.' },
  row: { kind: integer(1, MAX_TABLE), doc: 'Row of the table, from 1.' },
  column: { kind: integer(1, MAX_TABLE), doc: 'Column of the table, from 1.' }
})

const slideValue = object({
  ...named,
  slide: { kind: integer(1, MAX_SLIDE), doc: 'Slide, from 1, in the order of the presentation (not of file names).' },
  table: {
    kind: nullable(slideTable),
    doc: 'Cell of a table; null: the one paragraph of the slide that `pattern` matches, with `"match"`.',
    default: null
  },
  labels: {
    kind: list(
      object({
        row: { kind: integer(1, MAX_TABLE), doc: 'Row of the same table, from 1.' },
        column: { kind: integer(1, MAX_TABLE), doc: 'Column of the same table, from 1.' },
        text: labelText
      }),
      0,
      MAX_LABELS
    ),
    doc: 'Texts of other cells of the table that say what the value is: head of its column, name of its row.',
    default: []
  }
})

const slidePage = object({
  slide: { kind: integer(1, MAX_SLIDE), doc: 'Slide, from 1, in the order of the presentation (not of file names).' },
  title: {
    kind: nullable(text()),
    doc: "Its title: of the title's placeholder, or else the first paragraph; null: not looked at.",
    default: null
  },
  printed_page: {
    kind: nullable(integer(0)),
    doc: 'The page number printed on it: of its placeholder, or else the last paragraph that is a whole number; null: not looked at.',
    default: null
  }
})

const configValue = object({
  name: { kind: valueName, doc: "The study's name of the value." },
  key: {
    kind: text(),
    doc: 'Its key, each a different one; of JSON a path (`trainer.lr`), a list at once; one that looks like a secret is withheld and null.'
  },
  title,
  published
})

const config = object({
  name: { kind: valueName, doc: "The study's name of the configuration." },
  path: {
    kind: relativePath,
    doc: 'Configuration file: `.json` is JSON, every other one is read as `.env`; the files that it inherits from are read too.'
  },
  values: { kind: list(configValue, 1), doc: 'The keys that are read; no other one is copied into an output.' }
})

const decode = {
  kind: oneOf('all', 'requested'),
  doc: '`"all"`: the pages of every column are decoded and checked; `"requested"`: those of the columns of `task_path` and `field`.',
  default: 'all'
} as const

const dataset = object({
  name: { kind: valueName, doc: "The study's name of the dataset." },
  path: { kind: relativePath, doc: 'Parquet file.' },
  title,
  task_path: {
    kind: nullable(text()),
    doc: 'Column of the task path, its parts joined by `.`: `extra_info.task_path`; null: no rows are matched.',
    default: null
  },
  patterns: {
    kind: record(NAME_PATTERN, NAME_EXPECTED, text(200), MAX_PATTERNS),
    doc: 'Texts by name; the rows whose task path contains the text are counted.',
    default: {}
  },
  field: {
    kind: nullable(text()),
    doc: 'Column that is looked for: is it in the schema, and in how many rows not null; null: none is.',
    default: null
  },
  decode
})

const group = { kind: oneOf('number', 'text'), doc: '`"number"`: the group as a number; `"text"`: as written.', default: 'number' } as const

const documentValue = object({
  name: named.name,
  line: { kind: integer(1, MAX_LINE), doc: 'Line, from 1: the one line of the document that the pattern matches.' },
  pattern: { kind: safePattern, doc: 'Regular expression with one group, around the value.' },
  as: group,
  unit,
  title,
  published,
  excluded: named.excluded,
  labels: {
    kind: list(object({ line: { kind: integer(1, MAX_LINE), doc: 'Line of the same document, from 1.' }, text: labelText }), 0, MAX_LABELS),
    doc: 'Other lines, whole, that say what the value is: the head of its table.',
    default: []
  }
})

const document = object({
  name: { kind: valueName, doc: "The study's name of the document." },
  path: {
    kind: relativePath,
    doc: 'Text file, UTF-8, at most 4 MiB. Its copy is `materials/` and the last part of this path, so that two documents have different ones.'
  },
  title,
  values: { kind: list(documentValue, 1), doc: 'What is quoted from it.' }
})

const quotedValue = object({
  name: { kind: valueName, doc: "The study's name of the value." },
  value: { kind: finite, doc: 'The value as published.' },
  unit,
  title,
  source: { kind: text(), doc: 'Publication, and the place in it.' }
})

const two = pair(reference)
const operations = {
  ratio: object({ ratio: { kind: two, doc: 'The first divided by the second.' } }),
  difference: object({ difference: { kind: two, doc: 'The first minus the second.' } }),
  product: object({ product: { kind: two, doc: 'The first times the second.' } }),
  scale: object({
    scale: { kind: reference, doc: 'A reference, which is multiplied.' },
    by: { kind: factor, doc: 'Of `scale` alone: the factor.' }
  }),
  reduction_percent: object({ reduction_percent: { kind: two, doc: '(1 - first / second) * 100.' } })
} as const

const OPERATION_NAMES = ['ratio', 'difference', 'product', 'scale', 'reduction_percent'] as const

const operation = alternatives(
  `an object with one of ${OPERATION_NAMES.join(', ')}`,
  OPERATION_NAMES.map(name => operations[name]),
  (value, at, context) => {
    const stated = OPERATION_NAMES.filter(name => Object.hasOwn(value, name))
    if (stated.length === 1) return operations[stated[0]]
    throw new Fault({
      format: context.format,
      problem: stated.length === 0 ? 'missing field' : 'contradiction',
      found: stated.length === 0 ? `${at} has no operation` : `${at} has ${stated.join(' and ')}`,
      expected: `one of ${OPERATION_NAMES.join(', ')}`,
      place: context.place
    })
  }
)

const derivedValue = object({
  name: { kind: valueName, doc: "The study's name of the value." },
  title,
  unit,
  kind: {
    kind: oneOf('original', 'displayed'),
    doc: '`"original"`: of what sources state; `"displayed"`: after a stated convention of display.'
  },
  operation: { kind: operation, doc: 'One operation on other values; derived ones that it refers to stand before it.' }
})

const figure = object({
  name: { kind: figureName, doc: 'File name without extension, as of a figure of histories; no two figures of the study have one name.' },
  title: { kind: caption, doc: 'Title of the figure.' },
  panels: {
    kind: list(
      object({
        title: { kind: caption, doc: 'Heading.' },
        axis: { kind: caption, doc: 'Title of the value axis, unit included.' },
        groups: { kind: list(caption, 1, MAX_GROUPS), doc: 'Titles of the groups of bars.' },
        series: {
          kind: list(
            object({
              title: { kind: caption, doc: 'As the legend writes it.' },
              values: { kind: list(nullable(reference), 1, MAX_GROUPS), doc: 'One reference for each group; null: no bar.' }
            }),
            1,
            MAX_SERIES
          ),
          doc: 'Bars of one colour, one in each group; one title has one colour in all bar figures.'
        },
        decimals: {
          kind: integer(0, MAX_DECIMALS),
          doc: 'Decimals printed on every bar of the panel; the output has the whole value.',
          default: 0
        },
        from: { kind: finite, doc: 'Where the value axis begins; other than 0, the axis says so.', default: 0 }
      }),
      1,
      MAX_PANELS
    ),
    doc: 'Panels in the order of reading.'
  }
})

export const EVIDENCE = object({
  workbook: {
    kind: nullable(
      object({
        path: { kind: relativePath, doc: 'Workbook (.xlsx).' },
        values: { kind: list(cellValue, 1), doc: 'Cells that are read.' }
      })
    ),
    doc: 'A workbook.',
    default: null
  },
  slides: {
    kind: nullable(
      object({
        path: { kind: relativePath, doc: 'Slides (.pptx).' },
        pages: {
          kind: list(slidePage),
          doc: 'What slides say of themselves, each slide once; looked at where a value is read from it.',
          default: []
        },
        values: { kind: list(slideValue, 1), doc: 'Texts that are read.' }
      })
    ),
    doc: 'Slides of a presentation.',
    default: null
  },
  configs: { kind: list(config), doc: 'Configurations.', default: [] },
  datasets: { kind: list(dataset), doc: 'Datasets.', default: [] },
  documents: {
    kind: list(document),
    doc: 'Texts that are kept beside the outputs as they are (a README, a postmortem, a configuration for its comment), and values that stand in them.',
    default: []
  },
  quoted: {
    kind: list(quotedValue),
    doc: 'Values that publications state: never computed with those of this study.',
    default: []
  },
  derived: {
    kind: list(derivedValue),
    doc: 'Values that follow from others, each after those that it follows from.',
    default: []
  },
  figures: { kind: list(figure), doc: 'Bar figures.', default: [] }
})

/** A cell of a sheet. */
export type CellValue = Infer<typeof cellValue>

/** A cell of a table on a slide, or a paragraph of its text. */
export type SlideValue = Infer<typeof slideValue>

/** What a slide must contain, so that it is not identified by its number alone. */
export type SlidePage = Infer<typeof slidePage>

/** A key of a configuration, after inheritance is resolved. */
export type ConfigValue = Infer<typeof configValue>
export type ConfigSource = Infer<typeof config>

/** A value that a text states, such as a README, a postmortem, or a comment of a configuration. */
export type DocumentValue = Infer<typeof documentValue>

/** A text that is copied unchanged beside the outputs, with the values quoted from it. */
export type TextDocument = Infer<typeof document>

export type DatasetSource = Infer<typeof dataset>

/**
 * A value that follows from others. `original`: from what sources state; `displayed`: by a stated convention. Difference,
 * product and scale are computed in decimal (29.8 - 27 is 2.8), ratio and reduction in doubles.
 */
export type DerivedValue = Infer<typeof derivedValue>

/** A value that a publication states. It is quoted and never combined with local values. */
export type QuotedValue = Infer<typeof quotedValue>

/** A bar figure: groups of bars with a value printed on each. */
export type BarFigureRequest = Infer<typeof figure>

export type EvidenceStudy = Infer<typeof EVIDENCE>

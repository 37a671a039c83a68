/** `data.json`. */
import { flag, list, nullable, oneOf, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { CHAIN, DATASET, FOUND_VALUE, NODE, STUDY_PATH, TITLE, UNIT } from './evidence-parts.js'
import { fileFields, SHA256, studyFile } from './files.js'
import { anyOf, anyText, closed, map, matching, reasons, someText, whole } from './kinds.js'

const SOURCES = closed({
  workbook: { kind: studyFile, doc: 'absent where the study has none', optional: true },
  slides: { kind: studyFile, doc: 'absent where the study has none', optional: true },
  configs: { kind: map(closed({ path: STUDY_PATH, chain: CHAIN })), doc: "by the study's name of the configuration" },
  datasets: { kind: map(studyFile), doc: "by the study's name of the dataset" },
  documents: {
    kind: map(
      closed({
        title: TITLE,
        ...fileFields('relative to the study'),
        copy: { kind: someText, doc: 'output that is its copy, byte for byte' }
      })
    ),
    doc: "by the study's name of the document"
  }
})

/** Of a value from any source. */
const VALUE = {
  value: FOUND_VALUE,
  unit: UNIT,
  title: TITLE,
  published: { kind: flag, doc: 'false: a stand-in that no source publishes' },
  excluded: { kind: nullable(anyText), doc: 'why it enters no comparison and no figure; null: it may' }
}

/** @param name of the source */
function source<const S extends string>(name: S) {
  return { kind: oneOf(name), doc: 'where it was read' }
}

const RAW = { kind: anyText, doc: 'as written, before any conversion' }

const LABELS = {
  kind: list(
    closed({
      place: { kind: someText, doc: 'cell, place in the table, title, printed page or line' },
      text: { kind: anyText, doc: 'as found, any white space as one space' }
    }),
    1
  ),
  doc: 'what stands beside the value and says what it is; absent where the study expects nothing',
  optional: true
} as const

const FROM_WORKBOOK = closed({
  ...VALUE,
  source: source('workbook'),
  file: STUDY_PATH,
  sha256: SHA256,
  sheet: { kind: anyText, doc: 'name of the sheet' },
  cell: { kind: matching('a reference such as C8', /^[A-Z]{1,3}[1-9][0-9]*$/), doc: 'reference of the cell' },
  raw: RAW,
  labels: LABELS
})

const FROM_SLIDES = closed({
  ...VALUE,
  source: source('slides'),
  file: STUDY_PATH,
  sha256: SHA256,
  slide: { kind: whole(1), doc: 'place in the presentation, from 1' },
  table: { kind: whole(1), doc: 'table of the slide, from 1', optional: true },
  row: { kind: whole(1), doc: 'row of the table, from 1', optional: true },
  column: { kind: whole(1), doc: 'column of the table, from 1', optional: true },
  paragraph: { kind: whole(1), doc: 'paragraph of the slide with text, from 1', optional: true },
  raw: RAW,
  labels: LABELS
})

const FROM_CONFIG = closed({
  ...VALUE,
  source: source('config'),
  file: { kind: someText, doc: 'the file of the chain that sets it, relative to the study' },
  sha256: SHA256,
  key: { kind: anyText, doc: 'key in the configuration' },
  line: { kind: whole(1), doc: 'line of the file, from 1; absent where the value is withheld', optional: true },
  raw: { ...RAW, optional: true }
})

const FROM_DOCUMENT = closed({
  ...VALUE,
  source: source('document'),
  document: { kind: someText, doc: "the study's name of the document" },
  file: STUDY_PATH,
  sha256: SHA256,
  line: { kind: whole(1), doc: 'line of the file, from 1' },
  raw: { kind: anyText, doc: 'the whole line' },
  labels: LABELS
})

const QUOTED = closed({
  ...VALUE,
  source: source('quoted'),
  text: { kind: anyText, doc: 'publication, and the place in it' }
})

export const EVIDENCE_DATA = output(
  'evidence-data',
  {
    title: 'Written evidence',
    description: 'Values that the study reads from its workbook, slides, configurations and publications, each with its place; datasets.',
    definitions: [NODE]
  },
  {
    ...envelopeFields('evidence-data'),
    sources: { kind: SOURCES, doc: 'files that were read' },
    values: {
      kind: map(anyOf(FROM_WORKBOOK, FROM_SLIDES, FROM_CONFIG, FROM_DOCUMENT, QUOTED)),
      doc: "by the study's name of the value"
    },
    datasets: { kind: map(closed(DATASET)), doc: "by the study's name of the dataset" },
    undefined_reasons: { kind: reasons, doc: 'JSON pointer of each null -> why it is undefined' }
  }
)

export type EvidenceDataDocument = Infer<typeof EVIDENCE_DATA>

/** `sample-statistics.json` and `samples.csv`: what a dump without values gives, as a whole and one row a sample. */
import type { SampleRecord } from '../../compute/traces/without-critic.js'
import type { Content } from '../../schema/outputs/document.js'
import type { SampleStatisticsDocument } from '../../schema/outputs/sample-statistics.js'
import { csvHeading, writeCsvMetadata, type CsvColumn, type CsvTable } from './csv-metadata.js'
import { csvRow, type CsvCell } from './csv.js'
import { envelope } from './documents.js'
import { jsonText } from './json-text.js'
import { SAMPLE_PATHS, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

const COLUMNS: ReadonlyArray<CsvColumn<(sample: SampleRecord) => CsvCell>> = [
  ['trace', 'integer', 'canonical position in the dump, from 0', s => s.index],
  ['step', 'integer?', 'trainer step; empty where it is not stated', s => s.step],
  ['outcome', 'string?', 'success or failure; empty where it is unknown', s => s.outcome],
  ['outcome_from', 'string?', 'outcome: stated; score: told by the score', s => s.outcomeFrom],
  ['uid', 'string?', 'identity of the trajectory or of its prompt; may repeat', s => s.uid],
  ['score', 'number?', 'score of the trajectory', s => s.score],
  ['tokens', 'integer', 'retained tokens: those with mask 1', s => s.tokens],
  ['response_tokens', 'integer', 'all tokens of the response', s => s.responseTokens],
  ['turns', 'integer', 'stretches of retained tokens', s => s.turns],
  ['advantage_mean', 'number?', 'mean of the advantages of retained tokens', s => s.advantages?.mean ?? null],
  [
    'advantage_sd',
    'number?',
    'their population standard deviation',
    s => (s.advantages === null ? null : Math.sqrt(s.advantages.squares / s.advantages.n))
  ],
  ['source_file', 'string', 'file of the dump', s => s.file]
]

const TABLE: CsvTable<(sample: SampleRecord) => CsvCell> = {
  title: 'Samples without values',
  description: 'Lengths, turns, outcomes and advantages of a dump that holds no values. One row a sample, in canonical order.',
  columns: COLUMNS
}

export async function writeSamples(
  set: OutputSet,
  records: readonly SampleRecord[],
  statistics: Content<SampleStatisticsDocument>,
  origin: Origin
): Promise<void> {
  const document: SampleStatisticsDocument = { ...envelope('sample-statistics', origin), ...statistics }
  await set.write(SAMPLE_PATHS.statistics, jsonText(document))
  await set.write(SAMPLE_PATHS.rows, csvHeading(TABLE) + records.map(s => csvRow(COLUMNS.map(([, , , cell]) => cell(s)))).join(''))
  await writeCsvMetadata(set, SAMPLE_PATHS.rows, TABLE, origin)
}

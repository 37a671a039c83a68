/**
 * The JSON outputs of written evidence: the values with their sources, the derived values, and the evidence of datasets
 * and configurations in a file of its own. The schemas are
 * docs/schemas/{evidence-data,derived-metrics,case-evidence}.schema.json.
 */
import type { DerivedResult, FoundConfig, FoundDataset, FoundEvidence, FoundValue, Operand } from '../../compute/evidence/contract.js'
import { operationName } from '../../compute/evidence/derive.js'
import { EVIDENCE_DOCUMENTS } from '../../schema/outputs.js'
import type { CaseEvidenceDocument } from '../../schema/outputs/case-evidence.js'
import type { DerivedMetricsDocument } from '../../schema/outputs/derived-metrics.js'
import type { Content } from '../../schema/outputs/document.js'
import type { EvidenceDataDocument } from '../../schema/outputs/evidence-data.js'
import type { SchemaName } from '../../schema/outputs/versions.js'
import { envelope } from './documents.js'
import { jsonText } from './json-text.js'
import type { FileSummary } from './output-file.js'
import type { Origin as Source } from './output-names.js'
import type { OutputSet } from './output-set.js'

const CHECKSUMS =
  'SHA-256 over the whole file; a CRC-32 in a page header is checked on every page that is decoded, a wrong one fails the run; ' +
  'pages without one are counted and accepted. Of columns that are not decoded, this hash and the footer are all that is checked'

export function writeEvidenceData(set: OutputSet, evidence: FoundEvidence, source: Source): Promise<FileSummary> {
  return write(set, EVIDENCE_DOCUMENTS.data, 'evidence-data', evidenceData(evidence), source)
}

export function writeDerivedMetrics(set: OutputSet, derived: readonly DerivedResult[], source: Source): Promise<FileSummary> {
  return write(set, EVIDENCE_DOCUMENTS.derived, 'derived-metrics', derivedMetrics(derived), source)
}

export function writeCaseEvidence(set: OutputSet, evidence: FoundEvidence, source: Source): Promise<FileSummary> {
  return write(set, EVIDENCE_DOCUMENTS.cases, 'case-evidence', caseEvidence(evidence), source)
}

/** Copies each document byte for byte. */
export async function writeDocumentCopies(set: OutputSet, { documents }: FoundEvidence): Promise<void> {
  for (const { copy, content } of documents) await set.write(copy, content)
}

function write(set: OutputSet, path: string, schema: SchemaName, content: object, source: Source): Promise<FileSummary> {
  return set.write(path, jsonText({ ...envelope(schema, source), ...content }))
}

function evidenceData({ workbook, slides, configs, datasets, documents, values }: FoundEvidence): Content<EvidenceDataDocument> {
  return {
    sources: {
      ...(workbook === null ? {} : { workbook: { path: workbook.path, sha256: workbook.sha256, bytes: workbook.bytes } }),
      ...(slides === null ? {} : { slides: { path: slides.path, sha256: slides.sha256, bytes: slides.bytes } }),
      configs: Object.fromEntries(configs.map(config => [config.name, { path: config.path, chain: chainOf(config) }])),
      datasets: Object.fromEntries(datasets.map(({ name, path, audit }) => [name, { path, sha256: audit.sha256, bytes: audit.bytes }])),
      documents: Object.fromEntries(
        documents.map(({ name, title, path, sha256, bytes, copy }) => [name, { title, path, sha256, bytes, copy }])
      )
    },
    values: Object.fromEntries(values.map(value => [value.name, valueEntry(value)])),
    datasets: Object.fromEntries(datasets.map(dataset => [dataset.name, datasetEntry(dataset)])),
    undefined_reasons: {
      ...Object.fromEntries(values.flatMap(({ name, reason }) => (reason === null ? [] : [[`/values/${name}/value`, reason]]))),
      ...unknownCreators(datasets, name => `/datasets/${name}/created_by`)
    }
  }
}

function chainOf({ chain }: FoundConfig): EvidenceDataDocument['sources']['configs'][string]['chain'] {
  return chain.map(({ path, sha256, bytes }) => ({ path, sha256, bytes }))
}

function valueEntry({ value, unit, title, published, excluded, labels, origin }: FoundValue): EvidenceDataDocument['values'][string] {
  const stated = { value, unit, title, published, excluded }
  const beside = labels.length === 0 ? {} : { labels: labels.map(({ place, text }) => ({ place, text })) }
  switch (origin.source) {
    case 'workbook': {
      const { source, file, sha256, sheet, cell, raw } = origin
      return { ...stated, source, file, sha256, sheet, cell, raw, ...beside }
    }
    case 'slides': {
      const { source, file, sha256, slide, position, raw } = origin
      return { ...stated, source, file, sha256, slide, ...position, raw, ...beside }
    }
    case 'config': {
      const { source, file, sha256, key, line, raw } = origin
      // A withheld setting has neither line nor text.
      return { ...stated, source, file, sha256, key, ...(line === null || raw === null ? {} : { line, raw }) }
    }
    case 'document': {
      const { source, document, file, sha256, line, raw } = origin
      return { ...stated, source, document, file, sha256, line, raw, ...beside }
    }
    case 'quoted':
      return { ...stated, source: origin.source, text: origin.text }
  }
}

function datasetEntry({ title, path, audit }: FoundDataset): EvidenceDataDocument['datasets'][string] {
  const { rows, rowGroups, columns, columnsDecoded, createdBy, codecs, encodings, schema, texts, field, checked } = audit
  return {
    title,
    path,
    sha256: audit.sha256,
    bytes: audit.bytes,
    rows,
    row_groups: rowGroups,
    columns,
    columns_decoded: columnsDecoded,
    created_by: createdBy,
    codecs,
    encodings,
    schema,
    ...(texts === null
      ? {}
      : {
          task_path: texts.column,
          matches: texts.matches,
          matched_several: texts.several,
          unmatched: texts.unmatched,
          null_paths: texts.nulls
        }),
    ...(field === null ? {} : { field: { path: field.path, in_schema: field.inSchema, rows: field.nonNullRows } }),
    pages: { decoded: checked.pages, with_checksum: checked.checksummed },
    checksums: CHECKSUMS
  }
}

type ReasonTexts = { readonly [pointer: string]: string }

function unknownCreators(datasets: readonly FoundDataset[], pointer: (name: string, index: number) => string): ReasonTexts {
  return Object.fromEntries(
    datasets.flatMap(({ name, audit }, i) => (audit.createdBy === null ? [[pointer(name, i), 'the file does not say what wrote it']] : []))
  )
}

function derivedMetrics(derived: readonly DerivedResult[]): Content<DerivedMetricsDocument> {
  const reasons: [string, string][] = []
  const values = derived.map(({ request, value, reason, published, operands }): [string, DerivedMetricsDocument['values'][string]] => {
    const { name, unit, title, kind, operation } = request
    const at = `/values/${name}`
    if (reason !== null) reasons.push([`${at}/value`, reason])
    operands.forEach((operand, i) => {
      if (operand.reason !== null) reasons.push([`${at}/operands/${i}/value`, operand.reason])
    })
    return [
      name,
      {
        value,
        unit,
        title,
        kind,
        published,
        operation: operationName(operation),
        ...('scale' in operation ? { by: operation.by } : {}),
        operands: operands.map(operandEntry)
      }
    ]
  })
  return { values: Object.fromEntries(values), undefined_reasons: Object.fromEntries(reasons) }
}

function operandEntry({ reference, value, published }: Operand): DerivedMetricsDocument['values'][string]['operands'][number] {
  return { reference, value, published }
}

function caseEvidence({ configs, datasets }: FoundEvidence): Content<CaseEvidenceDocument> {
  const reasons: [string, string][] = []
  return {
    datasets: datasets.map(dataset => ({ name: dataset.name, ...datasetEntry(dataset) })),
    configs: Object.fromEntries(
      configs.map(config => [
        config.name,
        {
          path: config.path,
          chain: chainOf(config),
          values: Object.fromEntries(config.values.map(found => configEntry(found, config.name, reasons))),
          withheld: config.withheld
        }
      ])
    ),
    undefined_reasons: { ...Object.fromEntries(reasons), ...unknownCreators(datasets, (_, i) => `/datasets/${i}/created_by`) }
  }
}

/** An entry under the key in the configuration. The study's name of the value is not used. */
function configEntry(
  { value, reason, origin }: FoundValue,
  config: string,
  reasons: [string, string][]
): [string, CaseEvidenceDocument['configs'][string]['values'][string]] {
  const { key, file, line } = origin.source === 'config' ? origin : { key: '', file: '', line: null }
  const escaped = key.replaceAll('~', '~0').replaceAll('/', '~1')
  if (reason !== null) reasons.push([`/configs/${config}/values/${escaped}/value`, reason])
  return [key, { value, from: file, ...(line === null ? {} : { line }) }]
}

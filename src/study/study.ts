/**
 * The study file `study.json` in a folder states what the pipeline reads there, under which names, and what it expects.
 * Every path in it is relative to that folder and stays inside. Documented in `docs/study.md`; the JSON Schema in
 * `docs/schemas/study.schema.json` is made from the same fields.
 */
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { SECTIONS_NEEDED, STUDY_KIND, type Study } from '../schema/study.js'
import { Fault, describeCause, printable } from '../core/errors.js'
import type { CheckContext, JsonSchema } from '../core/checker.js'
import { checkAcrossSections } from './across-sections.js'
import { checkEvidence } from './evidence-checks.js'
import { checkFetch } from './fetch-checks.js'
import { checkHistories } from './history-checks.js'
import { readJsonFile, withWayTo } from '../core/strict-json.js'
import { MAX_STUDY_BYTES, STUDY_FILE } from './label.js'
import { resolveInside } from '../core/paths.js'
import { whyNoFolder } from '../core/system/folder.js'

export interface StudyFile {
  readonly study: Study
  /** path of the study file, as given */
  readonly path: string
  /** of the study file's bytes */
  readonly sha256: string
  readonly bytes: number
}

/** Reads and checks `study.json` in `dir`. Files that it names need not exist, but none may lie outside `dir`. */
export async function loadStudy(dir: string): Promise<StudyFile> {
  const path = join(dir, STUDY_FILE)
  const found = await whyNoFolder(dir)
  if (found !== null)
    throw new Fault({ format: 'study', problem: 'unreadable folder', found, expected: 'the folder of a study', place: { file: dir } })
  const { value, sha256, bytes } = await readJsonFile(path, 'study', MAX_STUDY_BYTES).catch(
    withWayTo('a study file; "node dist/run.js study init FOLDER" writes one from exports')
  )
  const context: CheckContext = { format: 'study', place: { file: path }, paths: [] }
  const study = checkStudy(value, context)
  await refuseLinksOut(dir, context)
  return { study, path, sha256, bytes }
}

/** The study in a JSON value, with defaults filled in. The paths that it names are added to `context.paths`. */
export function checkStudy(value: unknown, context: CheckContext): Study {
  const { $schema: _editor, schema_version: _version, ...study } = STUDY_KIND.read(value, '', context)
  if (SECTIONS_NEEDED.every(name => study[name] === null)) {
    throw new Fault({
      format: context.format,
      problem: 'missing section',
      found: 'nothing that is to be read',
      expected: `one of ${SECTIONS_NEEDED.join(', ')}`,
      place: context.place
    })
  }
  if (study.histories !== null) checkHistories(study.histories, 'histories', context)
  if (study.evidence !== null) checkEvidence(study.evidence, 'evidence', context)
  if (study.fetch !== null) checkFetch(study.fetch, 'fetch', context)
  checkAcrossSections(study, context)
  // A default path must be checked too: it may be a link.
  context.paths.push({ at: 'manifest', path: study.manifest })
  return { ...study, histories: withAllowedSettings(study) }
}

/** Joins the two allowlists of settings: those that are fetched, and those that the section names. */
function withAllowedSettings({ histories, fetch }: Pick<Study, 'histories' | 'fetch'>): Study['histories'] {
  return histories === null ? null : { ...histories, config: [...new Set([...(fetch?.config ?? []), ...histories.config])] }
}

async function refuseLinksOut(dir: string, context: CheckContext): Promise<void> {
  const { place } = context
  const root = await realpath(dir).catch((cause: unknown) => {
    throw new Fault({ format: 'study', problem: 'unreadable folder', found: describeCause(cause), place, cause })
  })
  for (const { at, path } of context.paths) {
    const resolved = resolveInside(root, path)
    if (resolved.kind === 'outside') {
      throw new Fault({
        format: 'study',
        problem: 'unsafe path',
        found: `${at} is ${printable(JSON.stringify(path))}, a link that leads out of the study`,
        expected: 'a path inside the study',
        place
      })
    }
    if (resolved.kind === 'unreadable') {
      throw new Fault({
        format: 'study',
        problem: 'unreadable path',
        found: `${at} is ${printable(JSON.stringify(path))} (${resolved.code})`,
        expected: 'a path inside the study',
        place
      })
    }
  }
}

/** JSON Schema (draft 2020-12) of a study file: the content of `docs/schemas/study.schema.json`. */
export function studyJsonSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:critic-traces:study:1',
    title: 'critic-traces study file',
    ...STUDY_KIND.schema,
    anyOf: SECTIONS_NEEDED.map(name => ({ properties: { [name]: { type: 'object' } }, required: [name] }))
  }
}

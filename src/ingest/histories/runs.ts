/**
 * `runs.json`: which runs were exported, when each was created, and where its history lies. It is a list of objects.
 * Fields of other names are skipped, since exporters write further ones. Paths are not checked here.
 */
import { Fault, printableId } from '../../core/errors.js'
import { isSecretText } from '../../core/secrets.js'
import {
  finiteObject,
  list,
  nullable,
  object,
  pattern,
  rawText,
  refine,
  refuseSecret,
  text,
  type CheckContext,
  type Kind
} from '../../core/checker.js'
import { readJsonFile } from '../../core/strict-json.js'
import { isDeviceName } from '../../core/file-names.js'
import { DATE_TIME, DATE_TIME_EXPECTED, parseIsoSeconds } from './iso-time.js'
import type { ListedRun } from './types.js'

export const MAX_RUNS_BYTES = 16 * 1024 * 1024

/** Most runs of one list. A larger project is listed in parts. */
const MAX_RUNS = 10_000

/** Longest name, in bytes. It leaves room for `.jsonl.gz` within the 255 bytes that file systems allow. */
const MAX_NAME_BYTES = 200

/** Path separators of any system, characters that Windows refuses, control and invisible characters, lone surrogates. */
const UNSAFE_NAME = /[/\\<>:"|?*\p{Cc}\p{Cf}\p{Surrogate}]|\.\./u

const NAME_EXPECTED = `a name of 1 to ${MAX_NAME_BYTES} bytes that is safe as a file name (no "/", "\\", "..")`

/** True when the text can be the name of a file or folder on every system. */
export function isSafeName(name: string): boolean {
  return (
    name !== '' &&
    name !== '.' &&
    !UNSAFE_NAME.test(name) &&
    !/^ |[. ]$/.test(name) &&
    !isDeviceName(name) &&
    Buffer.byteLength(name) <= MAX_NAME_BYTES
  )
}

function runsFault(problem: string, found: string, expected: string, { format, place }: CheckContext): Fault {
  return new Fault({ format, problem, found, expected, place })
}

const quoted = (value: string): string => printableId(JSON.stringify(value))

const safeName: Kind<string> = refine(rawText(), (name, at, context) => {
  if (isSafeName(name)) return refuseSecret(name, at, context, 'id')
  throw runsFault('unsafe name', `${at} is ${quoted(name)}`, NAME_EXPECTED, context)
})

/** An optional text of the list; null when it looks like a secret. */
function optional(max?: number): Kind<OptionalText> {
  return refine(nullable(rawText(max)), (written, at) => {
    const withheld = written !== null && isSecretText(written, at.slice(at.lastIndexOf('.') + 1))
    return { written: withheld ? null : written, withheld }
  })
}

interface OptionalText {
  readonly written: string | null
  readonly withheld: boolean
}

const ABSENT: OptionalText = { written: null, withheld: false }

interface DateTime {
  readonly written: string
  readonly seconds: number
}

const dateTime: Kind<DateTime> = refine(pattern(DATE_TIME_EXPECTED, DATE_TIME), (written, at, context) => {
  const seconds = parseIsoSeconds(written)
  if (seconds !== null) return { written, seconds }
  // such as the 30th of February
  throw runsFault('wrong field', `${at} is ${quoted(written)}`, 'a day that exists', context)
})

const RUNS_KIND = list(
  object(
    {
      id: { kind: safeName, doc: 'Id of the run; its history is `<label>/<id>.jsonl`.' },
      displayName: { kind: text(), doc: 'Display name, verbatim.' },
      entity: { kind: optional(), doc: 'Owner of the project.', default: ABSENT },
      project: { kind: optional(), doc: 'Project.', default: ABSENT },
      createdAt: { kind: dateTime, doc: 'Time of creation, ISO 8601; UTC where no zone is written.' },
      state: { kind: optional(), doc: 'State that the tracker reports.', default: ABSENT },
      url: { kind: optional(4096), doc: 'Page of the run.', default: ABSENT },
      fetchedAt: { kind: optional(), doc: 'Time of the export, verbatim.', default: ABSENT },
      label: { kind: safeName, doc: 'Folder of the history.' },
      config: { kind: finiteObject, doc: 'Configuration, of which the study allows some.', default: {} }
    },
    'skip'
  )
)

export interface RunsFile {
  /** in the file's order */
  readonly runs: readonly ListedRun[]
  /** of the file's bytes, lower-case hexadecimal */
  readonly sha256: string
  readonly bytes: number
}

/**
 * Reads and checks a list of runs. The histories are not read.
 *
 * @throws Fault exit 3: missing or unreadable file, malformed JSON, a wrong field (with its path), an id or label that
 * is no safe file name, a run listed twice under one label.
 */
export async function readRuns(path: string): Promise<RunsFile> {
  const { value, sha256, bytes } = await readJsonFile(path, 'runs', MAX_RUNS_BYTES)
  return { runs: checkRuns(value, bytes, path), sha256, bytes }
}

/** The runs in a parsed list, checked as in `readRuns`. @param bytes length of its text */
export function checkRuns(value: unknown, bytes: number, path: string): readonly ListedRun[] {
  const context: CheckContext = { format: 'runs', place: { file: path }, paths: [] }
  if (bytes > MAX_RUNS_BYTES) throw runsFault('file too large', `${bytes} bytes`, `at most ${MAX_RUNS_BYTES}`, context)
  if (Array.isArray(value) && value.length > MAX_RUNS) {
    throw runsFault('too many runs', String(value.length), `at most ${MAX_RUNS}`, context)
  }
  const listed = RUNS_KIND.read(value, '', context)
  const first = new Map<string, number>()
  listed.forEach(({ label, id }, i) => {
    const history = `${label}/${id}`
    const j = first.get(history)
    if (j !== undefined) {
      const found = `${quoted(id)} with label ${quoted(label)} is [${j}] and [${i}]`
      throw runsFault('run listed twice', found, 'each run once', context)
    }
    first.set(history, i)
  })
  return listed.map(({ createdAt: { written, seconds }, entity, project, state, url, fetchedAt, ...run }) => {
    const withheld = [entity, project, state, url, fetchedAt].filter(field => field.withheld).length
    return {
      ...run,
      createdAt: written,
      createdSeconds: seconds,
      entity: entity.written,
      project: project.written,
      state: state.written,
      url: url.written,
      fetchedAt: fetchedAt.written,
      ...(withheld === 0 ? {} : { leftOut: { unnamed: 0, withheld } })
    }
  })
}

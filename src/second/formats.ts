/**
 * The formats that are read twice, one entry each: which files of a study have the format, what the readers are told beside
 * the file, and what compares them. The comparing module is loaded where it compares, so planning loads no reader.
 */
import type { Study } from '../schema/study.js'
import type { SecondReading } from './reading.js'

/** A file of a study's manifest. */
export interface StudyFileRole {
  /** relative to the study */
  readonly path: string
  /** as the study gives it */
  readonly role: string
}

interface ReadTwice<Request extends object> {
  /** what the readers are told beside the file; null where a file has another format */
  request(file: StudyFileRole, study: Study): Request | null
  compare(path: string, request: Request): Promise<SecondReading>
}

function readTwiceBy<Request extends object>(format: ReadTwice<Request>): ReadTwice<Request> {
  return format
}

/** The first entry that takes a file reads it. */
const FORMATS = {
  npz: readTwiceBy({
    request: ({ path }) => (/\.npz$/i.test(path) ? {} : null),
    compare: async path => (await import('./npz.js')).compareNpz(path)
  }),
  parquet: readTwiceBy({
    request: ({ path, role }) => (/\.parquet$/i.test(path) || role === 'dataset' ? {} : null),
    compare: async path => (await import('./parquet.js')).compareParquet(path)
  }),
  history: readTwiceBy({
    request: ({ role }, { histories }) => (role === 'history' && histories !== null ? histories.keys : null),
    compare: async (path, keys) => (await import('./history.js')).compareHistory(path, keys)
  }),
  page: readTwiceBy({
    request: ({ role }, { critic_traces: traces }) =>
      role === 'snapshot' && traces !== null ? { keys: traces.keys, endMarker: traces.expectations.boundary_end_marker } : null,
    compare: async (path, request) => (await import('./page.js')).comparePage(path, request)
  })
}

type Formats = typeof FORMATS
type SecondFormat = keyof Formats
type RequestOf<F> = F extends ReadTwice<infer Request> ? Request : never

/** One file to read twice. Plain data, since it is sent to another process. */
export type SecondTask = {
  readonly [F in SecondFormat]: { readonly file: string; readonly format: F; readonly request: RequestOf<Formats[F]> }
}[SecondFormat]

/** @param file where the file lies. @returns null where no format takes it */
export function taskOf(file: string, listed: StudyFileRole, study: Study): SecondTask | null {
  for (const format of Object.keys(FORMATS) as SecondFormat[]) {
    const request = FORMATS[format].request(listed, study)
    if (request !== null) return { file, format, request } as SecondTask
  }
  return null
}

export function readTwice({ file, format, request }: SecondTask): Promise<SecondReading> {
  const reader: ReadTwice<object> = FORMATS[format]
  return reader.compare(file, request)
}

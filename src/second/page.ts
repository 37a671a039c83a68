/**
 * Second reading of a snapshot's page by cheerio and JSON.parse: the content of `script#data` as text, then every array,
 * field and text that our reader gives, trace by trace.
 *
 * cheerio uses parse5, which keeps a tree of the page and reads the script character by character. It takes about 20 bytes
 * of memory for each byte of the page, so larger pages are left out. parse5 8.1.1 differs from the living HTML standard in
 * a few places (docs/verify.md lists them). A page with one of those cannot be judged by it.
 */
import { isUtf8 } from 'node:buffer'
import { statSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { gunzippedIfGzip } from '../core/gunzip.js'
import { fileChunks } from '../core/still-file.js'
import { readStillSync } from '../core/still-file-sync.js'
import { DataElement } from '../ingest/html/data-element.js'
import { parseTrace, TraceScratch } from '../ingest/json/trace.js'
import { PageSource } from '../ingest/traces/page.js'
import { TRACE_ARRAYS, type ParsedTrace, type SnapshotHeader, type SnapshotKeys } from '../schema/traces.js'
import { Comparison, thrown, type SecondReading } from './reading.js'

/** Largest page, inflated. */
export const MAX_SECOND_PAGE_BYTES = 64 * 2 ** 20

export interface PageRequest {
  readonly keys: SnapshotKeys
  /** text that is looked for at the end of every span's text; null: none */
  readonly endMarker: string | null
}

/** The reading of our reader. */
export interface OwnPage {
  /** each trace is valid until the next is read */
  traces(): AsyncIterable<ParsedTrace>
  /** available after the last trace */
  header(): SnapshotHeader
}

export function openOwnPage(path: string, { keys, endMarker }: PageRequest): OwnPage {
  const source = new PageSource(path, { keys })
  return {
    async *traces() {
      const scratch = new TraceScratch()
      for await (const slice of source.slices()) {
        yield parseTrace(slice, { keys, endMarker, scratch })
        source.release(slice.bytes)
      }
    },
    header: () => source.header
  }
}

/** @param maxBytes another limit; tests pass a small one */
export async function comparePage(
  path: string,
  request: PageRequest,
  open = openOwnPage,
  maxBytes = MAX_SECOND_PAGE_BYTES
): Promise<SecondReading> {
  const comparison = new Comparison('page', 'cheerio and JSON.parse', path)
  return comparison.run(async () => {
    // 1. Our reader alone, to the end: its refusals count, whatever the second reader can judge of the page.
    for await (const trace of open(path, request).traces()) void trace
    // 2. Both readers.
    const bytes = statSync(path).size > maxBytes ? null : inflated(readStillSync(path, 'snapshot').bytes, maxBytes)
    if (bytes === null) {
      comparison.unread(null, `more than ${maxBytes} bytes: cheerio would take more than a gigabyte of memory`)
      return
    }
    const text = await compareElement(comparison, bytes, await ownElement(path))
    if (text === null) return
    const document = parsed(text, comparison)
    if (document !== undefined) await compareAllTraces(comparison, open(path, request), document, request, text)
  })
}

/** The page inflated; null if it is larger than the limit. Our reader refuses an incomplete gzip. */
function inflated(bytes: Uint8Array, maxOutputLength: number): Uint8Array | null {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? null : new Uint8Array(0)
  }
}

/** The element that our reader finds. */
export interface OwnElement {
  readonly content: Buffer
  /** offset of the content's first byte, in the page's text as UTF-8 */
  readonly offset: number
  readonly encoding: string
}

async function ownElement(path: string): Promise<OwnElement> {
  const element = new DataElement()
  const pieces: Buffer[] = []
  for await (const chunk of gunzippedIfGzip(fileChunks(path)))
    for (const piece of await element.push(chunk)) pieces.push(Buffer.from(piece))
  for (const piece of await element.end()) pieces.push(Buffer.from(piece))
  return { content: Buffer.concat(pieces), offset: element.contentOffset, encoding: element.encoding ?? 'utf-8' }
}

/** The content's text if both readers have it; null if the second cannot judge the page. */
export async function compareElement(comparison: Comparison, bytes: Uint8Array, ours: OwnElement): Promise<string | null> {
  const text = new TextDecoder(ours.encoding, { ignoreBOM: true }).decode(bytes)
  const whole = Buffer.from(ours.encoding === 'utf-8' ? bytes : Buffer.from(text.replace(/^\ufeff/, '')))
  const before = whole.toString('utf8', 0, ours.offset)
  const doubt = doubtOf(bytes, text, ours.encoding) ?? doubtOfMarkup(before + whole.toString('utf8', ours.offset + ours.content.length))
  if (doubt !== null) {
    comparison.unread(null, doubt)
    return null
  }
  noteParse5(comparison, before)
  const { loadBuffer } = await import('cheerio')
  let found: string[]
  try {
    const $ = loadBuffer(Buffer.from(bytes), { scriptingEnabled: true })
    found = $('script[id="data"]')
      .toArray()
      .filter(element => element.namespace === HTML && !isInTemplate(element))
      .map(element => $(element).text())
  } catch (error) {
    comparison.unread(null, `cheerio: ${thrown(error)}`)
    return null
  }
  if (found.length !== 1) throw comparison.otherwise('one script#data', `${found.length} of them`)
  // The tree holds the text after the preprocessing of the standard.
  const content = ours.content.toString('utf8').replace(/\r\n?/g, '\n').replaceAll('\0', '\ufffd')
  if (found[0] !== content) throw comparison.otherwise('its content', `other content (${found[0].length} characters for ${content.length})`)
  return content
}

const HTML = 'http://www.w3.org/1999/xhtml'

interface TreeNode {
  readonly name?: string
  readonly parentNode: TreeNode | null
}

/** True inside a template. Its content hangs below it behind a document of its own. */
function isInTemplate(element: object): boolean {
  for (let node = (element as TreeNode).parentNode; node !== null; node = node.parentNode) if (node.name === 'template') return true
  return false
}

/** Bytes for which cheerio's decoder differs from the Encoding standard. */
function doubtOf(bytes: Uint8Array, text: string, encoding: string): string | null {
  if (encoding === 'utf-8') return isUtf8(bytes) ? null : 'bytes that are not UTF-8: decoders replace them differently'
  if (encoding === 'windows-1252') {
    return bytes.some(byte => [0x81, 0x8d, 0x8f, 0x90, 0x9d].includes(byte)) ? 'a byte that windows-1252 has no character for' : null
  }
  return text.includes('\ufffd') ? 'UTF-16 with halves of a surrogate pair' : null
}

const COUNTED = ['table', 'caption', 'colgroup', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th']

/** Markup around the script for which parse5 differs from the standard. The match may be a text that only looks like it. */
function doubtOfMarkup(markup: string): string | null {
  const departs = (what: string): string => `${what}: parse5, on which cheerio stands, departs from the HTML standard there`
  const [tag] = /<(?:select|search|form)(?=[\s/>])/i.exec(markup) ?? []
  if (tag !== undefined) return departs(`a ${tag.toLowerCase()}>`)
  if (markup.includes('<![CDATA[')) return departs('a CDATA section')
  for (const name of COUNTED) {
    const starts = markup.match(new RegExp(`<${name}(?=[\\s/>])`, 'gi'))?.length ?? 0
    const ends = markup.match(new RegExp(`</${name}(?=[\\s/>])`, 'gi'))?.length ?? 0
    if (starts !== ends) return departs(`${starts} <${name}> and ${ends} </${name}>`)
  }
  return null
}

/** Notes elements for which our reader may ask parse5 too. */
function noteParse5(comparison: Comparison, before: string): void {
  const names = ['svg', 'math', 'template', 'frameset'].filter(name => new RegExp(`<${name}(?=[\\s/>])`, 'i').test(before))
  if (names.length === 0) return
  comparison.note(
    `${names.map(name => `<${name}>`).join(', ')} before the script: cheerio stands on parse5, so where our reader asks parse5 too, ` +
      'which script is the one is no second opinion'
  )
}

/** The parsed text; undefined if JSON.parse refuses it. */
function parsed(text: string, comparison: Comparison): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    comparison.unread(null, jsonReason(text, error))
    return undefined
  }
}

/** The reason why JSON.parse refuses a text that our reader accepts. */
export function jsonReason(text: string, error: unknown): string {
  const word = /[:,[]\s*-?(NaN|Infinity)\b/.exec(text)?.[1]
  return word === undefined
    ? `JSON.parse: ${thrown(error)}`
    : `JSON.parse: the bare word ${word}, which Python writes and JSON does not have`
}

type Json = { readonly [key: string]: unknown }

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function member(object: Json, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

async function compareAllTraces(
  comparison: Comparison,
  own: OwnPage,
  document: unknown,
  request: PageRequest,
  text: string
): Promise<void> {
  const { keys } = request
  const root: Json = isObject(document) ? document : {}
  const second = member(root, keys.traces)
  const listed: readonly unknown[] = Array.isArray(second) ? second : []
  let count = 0
  for await (const trace of own.traces()) {
    const found = listed[trace.index]
    if (!isObject(found)) throw comparison.otherwise('a trace', 'none', { trace: trace.index })
    compareTrace(comparison, trace, found, request)
    count++
  }
  comparison.agree(count, listed.length, { array: keys.traces })
  const { snapshotTime, alignment, synthetic, traceCount } = own.header()
  comparison.agree(traceCount, listed.length, { array: keys.traces })
  comparison.same(snapshotTime, member(root, keys.snapshot_time) ?? null, { member: keys.snapshot_time })
  comparison.same(alignment, member(root, keys.alignment) ?? null, { member: keys.alignment })
  // Our reader accepts a label that is stated twice; JSON.parse keeps only the last.
  if (text.split(JSON.stringify(keys.synthetic)).length > 2)
    comparison.unread(keys.synthetic, 'a key that may stand there twice: JSON.parse keeps the last')
  else comparison.same(synthetic, member(root, keys.synthetic) === true, { member: keys.synthetic })
}

/** Each form of an outcome as the one that our reader gives; any other value unchanged. */
function outcomeOf(stated: unknown): unknown {
  if (stated === true || stated === 1) return 'success'
  // -0 equals 0 here.
  return stated === false || stated === 0 ? 'failure' : stated
}

function compareTrace(comparison: Comparison, trace: ParsedTrace, second: Json, { keys, endMarker }: PageRequest): void {
  const place = { trace: trace.index }
  const { values, returns, positions, fields, spans } = trace
  const arrays = { values, returns, response_positions: positions }
  for (const name of TRACE_ARRAYS) compareArray(comparison, arrays[name], member(second, keys[name]), { ...place, array: keys[name] })
  comparison.same(fields.outcome, outcomeOf(member(second, keys.outcome) ?? null), { ...place, member: keys.outcome })
  const scalars = [
    ['step', fields.step],
    ['score', fields.score],
    ['prediction_stage', fields.predictionStage],
    ['npz', fields.npz],
    ['value_mean', fields.valueMean],
    ['value_rmse', fields.valueRmse]
  ] as const
  for (const [name, ours] of scalars) comparison.same(ours, member(second, keys[name]) ?? null, { ...place, member: keys[name] })
  const uid = member(second, keys.uid) ?? null
  if (typeof uid === 'number' && (!Number.isSafeInteger(uid) || Object.is(uid, -0))) {
    comparison.unread(`uid of trace ${trace.index}`, 'an integer that no double has as it is written')
  } else comparison.same(fields.uid, typeof uid === 'number' ? String(uid) : uid, { ...place, member: keys.uid })
  const texts = member(second, keys.segment_texts) ?? null
  const at = { ...place, array: keys.segment_texts }
  if (spans === null || !Array.isArray(texts)) {
    comparison.agree(spans, texts, at)
    return
  }
  comparison.agree(spans.count, texts.length, at)
  if (endMarker === null) return
  texts.forEach((text: unknown, index) => {
    comparison.same(spans.endsWithMarker[index] === 1, typeof text === 'string' && text.endsWith(endMarker), { ...at, index })
  })
}

function compareArray(
  comparison: Comparison,
  ours: Float64Array,
  second: unknown,
  place: { readonly trace: number; readonly array: string }
): void {
  if (!Array.isArray(second)) throw comparison.different(ours, second, place)
  const both = Math.min(ours.length, second.length)
  for (let index = 0; index < both; index++) {
    if (!Object.is(ours[index], second[index])) throw comparison.different(ours[index], second[index], { ...place, index })
  }
  if (ours.length !== second.length) throw comparison.otherwise(`${ours.length} numbers`, `${second.length} numbers`, place)
  comparison.add(both)
}

/**
 * Readers of the evidence that know nothing of the program's and of the generator's: ZIP by fflate, XML by regular expressions,
 * `.env` files by the rules of a shell as far as the files use them. For files that this project wrote; not for others.
 */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { strFromU8, unzipSync } from 'fflate'

export type Scalar = number | string | boolean

/** XML parts of an Office file by path. */
export type Parts = ReadonlyMap<string, string>

export function partsOf(file: string): Parts {
  const parts = Object.entries(unzipSync(new Uint8Array(readFileSync(file))))
  return new Map(parts.map(([name, bytes]) => [name, strFromU8(bytes)]))
}

export function part(parts: Parts, path: string): string {
  const text = parts.get(path)
  if (text === undefined) throw new Error(`no part ${path}`)
  return text
}

function plain(xml: string): string {
  return xml.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}

/** Every match of a pattern with one group. */
export function all(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), match => match[1])
}

/** Relationships of a part, or of the package (`.`): id -> path in the package. */
export function targets(parts: Parts, path: string): ReadonlyMap<string, string> {
  const rels = part(parts, posix.join(posix.dirname(path), '_rels', `${path === '.' ? '' : posix.basename(path)}.rels`))
  return new Map(
    Array.from(rels.matchAll(/<Relationship Id="(\w+)" Type="[^"]+" Target="([^"]+)"\/>/g), ([, id, target]) => [
      id,
      posix.join(posix.dirname(path), target)
    ])
  )
}

/** The cells of a sheet by reference: texts without their reading, formulas by their stored result, numbers as stored. */
export function cellsOf(parts: Parts, name: string): ReadonlyMap<string, string> {
  const sheet = new RegExp(`<sheet name="${name}" sheetId="\\d+" r:id="(\\w+)"/>`, 'g')
  const id = all(part(parts, 'xl/workbook.xml'), sheet)[0]
  const xml = part(parts, targets(parts, 'xl/workbook.xml').get(id) ?? '')
  const text = (item: string): string => plain(all(item.replace(/<rPh .*?<\/rPh>/gs, ''), /<t[^>]*>(.*?)<\/t>/gs).join(''))
  const strings = all(part(parts, 'xl/sharedStrings.xml'), /<si>(.*?)<\/si>/gs).map(text)
  const cells = xml.matchAll(/<c r="(\w+)"([^>]*?)(?:\/>|>(.*?)<\/c>)/gs)
  return new Map(
    Array.from(cells, ([, reference, attributes, content = '']) => {
      const value = all(content, /<v>(.*?)<\/v>/g)[0] ?? ''
      if (attributes.includes('t="s"')) return [reference, strings[Number(value)]]
      return [reference, attributes.includes('t="inlineStr"') ? text(content) : plain(value)]
    })
  )
}

/** Paths of the slides in the order in which they are shown. */
export function shownSlides(parts: Parts): string[] {
  const ids = all(part(parts, 'ppt/presentation.xml'), /<p:sldId id="\d+" r:id="(\w+)"\/>/g)
  return ids.map(id => targets(parts, 'ppt/presentation.xml').get(id) ?? '')
}

/** Paragraphs of a slide or a cell; a line break is `\v`. */
export function paragraphs(xml: string): string[] {
  return all(xml, /<a:p>(.*?)<\/a:p>/gs).map(p => plain(all(p.replaceAll('<a:br>', '<a:t>\v</a:t>'), /<a:t>(.*?)<\/a:t>/gs).join('')))
}

/** The n-th table of a slide, from 1, with the cells that a merged one covers. */
export function table(slide: string, n: number): string[][] {
  const xml = all(slide, /<a:tbl>(.*?)<\/a:tbl>/gs)[n - 1]
  const rows = all(xml, /<a:tr [^>]*>(.*?)<\/a:tr>/gs)
  return rows.map(row => all(row, /<a:tc(?: [^>]*)?>(.*?)<\/a:tc>/gs).map(cell => paragraphs(cell).join('\n')))
}

/** What an `.env` file of a folder sets: parents where they are named, later lines over earlier ones. */
export function sourced(dir: string, path: string): Map<string, string> {
  const values = new Map<string, string>()
  for (const line of readFileSync(join(dir, path), 'utf8').split('\n')) {
    const parent = /^source "\$\(dirname "\$\{BASH_SOURCE\[0\]\}"\)\/([^"]+)"$/.exec(line)
    if (parent !== null) for (const [key, value] of sourced(dir, posix.join(posix.dirname(path), parent[1]))) values.set(key, value)
    const assigned = /^(?:export )?(\w+)=(?:"(.*)"|(\S*))(?: +#.*)?$/.exec(line)
    if (assigned !== null) values.set(assigned[1], assigned[2] ?? assigned[3])
  }
  return values
}

function typed(text: string): Scalar {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^[\d.]+(?:e-\d+)?$/.test(text) ? Number(text) : text
}

/** A key of an `.env` file with its parents, or of a JSON file. */
export function configured(dir: string, path: string, key: string): Scalar | undefined {
  if (!path.endsWith('.env')) return (JSON.parse(readFileSync(join(dir, path), 'utf8')) as Record<string, Scalar>)[key]
  const text = sourced(dir, path).get(key)
  return text === undefined ? undefined : typed(text)
}

/**
 * Office packages: parts in a ZIP archive that refer to one another by relationships.
 *
 * Source: ECMA-376 part 2 (OPC). Part names are text and are compared without regard to ASCII case. A target outside the
 * package is refused, and no name becomes a path of the machine. Not read: content types (the relationship states what a
 * part is), signatures, interleaved parts.
 */
import { Fault, printable, type Place } from '../../core/errors.js'
import { readZipDirectory, type ZipEntry } from '../zip/zip.js'
import { readPart } from './inflate.js'
import { PACKAGE_RELATIONSHIPS, relationshipKind } from './names.js'
import { parseXml, type XmlHandler } from './xml.js'

export type OfficeFormat = 'xlsx' | 'pptx'

/** Limits on a file's cost. Real Office files stay far below them. */
export interface OfficeLimits {
  /** inflated bytes of one part; default 256 MiB */
  readonly maxPartBytes: number
  /** inflated bytes of all parts that are read; default 1 GiB */
  readonly maxTotalBytes: number
  /** cells with content in one sheet; default 1,000,000 */
  readonly maxCells: number
}

export interface OfficeOptions {
  /** the place of the file, for faults */
  readonly place?: Place
  readonly limits?: Partial<OfficeLimits>
}

export interface Relationship {
  readonly id: string
  /** `worksheet`, `slide` …; the full URI if it is no office type */
  readonly kind: string
  /** part name without a leading slash; null for a target outside the package */
  readonly target: string | null
}

/** A relationship to a part of the package. */
export interface PartRelationship extends Relationship {
  readonly target: string
}

const DEFAULT_LIMITS: OfficeLimits = { maxPartBytes: 256 * 2 ** 20, maxTotalBytes: 2 ** 30, maxCells: 1_000_000 }
const OLE2 = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

/** Resolves `../x/y.xml` against the part `source`. The result has no leading slash. */
export function resolveTarget(source: string, target: string): string | null {
  const path = target.replace(/[?#].*$/s, '').replaceAll('\\', '/')
  if (path === '' || /^[a-z][a-z0-9+.-]*:/i.test(path) || path.startsWith('//')) return null
  const parts = path.startsWith('/') ? [] : source.split('/').slice(0, -1)
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue
    if (step !== '..') parts.push(step)
    else if (parts.pop() === undefined) return null
  }
  return parts.length === 0 ? null : parts.join('/')
}

/** Resolves percent escapes, for archives that store part names unescaped. */
function unescaped(name: string): string {
  return name.replace(/(?:%[0-9a-f]{2})+/gi, run => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'))
}

function relsName(source: string): string {
  const slash = source.lastIndexOf('/') + 1
  return `${source.slice(0, slash)}_rels/${source.slice(slash)}.rels`
}

export class OfficePackage {
  readonly place: Place
  readonly limits: OfficeLimits
  readonly #parts = new Map<string, ZipEntry>()
  readonly #counted = new Set<string>()
  #total = 0
  readonly #bytes: Uint8Array

  constructor(
    bytes: Uint8Array,
    readonly format: OfficeFormat,
    options: OfficeOptions
  ) {
    this.#bytes = bytes
    this.place = options.place ?? {}
    this.limits = { ...DEFAULT_LIMITS, ...options.limits }
    if (OLE2.every((byte, i) => bytes[i] === byte)) {
      throw this.fault('not recognised', `an OLE2 container (encrypted or not ${format})`, 'a ZIP package', {})
    }
    for (const entry of readZipDirectory(bytes, this.place)) {
      if (entry.name.endsWith('/')) continue
      const key = entry.name.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase()
      const other = this.#parts.get(key)
      if (other !== undefined) {
        const found = `'${printable(entry.name)}' and '${printable(other.name)}'`
        throw this.fault('duplicate part', found, 'names that differ in more than case', {})
      }
      this.#parts.set(key, entry)
    }
  }

  fault(problem: string, found: string, expected: string, place: Place): Fault {
    return new Fault({ format: this.format, problem, found, expected, place: { ...this.place, ...place } })
  }

  #find(name: string): ZipEntry | undefined {
    const key = name.toLowerCase()
    return this.#parts.get(key) ?? this.#parts.get(unescaped(key).toLowerCase())
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined
  }

  /** Reads a part and parses it as XML. */
  async parse(name: string, handler: XmlHandler): Promise<void> {
    const entry = this.#find(name)
    if (entry === undefined) throw this.fault('missing part', `no '${printable(name)}'`, 'it in the package', {})
    const place = { ...this.place, member: entry.name }
    if (!this.#counted.has(entry.name)) {
      this.#counted.add(entry.name)
      this.#total += entry.size
      if (this.#total > this.limits.maxTotalBytes) {
        const found = `${this.#total} bytes of parts`
        throw this.fault('too large', found, `at most ${this.limits.maxTotalBytes}`, place)
      }
    }
    await parseXml(await readPart(this.#bytes, entry, this.limits.maxPartBytes, place), handler, place)
  }

  /** Relationships of a part by id; empty if it has no `.rels` part. */
  async relationships(source: string): Promise<ReadonlyMap<string, Relationship>> {
    const name = relsName(source)
    const found = new Map<string, Relationship>()
    if (!this.has(name)) return found
    await this.parse(name, {
      open: ({ uri, local }, attributes) => {
        if (local !== 'Relationship' || !PACKAGE_RELATIONSHIPS.has(uri)) return
        const [id, type, target] = [attributes.get('Id'), attributes.get('Type'), attributes.get('Target')]
        if (id === undefined || type === undefined || target === undefined) {
          throw this.fault('bad relationship', 'one without Id, Type or Target', 'all three', {})
        }
        if (found.has(id)) throw this.fault('bad relationship', `two of Id '${printable(id)}'`, 'one', {})
        const external = attributes.get('TargetMode')?.toLowerCase() === 'external'
        const resolved = external ? null : resolveTarget(source, target)
        found.set(id, { id, kind: relationshipKind(type), target: resolved })
      },
      close: () => undefined,
      text: () => undefined
    })
    return found
  }

  /** The part that the relationship points to. @param from the element that needs it, for the fault */
  target(relationships: ReadonlyMap<string, Relationship>, id: string | undefined, from: string): PartRelationship {
    const found = id === undefined ? undefined : relationships.get(id)
    if (found === undefined) {
      const what = id === undefined ? 'no relationship id' : `relationship '${printable(id)}', which does not exist`
      throw this.fault('missing relationship', `${from} with ${what}`, 'one of its part', {})
    }
    const { target } = found
    if (target === null) {
      const what = `${from}, outside the package (relationship '${printable(found.id)}')`
      throw this.fault('bad relationship', what, 'a part of the package', {})
    }
    return { ...found, target }
  }

  /** Name of the workbook or presentation part. */
  async mainPart(): Promise<string> {
    if (!this.has('_rels/.rels')) {
      throw this.fault('not recognised', "a ZIP archive without '_rels/.rels'", 'an Office package', {})
    }
    const relationships = await this.relationships('')
    for (const { kind, target } of relationships.values()) if (kind === 'officeDocument' && target !== null) return target
    throw this.fault('not recognised', 'no relationship to an office document', 'one', { member: '_rels/.rels' })
  }
}

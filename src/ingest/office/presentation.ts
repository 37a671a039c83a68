/**
 * Presentations (`.pptx`): slides in presentation order, with their text, tables and notes.
 *
 * Source: ECMA-376 parts 1 and 4 (PresentationML). The order is that of `sldIdLst` in the presentation part, followed by
 * relationships; file names do not matter. A slide without a `.rels` part has no notes. Not supported: encrypted
 * presentations, `.ppt`.
 */
import { printable } from '../../core/errors.js'
import { ElementReader } from './element-reader.js'
import { PRESENTATION, RELATIONSHIP } from './names.js'
import { OfficePackage, type OfficeOptions } from './package.js'
import { SlideReader, type SlideTable } from './slide.js'
import type { XmlAttributes } from './xml.js'

export type { OfficeLimits, OfficeOptions } from './package.js'
export type { SlideTable, TableSpan } from './slide.js'

export interface Slide {
  /** position in the presentation, from 1; the printed page number may differ */
  readonly number: number
  /** name of the part in the package */
  readonly part: string
  readonly hidden: boolean
  /** text of the title's placeholder; null without one */
  readonly title: string | null
  /** text of the slide number's placeholder; null without one */
  readonly pageNumber: string | null
  /** paragraphs with text in reading order, those of tables included; line breaks as `\v` */
  readonly texts: readonly string[]
  readonly tables: readonly SlideTable[]
  /** the speaker's notes, one paragraph per entry; null for a slide without a notes page */
  readonly notes: readonly string[] | null
}

export interface Presentation {
  readonly slides: readonly Slide[]
}

class PresentationReader extends ElementReader {
  readonly ids: (string | undefined)[] = []

  constructor() {
    super('pptx', PRESENTATION, 'presentation')
  }

  protected enter(local: string, attributes: XmlAttributes): void {
    if (local !== 'sldId' || !this.within('presentation', 'sldIdLst', 'sldId')) return
    this.ids.push(attributes.getIn(RELATIONSHIP, 'id'))
  }

  protected leave(): void {}

  text(): void {}
}

async function readNotes(pkg: OfficePackage, slide: string): Promise<readonly string[] | null> {
  for (const { kind, target } of (await pkg.relationships(slide)).values()) {
    if (kind !== 'notesSlide' || target === null) continue
    const reader = new SlideReader('notes', true)
    await pkg.parse(target, reader)
    return reader.result().texts
  }
  return null
}

/** Reads a presentation from memory. */
export async function openPresentation(bytes: Uint8Array, options: OfficeOptions = {}): Promise<Presentation> {
  const pkg = new OfficePackage(bytes, 'pptx', options)
  const main = await pkg.mainPart()
  const relationships = await pkg.relationships(main)
  const presentation = new PresentationReader()
  await pkg.parse(main, presentation)
  const slides: Slide[] = []
  const seen = new Set<string>()
  for (const [i, id] of presentation.ids.entries()) {
    const { kind, target: part } = pkg.target(relationships, id, `slide ${i + 1}`)
    if (kind !== 'slide') throw pkg.fault('bad relationship', `slide ${i + 1} of type '${printable(kind)}'`, 'slide', {})
    // A list of a million entries for one slide would read that slide a million times.
    if (seen.has(part)) throw pkg.fault('duplicate slide', `'${printable(part)}' twice`, 'each part once', { member: main })
    seen.add(part)
    const reader = new SlideReader('sld', false)
    await pkg.parse(part, reader)
    slides.push({ number: i + 1, part, ...reader.result(), notes: await readNotes(pkg, part) })
  }
  return { slides }
}

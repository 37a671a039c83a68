/**
 * The font of each character: DejaVu Sans, which comes with the program; then the optional package `OPTIONAL_FONT`, which
 * has Chinese; then the fonts of the machine, as fontconfig lists them (`fc-list`). What was found for a character
 * holds for the life of the process. A figure with characters of the first two alone is the same on every machine.
 */
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readStillSync } from '../../core/still-file-sync.js'
import { readFontFile, type FontFile } from './font-file.js'

const OPTIONAL_FONT = '@expo-google-fonts/noto-sans-sc'
const OPTIONAL_FILE = '400Regular/NotoSansSC_400Regular.ttf'
/** Regular, upright fonts with outlines: a line for each, with the characters that it has as ranges in hexadecimal. */
const LIST = ['--format', '%{file}\t%{index}\t%{charset}\n', ':weight=80:slant=0:outline=True'] as const
const LONGEST_LIST_BYTES = 64 * 2 ** 20

/** The folder of a package; null where it is not installed. */
function packageFolder(name: string): string | null {
  // Beside the program, or in the folder that it is called in.
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return dirname(createRequire(from).resolve(`${name}/package.json`))
    } catch {
      // Not there.
    }
  }
  return null
}

export function dejavuFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json'))
}

function openFont(path: string, index = 0): FontFile | null {
  try {
    return readFontFile(path, readStillSync(path, 'font').bytes, index)
  } catch {
    return null
  }
}

interface ListedFont {
  readonly path: string
  readonly index: number
  readonly ranges: ReadonlyArray<readonly [first: number, last: number]>
}

/** Fonts of the machine by path; none where there is no fontconfig. */
function listedFonts(): readonly ListedFont[] {
  let text: string
  try {
    text = execFileSync('fc-list', [...LIST], { encoding: 'utf8', maxBuffer: LONGEST_LIST_BYTES, stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return []
  }
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const [path, index, charset = ''] = line.split('\t')
      const ranges = charset.split(' ').map((range): [number, number] => {
        const [first, last = first] = range.split('-').map(hex => Number.parseInt(hex, 16))
        return [first, last]
      })
      return { path, index: Number(index), ranges }
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Finds fonts by character. */
export class Fonts {
  readonly #found = new Map<number, FontFile | null>()
  readonly #fonts: FontFile[] = []
  readonly #places: readonly string[]
  readonly #machine: () => readonly ListedFont[]
  #isOpen = false
  #listed: readonly ListedFont[] | null = null

  constructor(places: readonly string[], machine: () => readonly ListedFont[]) {
    this.#places = places
    this.#machine = machine
  }

  /** The font that a character is drawn with; null where none has it. */
  of(codePoint: number): FontFile | null {
    const known = this.#found.get(codePoint)
    if (known !== undefined) return known
    if (!this.#isOpen) {
      this.#isOpen = true
      this.#fonts.push(...this.#places.flatMap(path => openFont(path) ?? []))
    }
    const has = (font: FontFile | null): boolean => font !== null && font.advance(codePoint) !== null
    const font = this.#fonts.find(has) ?? this.#ofMachine(codePoint, has)
    this.#found.set(codePoint, font)
    return font
  }

  #ofMachine(codePoint: number, has: (font: FontFile | null) => boolean): FontFile | null {
    this.#listed ??= this.#machine()
    for (const { path, index, ranges } of this.#listed) {
      if (!ranges.some(([first, last]) => codePoint >= first && codePoint <= last)) continue
      const font = openFont(path, index)
      if (font === null || !has(font)) continue
      this.#fonts.push(font)
      return font
    }
    return null
  }

  /** Characters that were looked for and that no font has, in their order. */
  missing(): string[] {
    return [...this.#found]
      .filter(([, font]) => font === null)
      .map(([codePoint]) => String.fromCodePoint(codePoint))
      .sort()
  }
}

/** The font of all texts as far as it goes. */
export const DEJAVU = join(dejavuFolder(), 'ttf', 'DejaVuSans.ttf')

export const FONTS = new Fonts(fontPlaces(), listedFonts)

function fontPlaces(): string[] {
  const optional = packageFolder(OPTIONAL_FONT)
  return [DEJAVU, ...(optional === null ? [] : [join(optional, OPTIONAL_FILE)])]
}

const MOST_NAMED = 20

/** What is drawn as boxes, and the remedy; null where every character has a font. */
export function missingNote(fonts: Fonts = FONTS): string | null {
  const missing = fonts.missing()
  if (missing.length === 0) return null
  const more = missing.length > MOST_NAMED ? ` and ${missing.length - MOST_NAMED} more` : ''
  return (
    `figures have boxes in place of ${missing.slice(0, MOST_NAMED).join(' ')}${more}, which no font here has: ` +
    `npm install ${OPTIONAL_FONT} (Chinese), or install a font that has them`
  )
}

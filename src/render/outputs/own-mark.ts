/**
 * Decides whether a file itself says that this program made it. Each kind of output has one mark where its format
 * allows:
 *
 *     JSON       `generator.name`; a CSV: in the metadata beside it
 *     PNG, PDF   text chunk `Software`; Creator
 *     SVG        a comment before the root
 *     Markdown   the last line; HTML: a paragraph of the foot
 *     Arrow      `generator` of the schema's metadata
 *     Parquet    `created_by` of the footer
 *     NPZ        the member `synthetic` after all arrays (numpy's own layout has no place for a name)
 */
import { comparingWords } from '../../core/still.js'
import { openStill, readText } from '../../core/still-file.js'
import { csvMetadataPath } from '../../schema/outputs.js'
import { pdfCreator, pngSoftware, svgComment } from '../canvas/mark.js'

/** A mark lies within this distance of the beginning or the end of a file, in bytes. */
const LOOKED_AT_BYTES = 64 * 1024

interface OwnMark {
  readonly at: 'begin' | 'end'
  /** Latin-1 */
  readonly texts: readonly string[]
}

/**
 * The mark of a kind of file, without a version, because the outputs of every version count. Null for a kind that the
 * program does not write.
 */
function markOf(path: string, name: string): OwnMark | null {
  switch (path.slice(path.lastIndexOf('.'))) {
    case '.png':
      return { at: 'begin', texts: ['\x89PNG\r\n', pngSoftware(`${name} `)] }
    case '.svg':
      return { at: 'begin', texts: ['<svg ', svgComment(`${name} `)] }
    case '.pdf':
      return { at: 'end', texts: ['%%EOF', pdfCreator(`${name} `)] }
    case '.md':
      return { at: 'end', texts: [`\n\nWritten by ${name} `] }
    case '.html':
      return { at: 'end', texts: [`<p>Written by ${name} `, '</html>'] }
    case '.arrow':
      return { at: 'begin', texts: ['ARROW1\0\0', 'generator\0', `${name} `] }
    case '.parquet':
      return { at: 'end', texts: ['PAR1', 'generator', `${name} `] }
    case '.npz':
      return { at: 'end', texts: ['trace_', '_response_positions.npy', 'synthetic.npyPK'] }
    default:
      return null
  }
}

/**
 * @param name name that this program's outputs state
 * @throws Fault where the file cannot be read
 * @throws SyntaxError where a JSON file is no JSON
 */
export async function saysGenerator(path: string, name: string): Promise<boolean> {
  if (path.endsWith('.csv')) return saysGenerator(csvMetadataPath(path), name)
  if (path.endsWith('.json')) {
    const document = JSON.parse(await readText(path, { links: 'refuse' })) as unknown
    return member(member(document, 'generator'), 'name') === name
  }
  const mark = markOf(path, name)
  if (mark === null) return false
  const text = await edgeOf(path, mark.at)
  return mark.texts.every(each => text.includes(each))
}

/** The member with this key. In the metadata of a CSV the keys have prefixes. */
function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value).find(([name]) => name === key || name.endsWith(`:${key}`))?.[1]
}

async function edgeOf(path: string, at: OwnMark['at']): Promise<string> {
  const file = await openStill(path, comparingWords('file'), { links: 'refuse' })
  try {
    const length = Math.min(file.size, LOOKED_AT_BYTES)
    const start = at === 'begin' ? 0 : file.size - length
    return Buffer.from(await file.slice(start, start + length)).toString('latin1')
  } finally {
    await file.close()
  }
}

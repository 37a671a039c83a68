/**
 * The tables of names in docs/formats.md: what trainers call each array and field. Which rows a table has, and their order,
 * stands in the document; what stands beside each name follows from `src/schema/sample-keys.ts`.
 */
import { SAMPLE_KEY_NAMES, SAMPLE_KEYS, type SampleKey, type SampleKeyName } from '../../src/schema/sample-keys.js'

const HEADING = '| ours | names in files | shape | dtype | what it holds | where it is missing |'

/**
 * The document with the cells of its tables of names as they follow.
 * @throws Error for a row that is no name, and for a name without a row
 */
export function withSampleKeys(markdown: string, path: string): string {
  const without = new Set<string>(SAMPLE_KEY_NAMES)
  let inside = false
  const filled = markdown
    .split('\n')
    .map(line => {
      if (line === HEADING) inside = true
      else if (!line.startsWith('|')) inside = false
      const name = inside ? /^\| `([^`]+)` \|/.exec(line)?.[1] : undefined
      if (name === undefined) return line
      if (!without.delete(name)) throw new Error(`${path}: no name ${name}, or a second row of it`)
      return row(name, SAMPLE_KEYS[name as SampleKeyName])
    })
    .join('\n')
  if (without.size > 0) throw new Error(`${path}: no row for ${[...without].join(', ')}`)
  return filled
}

function row(ours: string, { names, shape, dtype, doc, otherwise }: SampleKey): string {
  const cells = [`\`${ours}\``, names.map(name => `\`${name}\``).join(', '), shape, dtype, doc, otherwise]
  return `| ${cells.join(' | ')} |`
}

/**
 * The end of a summary: what was written, the verdict, and the file to open first. The verdict is the last thing that is said of
 * the run, so that it stands above the prompt.
 */
import { posix } from 'node:path'
import { counted, formatCount } from '../core/counts.js'
import { EXIT, printableId } from '../core/errors.js'
import { compareCodepoints } from '../core/paths.js'
import { BATCH_PAGE, EXPLORER_PAGE, SAMPLE_PATHS } from '../render/outputs/output-names.js'
import { formatBytes } from '../render/terminal/numbers.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'

export interface ListedOutput {
  /** below the output folder */
  readonly path: string
  readonly bytes: number
}

/** One row a folder with the number of its files; `whole`: one row a file. */
export function outputsTable(out: string, outputs: readonly ListedOutput[], whole: boolean, options: TableOptions): string {
  const title = `written to ${out}`
  if (whole) {
    return formatTable(
      [{ title }, { title: 'size', align: 'right' }],
      outputs.map(({ path, bytes }) => [path, formatBytes(bytes)]),
      options
    )
  }
  const folders = new Map<string, { files: number; bytes: number }>()
  for (const { path, bytes } of outputs) {
    const folder = posix.dirname(path)
    const sum = folders.get(folder) ?? { files: 0, bytes: 0 }
    sum.files++
    sum.bytes += bytes
    folders.set(folder, sum)
  }
  const rows = [...folders].sort(([a], [b]) => compareCodepoints(a, b))
  const total = outputs.reduce((sum, { bytes }) => sum + bytes, 0)
  return formatTable(
    [{ title }, { title: 'files', align: 'right' }, { title: 'size', align: 'right' }],
    [
      ...rows.map(([folder, { files, bytes }]) => [folder, formatCount(files), formatBytes(bytes)]),
      ...(rows.length > 1 ? [['all', formatCount(outputs.length), formatBytes(total)]] : [])
    ],
    options
  )
}

/** `verdict: ok, 90 files as listed` */
export function verdictLine(exitCode: number, parts: readonly string[]): string {
  return `verdict: ${[exitCode === EXIT.ok ? 'ok' : 'FAILED', ...parts].join(', ')}\n`
}

/** What a reader opens first, in this order. */
const TO_READ = ['preview/article.html', BATCH_PAGE, SAMPLE_PATHS.statistics] as const
const TO_LOOK_AT = ['critic-traces-over-steps', '08-critic-traces'] as const

const FIGURE = /(?:^|\/)figures\/[^/]+\.(?:png|svg|pdf)$/

/**
 * A line for the page (or the statistics of a dump without values), one for the figure, and one for the explorer; nothing for what was
 * not written.
 * @param outputs below the output folder; several snapshots lie in folders of their own
 */
export function toOpen(out: string, outputs: ReadonlyArray<Pick<ListedOutput, 'path'>>): string {
  const paths = outputs.map(({ path }) => path)
  const page = TO_READ.map(name => paths.find(path => path === name || path.endsWith(`/${name}`))).find(path => path !== undefined)
  const figure = TO_LOOK_AT.map(name => figureOf(name, paths)).find(path => path !== undefined) ?? paths.find(path => FIGURE.test(path))
  const explorer = paths.find(path => path === EXPLORER_PAGE || path.endsWith(`/${EXPLORER_PAGE}`))
  return [
    ...(page === undefined ? [] : [`read: ${printableId(posix.join(out, page), 400)}\n`]),
    ...(figure === undefined ? [] : [`look: ${printableId(posix.join(out, figure), 400)}\n`]),
    ...(explorer === undefined ? [] : [exploreLine(posix.join(out, explorer))])
  ].join('')
}

/** @param more pages beside this one */
export function exploreLine(page: string, more = 0): string {
  return `explore: ${printableId(page, 400)}${more === 0 ? '' : ` and ${counted(more, 'more page')}`}\n`
}

/** The first file of the figure, a picture before a document. */
function figureOf(name: string, paths: readonly string[]): string | undefined {
  for (const format of ['png', 'svg', 'pdf']) {
    const found = paths.find(path => path === `figures/${name}.${format}` || path.endsWith(`/figures/${name}.${format}`))
    if (found !== undefined) return found
  }
  return undefined
}

/** `1 problem`, `3 problems`, for a verdict. */
export function problems(count: number): string[] {
  return count === 0 ? [] : [counted(count, 'problem')]
}

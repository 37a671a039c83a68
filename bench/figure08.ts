/**
 * Our side of the comparison with `figure08.py`: reads the same data file and writes the same three files.
 *
 *     node dist/bench/figure08.js DATA.json OUT [--times]
 *
 * DATA.json is `CriticTraceFigureData` with its typed arrays as plain lists.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CriticTraceFigureData, ExampleTrace } from '../src/compute/contract.js'
import { renderFigure, warmCanvas } from '../src/render/canvas/index.js'
import { buildFigure08 } from '../src/render/figures/08-critic-traces/index.js'
import { FIGURE_FORMATS } from '../src/render/figures/config.js'

type Listed = Omit<ExampleTrace, 'values' | 'boundaries'> & { readonly values: number[]; readonly boundaries: number[] }
type DataFile = Omit<CriticTraceFigureData, 'success' | 'failure'> & { readonly success: Listed | null; readonly failure: Listed | null }

function typed(example: Listed | null): ExampleTrace | null {
  return example && { ...example, values: Float64Array.from(example.values), boundaries: Int32Array.from(example.boundaries) }
}

const [dataPath, out] = process.argv.slice(2)
const file = JSON.parse(readFileSync(dataPath, 'utf8')) as DataFile
mkdirSync(out, { recursive: true })
await warmCanvas()
const times: { [phase: string]: number } = {}
let last = performance.now()
const lap = (phase: string): void => {
  const now = performance.now()
  times[phase] = Math.round((now - last) * 10) / 10
  last = now
}
const config = buildFigure08({ ...file, success: typed(file.success), failure: typed(file.failure) })
lap('build')
for (const format of FIGURE_FORMATS) {
  writeFileSync(join(out, `${config.name}.${format}`), await renderFigure(config, format))
  lap(format)
}
if (process.argv.includes('--times')) process.stdout.write(`${JSON.stringify(times)}\n`)

/**
 * Our side of the comparison with `figures.py`: reads the same data file and writes the same files, three for each figure.
 *
 *     node dist/tools/bench/figures.js DATA.json OUT [--threads N] [--times]
 *
 * DATA.json is `FigureInputs` with typed arrays as plain lists (see `figure-data.ts`).
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openFigurePool } from '../../src/render/canvas/pool.js'
import { FIGURE_FORMATS } from '../../src/render/figures/config.js'
import { buildFigures } from '../../src/render/figures/index.js'
import { inputsOf, type FigureDataFile } from './figure-data.js'

const [dataPath, out, ...options] = process.argv.slice(2)
const asked = options.indexOf('--threads')
const threads = asked < 0 ? availableParallelism() : Number(options[asked + 1])
const times: { [phase: string]: number } = {}
let last = performance.now()
const lap = (phase: string): void => {
  const now = performance.now()
  times[phase] = Math.round((now - last) * 10) / 10
  last = now
}
const file = JSON.parse(readFileSync(dataPath, 'utf8')) as FigureDataFile
mkdirSync(out, { recursive: true })
lap('read')
const pool = await openFigurePool(threads)
lap('load')
const configs = buildFigures(inputsOf(file))
lap('build')
const tasks = configs.flatMap(config => FIGURE_FORMATS.map(format => ({ config, format })))
for await (const { config, format, bytes } of pool.draw(tasks)) writeFileSync(join(out, `${config.name}.${format}`), bytes)
lap('draw')
await pool.close()
lap('close')
if (options.includes('--times')) process.stdout.write(`${JSON.stringify(times)}\n`)

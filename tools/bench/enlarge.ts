/** A snapshot with every trace several times over: distinct uids, the same NPZ files. */
import { closeSync, linkSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_KEYS } from '../../src/schema/traces.js'
import { TraceSlicer } from '../../src/ingest/json/slicer.js'
import { contentOf } from './content.js'

export async function enlarge(snapshot: string, target: string, times: number): Promise<void> {
  mkdirSync(target)
  for (const name of readdirSync(snapshot)) if (name.endsWith('.npz')) linkOrCopy(join(snapshot, name), join(target, name))
  const content = await contentOf(readFileSync(join(snapshot, 'index.html')))
  const slices = new TraceSlicer({ keys: DEFAULT_KEYS }).push(content)
  const file = openSync(join(target, 'index.html'), 'w')
  writeSync(
    file,
    '<!doctype html><title>many traces</title><script type="application/json" id="data">{"snapshot_time": "2026-01-01T00:00:00Z", "traces": ['
  )
  for (let k = 0; k < times; k++) {
    for (const { bytes, index } of slices) {
      if (k + index > 0) writeSync(file, ', ')
      const text = Buffer.from(bytes).toString('utf8')
      writeSync(file, text.replace(/"uid": "/, `$&copy-${k}-`))
    }
  }
  writeSync(file, ']}</script>\n')
  closeSync(file)
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    const copy = openSync(to, 'w')
    writeSync(copy, readFileSync(from))
    closeSync(copy)
  }
}

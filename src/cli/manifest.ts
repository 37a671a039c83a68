/** `manifest`: shows what a new manifest of the study would change; with --write, writes it. */
import { stat } from 'node:fs/promises'
import { dirname, basename, join } from 'node:path'
import { EXIT } from '../core/errors.js'
import { studyBytes, updatedManifest, type ManifestChanges } from '../study/manifest-update.js'
import { readManifest } from '../study/manifest.js'
import { loadStudy } from '../study/study.js'
import { OutputSet } from '../render/outputs/output-set.js'
import { counted } from '../core/counts.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'
import type { ManifestCommand } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'

export async function runManifest(options: ManifestCommand, io: CliIo): Promise<CommandResult> {
  return reporting(options, io, async reporter => {
    const { study: dir } = options
    const { study } = await loadStudy(dir)
    const path = join(dir, study.manifest)
    const exists = await stat(path).then(
      () => true,
      () => false
    )
    const existing = exists ? await readManifest(path) : null
    const hashing = reporter.progress.phase({ label: 'hashing', total: await studyBytes(dir, study), unit: 'bytes' })
    let done = 0
    const { files, changes, text } = await updatedManifest(dir, study, existing, {
      signal: io.signal,
      today: new Date().toISOString().slice(0, 10),
      onBytes: bytes => {
        done += bytes
        hashing.update(done)
      }
    })
    hashing.finish()
    if (options.write) await OutputSet.writeAlone(dirname(path), basename(path), text)
    const count = counted(files.length, 'file')
    await reporter.tell(
      table => `${changesTable(changes, table)}${options.write ? `wrote ${path}: ${count}\n` : `${count}; --write writes ${path}\n`}`
    )
    return { exitCode: EXIT.ok, report: { study: dir, manifest: path, written: options.write, files: files.length, ...changes } }
  })
}

function changesTable({ added, removed, changed, named }: ManifestChanges, options: TableOptions): string {
  const rows = [
    ...added.map(path => ['added', path]),
    ...removed.map(path => ['removed', path]),
    ...changed.map(path => ['changed', path]),
    ...named.map(path => ['not excluded any more', path])
  ]
  if (rows.length === 0) return 'nothing changed\n'
  return formatTable([{ title: 'manifest' }, { title: 'file' }], rows, options)
}

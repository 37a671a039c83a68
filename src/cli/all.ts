/** `all`: the study's inputs against its manifest, then its sections measured, checked, drawn and written. */
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { TracePool } from '../compute/pool.js'
import { EXIT, Fault } from '../errors.js'
import { amountOf } from '../ingest/inventory.js'
import { readManifest, verifyManifest } from '../ingest/manifest.js'
import { manifestBytes } from './amounts.js'
import { manifestFaults } from './manifest-faults.js'
import { loadStudy } from '../ingest/study.js'
import { Failures } from '../pipeline.js'
import { createProgress, type Phase } from '../render/terminal/progress.js'
import { wantsColour } from '../render/terminal/text.js'
import { analyseStudy, type StudyOutcome } from '../studyRun.js'
import type { RunOptions } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { studyFolder } from './replica.js'
import { checksTable, historiesTables, manifestTable, outputsTable, statisticsTables } from './summary.js'

export async function runAll(options: RunOptions, io: CliIo, pool: TracePool): Promise<CommandResult> {
  const progress = await createProgress({ stream: io.stderr, env: io.env, now: io.now, quiet: options.quiet })
  try {
    const dir = await studyFolder(options.study, io, line => progress.line(line))
    refuseOutputsInside(dir, options.out)
    const { study, sha256: studySha256 } = await loadStudy(dir)
    const manifest = await readManifest(join(dir, study.manifest))
    const hashing = progress.phase({ label: 'verifying', total: manifestBytes(manifest), unit: 'bytes' })
    const report = await verifyManifest(dir, manifest, {
      signal: io.signal,
      onProgress: p => hashing.update(p.bytesDone)
    })
    hashing.finish()
    const changed = manifestFaults(report, dir)
    if (changed.length > 0) throw new Failures(changed)
    let phase: Phase = hashing
    const begin = (next: Phase): ((done: number) => void) => {
      phase.finish()
      phase = next
      return done => next.update(done)
    }
    const outcome = await analyseStudy({
      dir, study, pool,
      manifest: report,
      out: options.out,
      formats: options.formats,
      signal: io.signal,
      progress: {
        onSnapshot: async plan => begin(progress.phase({ label: 'measuring traces', ...(await amountOf(plan)) })),
        onHistories: total => begin(progress.phase({ label: 'reading histories', total, unit: 'bytes' })),
        onFigures: total => begin(progress.phase({ label: 'drawing figures', total, unit: 'files' }))
      }
    })
    phase.finish()
    progress.close()
    if (!options.quiet && !options.json) {
      const table = { colour: wantsColour(io.stdout, io.env) }
      io.stdout.write(
        [
          `study ${study.name} in ${dir}${study.synthetic ? ', SYNTHETIC data' : ''}\nmanifest: ${manifestTable(report, table)}`,
          ...(outcome.snapshot === null ? [] : [statisticsTables(outcome.snapshot.statistics, table), checksTable(outcome.snapshot.checks, table)]),
          ...(outcome.histories === null ? [] : [historiesTables(outcome.histories, table)]),
          outputsTable(options.out, outcome.outputs, table)
        ].join('\n')
      )
    }
    return {
      exitCode: EXIT.ok,
      report: {
        synthetic: study.synthetic,
        study: { name: study.name, path: dir, sha256: studySha256 },
        manifest: { sha256: report.manifest_sha256, counts: report.counts },
        out: options.out,
        ...sectionReports(outcome),
        outputs: outcome.outputs
      }
    }
  } finally {
    progress.close()
  }
}

function sectionReports({ snapshot, histories }: StudyOutcome): object {
  return {
    ...(snapshot === null ? {} : {
      statistics: snapshot.statistics,
      checks: snapshot.checks.map(({ check, expected, passed, total }) => ({ check, expected, passed, total }))
    }),
    ...(histories === null ? {} : {
      histories: {
        analyses: Object.fromEntries(histories.analyses.map(({ analysis, statistics }) => [analysis.name, statistics])),
        excluded_runs: histories.excluded,
        warnings: histories.warnings
      }
    })
  }
}

/** Outputs in the study's own folder would be unlisted inputs of the next run. */
function refuseOutputsInside(dir: string, out: string): void {
  const path = relative(resolve(dir), resolve(out))
  if (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) return
  throw new Fault({
    format: 'usage', problem: 'output inside the study', found: out, expected: `a folder outside ${dir}`, exitCode: EXIT.usage
  })
}

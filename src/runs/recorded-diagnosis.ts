/**
 * A diagnosis with its record, `diagnose-run.json`: a run over unchanged inputs, with the same settings and whole outputs, is not
 * done again. A run that compares two sets always is: the record lists the files of the first alone.
 */
import { join } from 'node:path'
import type { StatedDiagnosis } from '../compute/diagnostics/contract.js'
import { readText } from '../core/still-file.js'
import { DIAGNOSE_RECORD, DIAGNOSTIC_PATHS } from '../render/outputs/output-names.js'
import type { RecordedOutput } from '../render/outputs/removed-outputs.js'
import type { CriticDiagnosticsDocument } from '../schema/outputs/critic-diagnostics.js'
import type { HashedFile } from '../schema/study.js'
import { excludedFiles } from '../study/excluded.js'
import { isOfSyntheticStudy } from '../study/label.js'
import { originOf } from './context.js'
import { runDiagnose, type DiagnoseRun } from './diagnose.js'
import { retireRecord, settingsHash, unchangedRun, writeRunRecord } from './record.js'

export interface RecordedDiagnosis {
  /** `unchanged`: nothing was computed, the diagnosis is the one that stands in the output folder */
  readonly status: 'done' | 'unchanged'
  readonly diagnosis: StatedDiagnosis
  /** files of the output folder, without the record */
  readonly outputs: readonly RecordedOutput[]
  /** of an earlier record, left because nothing shows that this program made them as they are */
  readonly left: readonly string[]
}

/**
 * Diagnoses one snapshot or dump into its output folder, as `diagnose PATH` does it.
 *
 * @returns values and returns in units of the reward; every interval is one of 95 %
 * @throws Failures with every sample that fails a check, or the one Fault that stopped the run; no output is touched then
 */
export async function diagnoseSnapshot(run: DiagnoseRun): Promise<RecordedDiagnosis> {
  const { out, plan, pool, settings } = run
  const synthetic = settings.synthetic || (await isOfSyntheticStudy(plan.folder))
  if (run.against === null) {
    const record = await unchangedRun(out, plan, hashOf(run, synthetic, null), pool, DIAGNOSE_RECORD)
    if (record !== null) {
      const text = await readText(join(out, DIAGNOSTIC_PATHS.document))
      return { status: 'unchanged', diagnosis: JSON.parse(text) as CriticDiagnosticsDocument, outputs: record.outputs, left: [] }
    }
  }
  let earlier: readonly RecordedOutput[] = []
  const { diagnosis, outputs } = await runDiagnose({
    ...run,
    beforeCommit: async () => {
      earlier = await retireRecord(out, DIAGNOSE_RECORD)
    }
  })
  const { files } = diagnosis.source
  const aside = excludedFiles(plan, new Set(files.map(({ path }) => path)), settings.traces.keys)
  const finished = {
    origin: originOf(diagnosis.synthetic, null),
    settingsSha256: hashOf(run, synthetic, diagnosis.against?.source.files ?? null),
    inputs: [...files, ...aside.map(({ path, sha256, bytes }) => ({ path, sha256, bytes }))],
    outputs
  }
  const left = await writeRunRecord(out, finished, earlier, pool, DIAGNOSE_RECORD)
  return { status: 'done', diagnosis, outputs, left }
}

/** Of everything that decides the bytes of the outputs, beside the inputs. */
function hashOf(
  { plan: { source }, settings: { traces, dump }, told, formats }: DiagnoseRun,
  synthetic: boolean,
  against: readonly HashedFile[] | null
): string {
  const { gamma, lambdaReturns, lambdaAdvantages, sampling, history } = told
  const logged = history === null ? null : [history.file, history.key, history.stepKey]
  const names = dump === undefined ? null : [dump.names, dump.skipBad]
  return settingsHash(
    { source, synthetic, traces, names, told: [gamma, lambdaReturns, lambdaAdvantages, sampling, logged], against },
    formats
  )
}

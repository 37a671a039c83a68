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
import type { SnapshotPlan } from '../study/inventory.js'
import { isOfSyntheticStudy } from '../study/label.js'
import { originOf } from './context.js'
import { runDiagnose, type DiagnoseRun, type ToldOfRun } from './diagnose.js'
import { retireRecord, settingsHash, unchangedRun, writeRunRecord } from './record.js'

/** A snapshot or dump, how it is read, what is told of it, and where the outputs go. */
export interface DiagnosisRun extends Omit<DiagnoseRun, 'against' | 'told' | 'beforeCommit'> {
  /** the set that it is compared with; default: none */
  readonly against?: SnapshotPlan | null | undefined
  /** `gamma`, `lambdaReturns`, `lambdaAdvantages` from 0 to 1, `sampling`, `history`; default: nothing is told, the sampling is not stated */
  readonly told?: Partial<ToldOfRun> | undefined
}

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
 * @returns `diagnosis.audit`, the estimator; `findings`, faults and properties; `quality`, each statistic as
 *   `{ value, low, high, n_trajectories }` with an interval of 95 %, `by_decile` with ten rows, `by_step` and `by_turn` with one row a step and
 *   turn. Values, returns and bias in units of the reward, errors in its square, shares from 0 to 1. Null where a number is undefined
 *   or refused: `quality.undefined_reasons` says why, by JSON pointer
 * @throws Failures with every sample that fails a check, or the one Fault that stopped the run; no output is touched then. What is told and
 *   differs is no exception: `diagnosisFailures` lists it
 */
export async function diagnoseSnapshot({ against = null, told = {}, ...given }: DiagnosisRun): Promise<RecordedDiagnosis> {
  const run: DiagnoseRun = {
    ...given,
    against,
    told: { ...told, sampling: told.sampling ?? 'not stated', history: told.history ?? null }
  }
  const { out, plan, pool, settings } = run
  const synthetic = settings.synthetic || (await isOfSyntheticStudy(plan.folder))
  if (against === null) {
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

/**
 * The settings of `traces`: those of a study, or the defaults; an option of the command line goes before both. What it takes the
 * place of in a study is said. Everything here decides bytes of outputs, so it is part of the settings' hash.
 */
import { EXIT, Fault, printable } from '../core/errors.js'
import type { SnapshotSettings } from '../runs/snapshot-work.js'
import type { CriticTraceStudy } from '../schema/critic-traces.js'
import { dumpNames, snapshotKeys } from '../schema/key-names.js'
import { DEFAULT_CRITIC_TRACE_STUDY, REPORTED_WITHOUT_STUDY, type SnapshotKeys } from '../schema/traces.js'
import type { TracesOptions } from './args.js'

export interface ToldSettings {
  readonly settings: SnapshotSettings
  /** one sentence for each option that takes the place of what the study states */
  readonly notes: readonly string[]
}

/** @throws Fault where options give one name to two things */
export async function settingsOf(options: Omit<TracesOptions, 'shard'>): Promise<ToldSettings> {
  const { study: dir, keys: told, successAbove, jumpAbove, marker, skipBad, against, tokenizer, tables } = options
  const study = dir === null ? null : (await (await import('../study/study.js')).loadStudy(dir)).study
  const stated = study?.critic_traces ?? null
  // Without a study, and with one that lacks this section, nothing is expected of a snapshot.
  const traces = stated ?? DEFAULT_CRITIC_TRACE_STUDY
  const expectations = stated?.expectations ?? REPORTED_WITHOUT_STUDY
  const keys = snapshotKeys(told, traces.keys)
  if (Object.keys(told).length > 0) await refuseSameNames(keys)
  return {
    settings: {
      traces: {
        ...traces,
        keys,
        success_threshold: successAbove ?? traces.success_threshold,
        jump_threshold: jumpAbove ?? traces.jump_threshold
      },
      expectations: { ...expectations, boundary_end_marker: marker ?? expectations.boundary_end_marker },
      enforced: stated !== null,
      examplesRequired: false,
      synthetic: study?.synthetic ?? false,
      dump: { names: dumpNames(told, traces.keys), skipBad, against, tokenizer },
      tables
    },
    notes: stated === null ? [] : placeTaken(stated, options)
  }
}

/** Two keys of a page with one name are refused as in a study file. */
async function refuseSameNames(keys: SnapshotKeys): Promise<void> {
  const { CRITIC_TRACES } = await import('../schema/critic-traces.js')
  try {
    CRITIC_TRACES.fields.keys.kind.read(keys, '--key', { format: 'usage', place: {}, paths: [] })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new Fault({ ...error.details, exitCode: EXIT.usage })
  }
}

function placeTaken(stated: CriticTraceStudy, options: Omit<TracesOptions, 'shard'>): string[] {
  const { keys: told, successAbove, jumpAbove, marker } = options
  const taken: Array<readonly [option: string, given: string | number | null, of: string | number | null]> = [
    ['--success-above', successAbove, stated.success_threshold],
    ['--jump-above', jumpAbove, stated.jump_threshold],
    ['--marker', marker, stated.expectations.boundary_end_marker],
    ...(Object.keys(stated.keys) as (keyof SnapshotKeys)[]).map(name => [`--key ${name}`, told[name] ?? null, stated.keys[name]] as const)
  ]
  return taken
    .filter(([, given, of]) => given !== null && given !== of)
    .map(([option, given, of]) => `${option} ${printable(String(given))} in place of the study's ${printable(String(of ?? 'none'))}`)
}

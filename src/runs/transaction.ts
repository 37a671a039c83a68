/**
 * All outputs of a run, or none: what `fill` writes is moved to its places together when `fill` has finished. Nothing of it
 * stays when `fill` throws.
 */
import { EXIT, Fault } from '../core/errors.js'
import type { FileSummary } from '../render/outputs/output-file.js'
import { OutputSet } from '../render/outputs/output-set.js'

export interface TransactionOptions {
  readonly signal?: AbortSignal | undefined
  /** called when everything is written and before anything takes its place */
  readonly beforeCommit?: (() => Promise<void>) | undefined
}

/** @throws what `fill` throws; after an interruption the Fault of the interruption, whatever failed because of it */
export async function inTransaction<T extends object>(
  out: string,
  { signal, beforeCommit }: TransactionOptions,
  fill: (set: OutputSet) => Promise<T>
): Promise<T & { readonly outputs: readonly FileSummary[] }> {
  const set = await OutputSet.open(out)
  try {
    const filled = await fill(set)
    throwIfInterrupted(signal)
    await beforeCommit?.()
    return { ...filled, outputs: await set.commit() }
  } catch (error) {
    await set.abort()
    throwIfInterrupted(signal)
    throw error
  }
}

export function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return
  throw new Fault({
    format: 'run',
    problem: 'interrupted',
    found: 'a signal',
    expected: 'to finish; nothing of this run was written',
    exitCode: EXIT.interrupted
  })
}

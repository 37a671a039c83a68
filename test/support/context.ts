/** What a run over a folder is given, with nothing verified unless a test says so. */
import { originOf, RunContext, type RunSettings } from '../../src/runs/context.js'

export function contextOf(dir: string, synthetic = false, more: Partial<RunSettings> = {}): RunContext {
  return new RunContext({ dir, origin: originOf(synthetic, null), ...more })
}

/** The factor from elapsed_hours to display_hours. It is the same for all observations of a selection. */
import { Fault, printable } from '../../core/errors.js'
import type { RunSelection } from '../../schema/histories.js'
import type { Curve } from './contract.js'
import { elapsedHours } from './time.js'
import { bestPosition } from './windows.js'

/**
 * The factor is 1 without a rule. Else it is the stated factor, or at_hours / elapsed_hours of the best observation of
 * `best_of` in the step view.
 * @param curves curves of the selection
 * @param at the selection's path in the study file
 * @throws Fault (exit 3) where the rule gives no positive finite number
 */
export function displayFactor(selection: RunSelection, curves: readonly Curve[], originSeconds: number, at: string): number {
  const unusable = (found: string, expected: string): Fault =>
    new Fault({
      format: 'study',
      problem: `selection ${printable(selection.name)}, display_time gives no factor`,
      found: `${at}.display_time: ${found}`,
      expected
    })
  const positive = (factor: number, found: string): number => {
    if (factor > 0 && Number.isFinite(factor)) return factor
    throw unusable(found, 'a positive factor')
  }
  const rule = selection.display_time
  if (rule === null) return 1
  if ('multiply' in rule) return positive(rule.multiply, `multiply ${rule.multiply}`)
  const curve = curves.find(c => c.metric === rule.best_of)
  const best = curve === undefined ? -1 : bestPosition(curve)
  if (curve === undefined || best < 0) {
    throw unusable(`no observation of ${printable(rule.best_of)}`, `one to put at ${rule.at_hours} hours`)
  }
  const elapsed = elapsedHours({ originSeconds }, curve.timestamp[curve.steps[best]])
  const step = curve.step[curve.steps[best]]
  if (!Number.isFinite(elapsed)) {
    throw unusable(`no timestamp at the best ${printable(rule.best_of)}, step ${step}`, 'a row with a timestamp')
  }
  return positive(rule.at_hours / elapsed, `${rule.at_hours} hours for ${elapsed} elapsed hours at step ${step}`)
}

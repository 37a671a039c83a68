/** Advantages were whitened with several means and deviations: by rank, by sample or by parts of samples, not over the batch. */
import { maxOf, minOf } from '../../../core/extremes.js'
import { counted } from '../../../core/counts.js'
import { type FaultKind, shown } from './finding.js'

export const whiteningGroups: FaultKind = {
  kind: 'whitening-groups',
  severity: 'fault',
  report: 'https://github.com/THUDM/slime/pull/2235',
  find: ({ audit, evidence }) => {
    const { whitening } = audit
    if (whitening !== 'rank' && whitening !== 'sample' && whitening !== 'within-sample') return null
    const { groups } = evidence.advantages
    const sigmas = groups.map(g => g.sigma)
    const [low, high] = [minOf(sigmas), maxOf(sigmas)]
    const part = { rank: 'rank', sample: 'sample', 'within-sample': 'part of samples' }[whitening]
    return {
      message: `Advantages were whitened by ${part}, not over the batch: ${counted(groups.length, 'group')} with deviations from ${shown(low)} to ${shown(high)}`,
      place: null,
      evidence: { groups: groups.length, smallest_sigma: low, largest_sigma: high }
    }
  }
}

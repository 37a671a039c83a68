/** `sample-statistics.json`: what a dump without a critic tells. */
import { finite, list, nullable, number, pair, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { closed, natural, someText, whole } from './kinds.js'

const SPREAD = closed({
  mean: { kind: number(0), doc: 'mean over samples' },
  least: { kind: natural, doc: 'smallest' },
  most: { kind: natural, doc: 'largest' }
})

const ADVANTAGES = closed({
  tokens: { kind: natural, doc: 'retained tokens with an advantage' },
  mean: { kind: finite, doc: 'mean over tokens' },
  sd: { kind: number(0), doc: 'population standard deviation over tokens' },
  least: { kind: finite, doc: 'smallest' },
  most: { kind: finite, doc: 'largest' },
  zero: { kind: natural, doc: 'tokens whose advantage is exactly 0' }
})

function ofOutcome(which: string) {
  return { kind: nullable(ADVANTAGES), doc: `over the samples ${which}; null without such a token` }
}

export const SAMPLE_STATISTICS = output(
  'sample-statistics',
  {
    title: 'Sample statistics',
    description:
      'Lengths, turns, outcomes and advantages of a dump that holds no values: it was trained without a critic, or they were not saved. ' +
      'Retained tokens are those with mask 1.'
  },
  {
    ...envelopeFields('sample-statistics'),
    kind: { kind: someText, doc: 'kind of dump' },
    mask: { kind: nullable(someText), doc: 'key that the mask was read from; null: every response token counts' },
    notes: { kind: list(someText), doc: 'what the reader of the dump found out, a sentence each' },
    samples: { kind: natural, doc: 'samples with a retained token' },
    left_out: { kind: natural, doc: 'rows left out' },
    tokens: { kind: natural, doc: 'retained tokens of all samples' },
    response_tokens: { kind: natural, doc: 'response tokens of all samples, with those that the policy did not generate' },
    steps: { kind: nullable(pair(whole())), doc: 'first and last trainer step; null where no sample states one' },
    tokens_per_sample: { kind: nullable(SPREAD), doc: 'retained tokens; null without a sample' },
    turns_per_sample: { kind: nullable(SPREAD), doc: 'stretches of retained tokens; null without a sample' },
    success_threshold: { kind: finite, doc: 'a sample that states no outcome is a success when its score is strictly above this' },
    outcomes: {
      kind: closed({
        success: { kind: natural, doc: 'successes' },
        failure: { kind: natural, doc: 'failures' },
        unknown: { kind: natural, doc: 'neither an outcome nor a score is stated' }
      }),
      doc: 'samples by outcome'
    },
    advantages: {
      kind: closed({ all: ofOutcome('of any outcome'), success: ofOutcome('that succeeded'), failure: ofOutcome('that failed') }),
      doc: 'advantages of retained tokens, as stored'
    },
    needs_a_critic: { kind: list(someText), doc: 'what is not computed, since it is made of the values' }
  }
)

export type SampleStatisticsDocument = Infer<typeof SAMPLE_STATISTICS>

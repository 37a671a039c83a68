/** `critic-diagnostics.json`: how the returns and advantages were made, what went wrong, and how good the critic is. */
import { finite, flag, list, nullable, number, oneOf, type Infer } from '../../core/checker.js'
import { FINDING_KINDS, FINDING_SEVERITIES, RULE_NAMES, WHITENINGS } from '../diagnostics.js'
import { COMPARED, COMPARISON, ESTIMATE, QUALITY } from './diagnostics-quality.js'
import { envelopeFields, output } from './document.js'
import { fileFields } from './files.js'
import { anyOf, anyText, closed, map, natural, someText, whole } from './kinds.js'

const RULE = oneOf(...RULE_NAMES)

const LAMBDA_OF_ADVANTAGES = anyOf(
  finite,
  closed({ adaptive_alpha: { kind: finite, doc: 'alpha of lambda = 1 - 1 / (alpha L), L the number of trainable tokens' } })
)

const PLACE = closed({
  sample: { kind: natural, doc: 'canonical index of the sample' },
  token: { kind: natural, doc: 'index of the token in the response' }
})

const TOLD = closed({
  name: { kind: oneOf('gamma', 'lambda_returns', 'lambda_advantages'), doc: 'what was told' },
  told: { kind: LAMBDA_OF_ADVANTAGES, doc: 'its told value' },
  recovered: { kind: nullable(LAMBDA_OF_ADVANTAGES), doc: 'the value that was found' },
  agrees: { kind: nullable(flag), doc: 'null: the data do not identify it' }
})

const AUDIT = closed({
  rule: { kind: nullable(RULE), doc: 'how masked tokens enter: the first of the known rules that fits; null: none' },
  value_alignment: { kind: nullable(oneOf('pre-action', 'shifted by one')), doc: 'which value stands beside a token' },
  gamma: { kind: nullable(finite), doc: 'discount' },
  lambda_returns: { kind: nullable(finite), doc: 'lambda of the returns' },
  lambda_advantages: { kind: nullable(LAMBDA_OF_ADVANTAGES), doc: 'lambda of the advantages: a number, or adaptive to the length' },
  kl_coefficient: { kind: nullable(finite), doc: 'beta of the KL reward -beta kl[t]' },
  whitening: { kind: nullable(oneOf(...WHITENINGS)), doc: 'over what advantages were whitened' },
  final_reward: { kind: nullable(oneOf('last token', 'last trainable token')), doc: 'token that carries the final reward' },
  alternatives: { kind: list(RULE), doc: 'other rules that fit as well' },
  max_residual: { kind: nullable(number(0)), doc: 'largest absolute residual of the returns inside turns, in units of the return' },
  max_residual_place: { kind: nullable(PLACE), doc: 'where it is' },
  nearest_rule: { kind: nullable(RULE), doc: 'where no rule fits, the one with the fewest departures' },
  departs_at: { kind: nullable(PLACE), doc: 'first token that departs from it, or from the relation inside turns' },
  not_identifiable: {
    kind: list(
      oneOf('rule', 'value_alignment', 'gamma', 'lambda_returns', 'lambda_advantages', 'kl_coefficient', 'whitening', 'final_reward')
    ),
    doc: 'what the data cannot tell apart'
  },
  told: { kind: list(TOLD), doc: 'told values beside the recovered ones' }
})

const FINDING = closed({
  kind: {
    kind: oneOf(...FINDING_KINDS),
    doc: 'what was found'
  },
  severity: { kind: oneOf(...FINDING_SEVERITIES), doc: 'property: how some trainers work, with consequences; no error of this run' },
  message: { kind: someText, doc: 'the finding in one sentence' },
  place: {
    kind: nullable(
      closed({
        ...PLACE.fields,
        file: { kind: nullable(someText), doc: 'file of the sample; null where the snapshot has one page' },
        row: { kind: nullable(natural), doc: 'row in the file, from 0' },
        step: { kind: nullable(whole()), doc: 'trainer step of the sample' },
        uid: { kind: nullable(anyText), doc: 'uid of the sample, verbatim' }
      })
    ),
    doc: 'where it shows most; null where it has no place'
  },
  evidence: { kind: map(anyOf(finite, anyText)), doc: 'the numbers that show it, by name' },
  report: { kind: someText, doc: 'public report of the same fault' }
})

const readFile = closed(fileFields("relative to the snapshot's folder"))

const SOURCE = closed({
  name: { kind: someText, doc: 'name of the snapshot' },
  kind: { kind: oneOf('html', 'npz-folder', 'dump'), doc: 'a page, NPZ files of one trace each, or a dump of a trainer' },
  format: { kind: nullable(someText), doc: 'kind of dump in words; null for other snapshots' },
  mask: { kind: nullable(someText), doc: 'key of the mask; null: every response token counts, or no dump' },
  end: { kind: nullable(someText), doc: 'how the end of a response was found; null for other snapshots' },
  notes: { kind: list(someText), doc: 'what the reader of the dump noted' },
  files: { kind: list(readFile), doc: 'files that were read' },
  samples: { kind: natural, doc: 'samples, one record each' },
  left_out: { kind: natural, doc: 'rows without a retained token, and bad ones where those are passed over' }
})

const SET_FIELDS = {
  source: { kind: SOURCE, doc: 'what was read' },
  audit: { kind: AUDIT, doc: 'the estimator, recovered from the numbers' },
  findings: { kind: list(FINDING), doc: 'faults and properties that the numbers show' },
  quality: { kind: QUALITY, doc: 'how good the critic is' }
}

export const CRITIC_DIAGNOSTICS = output(
  'critic-diagnostics',
  {
    title: 'Critic diagnostics',
    description:
      'How returns and advantages were made, what went wrong on the way, and how well the values agree with returns and outcomes. ' +
      'Values and returns are in units of the reward. Tokens are those with mask 1.',
    definitions: [ESTIMATE, COMPARED]
  },
  {
    ...envelopeFields('critic-diagnostics'),
    settings: {
      kind: closed({
        success_threshold: { kind: finite, doc: 'a sample without an outcome is a success when its score is strictly above this' },
        jump_threshold: { kind: number(0), doc: 'a change of value is a jump when its absolute value is larger' },
        history: {
          kind: nullable(
            closed({
              file: { kind: closed(fileFields('its name')), doc: 'the history' },
              key: { kind: someText, doc: 'key of the logged explained variance' },
              step_key: { kind: someText, doc: 'key of the step' },
              points: { kind: natural, doc: 'steps with a logged value' },
              common_steps: { kind: natural, doc: 'of them, steps that the samples have too; 0: nothing was compared' },
              left_out: {
                kind: list(
                  closed({
                    reason: { kind: someText, doc: 'why they give no value' },
                    rows: { kind: natural, doc: 'rows of the file' }
                  })
                ),
                doc: 'rows of the file that give no value'
              }
            })
          ),
          doc: 'history of logged explained variance; null: none was named'
        }
      }),
      doc: 'what was told'
    },
    ...SET_FIELDS,
    against: {
      kind: nullable(closed({ ...SET_FIELDS, comparison: { kind: COMPARISON, doc: 'both, and this minus the other' } })),
      doc: 'the set that this one is compared with; null: none'
    }
  }
)

export type CriticDiagnosticsDocument = Infer<typeof CRITIC_DIAGNOSTICS>

/**
 * The names of arrays and fields in dumps. Trainers name one thing differently, so each has several names that are tried in
 * order; a user's own name (`--key values=critic_values`, or `keys` in a study) takes the place of all of them. The table in
 * docs/formats.md follows from this one.
 */
import { SAMPLE_ARRAYS, type SampleArray } from './samples.js'

export interface SampleKey {
  /** names that trainers use, the first one found is taken */
  readonly names: readonly string[]
  /** shape of a padded batch of B samples; a row of JSON Lines or Parquet, and a sample of slime, has it without the B */
  readonly shape: string
  /** what it holds, in the words of the docs */
  readonly doc: string
  /** what holds where it is missing; null: it is required by what needs it */
  readonly otherwise: string
}

function tokens(names: readonly string[], doc: string, otherwise = 'not known'): SampleKey {
  return { names, shape: '[B, T]', doc, otherwise }
}

const ARRAYS: Readonly<Record<SampleArray, SampleKey>> = {
  values: tokens(
    ['values'],
    "the critic's value of each response token, before that token is chosen",
    'no critic: lengths, outcomes and advantages only'
  ),
  returns: tokens(['returns'], 'what the critic was trained towards, a token', 'no comparison of values with returns'),
  advantages: tokens(['advantages'], 'advantage of each response token, as stored, perhaps whitened'),
  token_rewards: tokens(['token_level_rewards', 'token_rewards', 'rewards'], 'reward of each token'),
  kl: tokens(['kl'], 'estimate of the divergence from the reference policy, a token'),
  log_probs: tokens(
    ['log_probs', 'old_log_probs', 'action_log_probs', 'prev_logprobs', 'logprobs'],
    'log probability of each token when it was trained on'
  ),
  ref_log_probs: tokens(
    ['ref_log_probs', 'ref_log_prob', 'base_action_log_probs', 'ref_logprobs'],
    'log probability under the reference policy'
  ),
  rollout_log_probs: tokens(['rollout_log_probs', 'generation_logprobs'], 'log probability when it was generated'),
  entropy: tokens(['entropy', 'entropys'], "entropy of the policy's distribution at each token")
}

const FIELDS = {
  response_mask: {
    names: ['response_mask', 'loss_mask', 'action_mask', 'completion_mask', 'loss_masks', 'token_loss_mask'],
    shape: '[B, T] or [B, P + T]',
    doc: '1: a token of the policy; 0: an observation or padding',
    otherwise: 'every response token counts'
  },
  attention_mask: {
    names: ['attention_mask'],
    shape: '[B, T] or [B, P + T]',
    doc: '0: padding',
    otherwise: 'the lengths, else columns that are 0 in every array are padding'
  },
  response_length: {
    names: ['response_lengths', 'response_length'],
    shape: '[B]',
    doc: 'number of response tokens',
    otherwise: '`attention_mask`, else columns that are 0 in every array are padding'
  },
  total_length: {
    names: ['total_lengths', 'total_length', 'input_lengths'],
    shape: '[B]',
    doc: 'number of tokens of prompt and response, where the arrays hold both',
    otherwise: 'the arrays hold the response alone'
  },
  response_positions: {
    names: ['response_positions'],
    shape: '[B, T]',
    doc: 'index of each token in its response, for rows that hold retained tokens alone',
    otherwise: 'the index of the column'
  },
  token_ids: {
    names: ['responses', 'response_ids', 'token_ids', 'tokens'],
    shape: '[B, T] or [B, P + T]',
    doc: 'token ids',
    otherwise: 'spans have no text'
  },
  token_scores: {
    names: ['token_level_scores'],
    shape: '[B, T]',
    doc: 'score of each token, without a penalty for divergence; its sum is the score',
    otherwise: 'the sum of the token rewards is the score'
  },
  score: {
    names: ['score', 'scores', 'raw_reward', 'rewards', 'reward'],
    shape: '[B]',
    doc: 'score of the trajectory',
    otherwise: 'the sum of the token scores'
  },
  outcome: { names: ['outcome'], shape: '[B]', doc: '`success` or `failure`, a bool, or 0 and 1', otherwise: 'the score decides' },
  uid: { names: ['uid'], shape: '[B]', doc: 'identity of the trajectory or of its prompt; may repeat', otherwise: 'not stated' },
  step: {
    names: ['step', 'rollout_id', 'global_step', 'global_steps'],
    shape: '0-d or [B]',
    doc: 'trainer step',
    otherwise: "the file's name, else not stated"
  },
  truncated: { names: ['truncated'], shape: '[B]', doc: '1: the response was cut at the length limit', otherwise: 'not stated' },
  sample_index: {
    names: ['sample_index', 'sample_indices'],
    shape: '[B]',
    doc: 'place of the sample in the rollout, where several ranks hold its samples',
    otherwise: 'the rank, then the order of the file'
  },
  rollout_position: {
    names: ['rollout_position', 'partition'],
    shape: '[B]',
    doc: 'the same; it comes before `sample_index`',
    otherwise: '`sample_index`'
  }
} as const satisfies Readonly<Record<string, SampleKey>>

export type SampleKeyName = SampleArray | keyof typeof FIELDS

export const SAMPLE_KEYS: Readonly<Record<SampleKeyName, SampleKey>> = { ...ARRAYS, ...FIELDS }

export const SAMPLE_KEY_NAMES = [...SAMPLE_ARRAYS, ...(Object.keys(FIELDS) as Array<keyof typeof FIELDS>)] as const

/** For each, the names to try in a dump, in order. */
export type SampleKeys = Readonly<Record<SampleKeyName, readonly string[]>>

/** @param told names that the user gave */
export function sampleKeys(told: Readonly<Partial<Record<SampleKeyName, string>>> = {}): SampleKeys {
  const names = SAMPLE_KEY_NAMES.map(key => {
    const own = told[key]
    return [key, own === undefined ? SAMPLE_KEYS[key].names : [own]] as const
  })
  return Object.fromEntries(names) as unknown as SampleKeys
}

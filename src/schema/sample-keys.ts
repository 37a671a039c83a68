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
  /** what its elements may be, in the words of the docs */
  readonly dtype: string
  /** what it holds, in the words of the docs */
  readonly doc: string
  /** what follows where it is missing, in the words of the docs */
  readonly otherwise: string
}

/** One number for each token, of any dtype that is read: floats of 16, 32 and 64 bits, bfloat16, integers, bool. */
function tokens(names: readonly string[], doc: string, otherwise = 'not known'): SampleKey {
  return { names, shape: '[B, T]', dtype: 'number', doc, otherwise }
}

const ARRAYS: Readonly<Record<SampleArray, SampleKey>> = {
  values: tokens(
    ['values'],
    "the critic's prediction at each response token, made before that token was known",
    'nothing of the critic: lengths, turns, outcomes and advantages alone'
  ),
  returns: tokens(['returns'], 'what the critic was trained towards at each token', 'required beside `values`'),
  advantages: tokens(['advantages'], 'advantage of each response token, as stored, perhaps whitened'),
  token_rewards: tokens(['token_level_rewards', 'token_rewards', 'rewards'], 'reward of each token'),
  kl: tokens(['kl'], 'estimate of the divergence from the reference policy at each token'),
  log_probs: tokens(
    ['log_probs', 'old_log_probs', 'action_log_probs', 'prev_logprobs', 'logprobs'],
    'log probability of each token under the policy that was trained'
  ),
  ref_log_probs: tokens(
    ['ref_log_probs', 'ref_log_prob', 'base_action_log_probs', 'ref_logprobs'],
    'log probability of each token under the reference policy'
  ),
  rollout_log_probs: tokens(['rollout_log_probs', 'generation_logprobs'], 'log probability of each token when it was generated'),
  entropy: tokens(['entropy', 'entropys'], "entropy of the policy's distribution at each token")
}

const FIELDS = {
  response_mask: {
    names: ['response_mask', 'loss_mask', 'action_mask', 'completion_mask', 'loss_masks', 'token_loss_mask'],
    shape: '[B, T] or [B, P + T]',
    dtype: '0 and 1, or bool',
    doc: '1: a token of the policy; 0: an observation, or padding',
    otherwise: 'every response token is one of the policy'
  },
  attention_mask: {
    names: ['attention_mask'],
    shape: '[B, T] or [B, P + T]',
    dtype: '0 and 1, or bool',
    doc: 'the last 1 is the last token of the response; a token with 0 is padding, on either side',
    otherwise: '`response_length` tells the end'
  },
  response_length: {
    names: ['response_lengths', 'response_length'],
    shape: '[B]',
    dtype: 'integer',
    doc: 'number of response tokens',
    otherwise:
      '`total_length` tells the end; else a row ends with its arrays, and in a padded batch the last columns that are 0 in every array are padding'
  },
  total_length: {
    names: ['total_lengths', 'total_length', 'input_lengths'],
    shape: '[B]',
    dtype: 'integer',
    doc: 'number of tokens of prompt and response; read where the arrays hold both',
    otherwise: 'the arrays hold the response alone'
  },
  response_positions: {
    names: ['response_positions'],
    shape: '[B, T]',
    dtype: 'integer, increasing',
    doc: 'index of each token in its response, where the arrays hold the tokens of the policy alone',
    otherwise: 'the index of the column'
  },
  token_ids: {
    names: ['responses', 'response_ids', 'token_ids', 'tokens'],
    shape: '[B, T] or [B, P + T]',
    dtype: 'integer',
    doc: 'token ids',
    otherwise: 'spans have no text'
  },
  token_scores: {
    names: ['token_level_scores'],
    shape: '[B, T]',
    dtype: 'number',
    doc: 'score of each token, without a penalty for divergence; the sum over the response is the score',
    otherwise: '`token_rewards` in their place'
  },
  score: {
    names: ['score', 'scores', 'raw_reward', 'rewards', 'reward'],
    shape: '[B]',
    dtype: 'number or bool',
    doc: 'score of the trajectory',
    otherwise: 'the sum of `token_scores`, else of `token_rewards`, else not stated'
  },
  outcome: {
    names: ['outcome'],
    shape: '[B]',
    dtype: '`success` or `failure`, bool, 0 and 1',
    doc: 'whether the trajectory succeeded',
    otherwise: 'a score above the threshold is a success'
  },
  uid: {
    names: ['uid'],
    shape: '[B]',
    dtype: 'text or integer',
    doc: 'identity of the trajectory, or of its prompt; may repeat',
    otherwise: 'not stated'
  },
  step: {
    names: ['step', 'rollout_id', 'global_step', 'global_steps'],
    shape: '0-d or [B]',
    dtype: 'integer',
    doc: 'trainer step',
    otherwise: "the number in the file's name, else not stated"
  },
  truncated: {
    names: ['truncated'],
    shape: '[B]',
    dtype: 'bool, 0 and 1',
    doc: '1: the response was cut at the length limit',
    otherwise: 'not stated'
  },
  sample_index: {
    names: ['sample_index', 'sample_indices'],
    shape: '[B]',
    dtype: 'integer',
    doc: 'place of the sample in its rollout; read in `.pt` files of samples',
    otherwise: 'the order of the ranks, then of the file'
  },
  rollout_position: {
    names: ['rollout_position', 'partition'],
    shape: '[B]',
    dtype: 'integer',
    doc: 'the same, and taken before `sample_index`',
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

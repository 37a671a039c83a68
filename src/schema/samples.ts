/**
 * The words on samples: one trajectory as a trainer dumped it. A sample has T response tokens. The policy generated those with
 * mask 1; the others are observations (tool output, user turns) or stand behind a turn's end. Its trace holds the tokens with
 * mask 1 alone, with their indices in the response as positions, so that a turn boundary is a gap in the mask.
 */
import type { Place } from '../core/errors.js'
import type { HashedFile } from './study.js'
import type { Outcome } from './traces.js'

/** Arrays of one number for each response token, by this program's names. */
export const SAMPLE_ARRAYS = [
  'values',
  'returns',
  'advantages',
  'token_rewards',
  'kl',
  'log_probs',
  'ref_log_probs',
  'rollout_log_probs',
  'entropy'
] as const
export type SampleArray = (typeof SAMPLE_ARRAYS)[number]

/** Numbers as the dump stores them: single precision (or narrower) as Float32Array, all others as Float64Array. */
export type SampleNumbers = Float32Array | Float64Array

/** Scalar fields of one sample; null where the dump does not state them. */
export interface SampleFields {
  readonly step: number | null
  /** as stated; the score decides where it is null */
  readonly outcome: Outcome | null
  readonly score: number | null
  /** may repeat: in some trainers it is the prompt, shared by its rollouts, and is then the group */
  readonly uid: string | null
  /** true: the response was cut at the length limit */
  readonly truncated: boolean | null
  /** data-parallel rank that held the sample */
  readonly rank: number | null
}

export interface Sample {
  /** 0-based canonical position in the dump: the order of every reduction and output */
  readonly index: number
  /** where it was found: file, member or key, index of the row */
  readonly place: Place
  readonly fields: SampleFields
  /** [T], T >= 1: 1 for a token of the policy, 0 for any other */
  readonly mask: Uint8Array
  /** [T] each; only the arrays that were asked for and that the dump has */
  readonly arrays: { readonly [name in SampleArray]?: SampleNumbers }
  /** [T] ids of the response tokens; null where the dump has none or they were not asked for */
  readonly tokenIds: Int32Array | null
}

/** A row of a dump that gives no trace. */
export interface LeftOut {
  /** canonical position that it would have had; positions of the samples after it do not move up */
  readonly index: number
  readonly place: Place
  /** `no token with mask 1` and `every array of the row is 0: padding` are counted; any other reason is a fault that `--skip-bad` passed over */
  readonly reason: string
}

/** What a reader of a dump found out and the user should know: one sentence each, without the file's name. */
export interface DumpFacts {
  /** kind of dump in words: `slime debug dump, version 2`, `padded batch`, `one row a sample` */
  readonly kind: string
  /** key that the mask was read from; null: every response token counts */
  readonly mask: string | null
  /** how the end of a response was found: `attention_mask`, `lengths`, `response_lengths`, `zeros behind it`, `whole row` */
  readonly end: string
  /** e.g. `up to 31 trailing columns that are 0 in every array, in 2 rows, taken for padding` */
  readonly notes: readonly string[]
}

/** What was found while rows were read. */
export interface Findings {
  /** rows, and most columns of one, that were taken for padding because every array is 0 there */
  readonly zeroRows: number
  readonly zeroColumns: number
  /** rows whose arrays hold the prompt too */
  readonly promptRows: number
  /** array whose sum is the score, where the row states none */
  readonly summed: string | null
}

/** The facts of a dump before they are put together: the parts of a dump have all in common but what was found in their rows. */
export interface DumpReading extends DumpFacts {
  /** notes that stand behind those of the findings */
  readonly laterNotes: readonly string[]
  readonly findings: Findings
  /** names of the files in canonical order */
  readonly files: readonly string[]
}

/** What was read of a dump, once its last sample was. */
export interface ReadDump {
  readonly facts: DumpFacts
  readonly inputs: readonly HashedFile[]
  /** rows without a trace, in canonical order */
  readonly leftOut: readonly LeftOut[]
  /** files of the dump that it was compared with; null: with nothing */
  readonly against: readonly HashedFile[] | null
  /** what gave the spans their texts; null: they have none. Its path is this machine's */
  readonly tokenizer: Omit<HashedFile, 'path'> | null
}

/** 0-based row of a file. Readers name the row of a table by its number, that of a text by its line, which is counted from 1. */
export function rowOfPlace({ trace, line }: Place): number | null {
  return trace ?? (line === undefined ? null : line - 1)
}

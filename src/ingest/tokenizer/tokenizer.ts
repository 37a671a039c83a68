/**
 * A `tokenizer.json`: token ids to text, as the `tokenizers` of Python decode them, with special tokens kept. Nothing is encoded here,
 * and nothing is downloaded.
 *
 * The package gets only what decoding needs: merges, normalizer and pre-tokenizer are most of a file's loading time, and a pattern
 * that JavaScript does not know would refuse the file.
 *
 * Ids may be cut inside a character. What is left of it is U+FFFD. Where a vocabulary has tokens of single bytes (`<0xE4>`), Python
 * gives up the whole stretch of such tokens, and here the whole characters in it stay: 237 of 3,155 texts of such ids, cut or drawn
 * at random, differ so, and 10 of 3,153 of random ids of Llama 2. None of 12,637 texts of other kinds did, Qwen 3 among them.
 */
import type * as Tokenizers from '@huggingface/tokenizers'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { describeCause, Fault, printable, type Place } from '../../core/errors.js'
import { comparingWords } from '../../core/still.js'
import { readWhole } from '../../core/still-file.js'

/** No tokenizer is so large: they have some 10 to 40 MB. */
const MAX_BYTES = 2 ** 28
const MODELS = ['BPE', 'Unigram', 'WordPiece']

export interface TokenDecoder {
  /** The text of some ids. Ids that the vocabulary lacks give none. */
  text(ids: Int32Array): string
  /** The text that each id adds, which together are `text(ids)`: of a character of several ids the last has it, the others none. */
  pieces(ids: Int32Array): string[]
  /** Whether `text(ids)` ends with `marker`, which is not empty. Only as many of the last ids are decoded as that needs. */
  endsWith(ids: Int32Array, marker: string): boolean
}

/** A file that was read and not yet parsed: most of the time is in parsing. */
export interface TokenizerFile {
  readonly sha256: string
  readonly bytes: number
  /** @throws Fault for a file that is no tokenizer, or one of a kind that is not known */
  load(): Promise<TokenDecoder>
}

/** @throws Fault where the file cannot be read */
export async function readTokenizer(path: string): Promise<TokenizerFile> {
  const bytes = await readWhole(path, comparingWords('tokenizer'), MAX_BYTES)
  let loaded: Promise<TokenDecoder> | null = null
  return {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
    load() {
      loaded ??= parseTokenizer(bytes, { file: path })
      return loaded
    }
  }
}

export async function parseTokenizer(bytes: Buffer, place: Place): Promise<TokenDecoder> {
  const fault = (problem: string, expected: string, cause: unknown): Fault =>
    new Fault({ format: 'tokenizer', problem, found: printable(describeCause(cause)), expected, place, cause })
  const stated = statedIn(bytes, place, fault)
  // Required, not imported: compiled code of a bundle cannot import (`core/load.cts`).
  const { Tokenizer: Decoder } = createRequire(import.meta.url)('@huggingface/tokenizers') as typeof Tokenizers
  try {
    return new DecodingTokenizer(new Decoder(stated, {}), place)
  } catch (error) {
    throw fault('not supported', 'a tokenizer.json that @huggingface/tokenizers reads', error)
  }
}

type FaultOf = (problem: string, expected: string, cause: unknown) => Fault

/** What decoding needs of the file. */
function statedIn(bytes: Buffer, place: Place, fault: FaultOf): object {
  let json: unknown
  try {
    json = JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw fault('not JSON', 'a tokenizer.json', error)
  }
  const { model, decoder, added_tokens: added } = isObject(json) ? json : {}
  if (!isObject(model) || (!isObject(model['vocab']) && !Array.isArray(model['vocab']))) {
    const expected = 'model.vocab, as in a tokenizer.json'
    throw new Fault({ format: 'tokenizer', problem: 'no vocabulary', found: 'JSON without one', expected, place })
  }
  // A file of before 2021 may lack the type, and is of BPE.
  const type = model['type'] ?? 'BPE'
  if (typeof type !== 'string' || !MODELS.includes(type)) {
    const found = printable(`a model of the type ${JSON.stringify(type)}`)
    throw new Fault({ format: 'tokenizer', problem: 'not supported', found, expected: MODELS.join(', '), place })
  }
  return {
    model: { ...model, type, merges: [] },
    decoder: decoder ?? null,
    added_tokens: added ?? [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What is used of the package's class. */
interface Decoder {
  decode(ids: number[], options: { readonly skip_special_tokens: boolean; readonly clean_up_tokenization_spaces: boolean }): string
  id_to_token(id: number): string | undefined
}

const AS_STORED = { skip_special_tokens: false, clean_up_tokenization_spaces: false }
/** Most characters that a character cut at the front may leave. */
const CUT = 3
/** Most ids that one character may have: a further id shows what there is. */
const MOST_IDS = 8

class DecodingTokenizer implements TokenDecoder {
  readonly #decoder: Decoder
  readonly #place: Place

  constructor(decoder: Decoder, place: Place) {
    this.#decoder = decoder
    this.#place = place
  }

  text(ids: Int32Array): string {
    const known = Array.from(ids).filter(id => this.#decoder.id_to_token(id) !== undefined)
    if (known.length === 0) return ''
    try {
      return this.#decoder.decode(known, AS_STORED)
    } catch (cause) {
      const found = printable(describeCause(cause))
      throw new Fault({ format: 'tokenizer', problem: 'cannot decode', found, expected: 'text', place: this.#place, cause })
    }
  }

  pieces(ids: Int32Array): string[] {
    const pieces: string[] = []
    // A decoder may treat the first id in its own way: each text is what a further id adds to some before it.
    let from = 0
    let read = 0
    for (let i = 0; i < ids.length; i++) {
      const before = this.text(ids.subarray(from, read))
      const text = this.text(ids.subarray(from, i + 1))
      const isWhole = text.length > before.length && !text.endsWith('\ufffd')
      if (!isWhole && i + 1 < ids.length && i - read < MOST_IDS) {
        pieces.push('')
        continue
      }
      pieces.push(text.slice(before.length))
      from = read
      read = i + 1
    }
    return pieces
  }

  endsWith(ids: Int32Array, marker: string): boolean {
    // A decoder may treat the first token in its own way, and a character may be cut there: both change the front alone.
    for (let count = 1; count < ids.length; count *= 2) {
      const tail = this.text(ids.subarray(ids.length - count))
      if (tail.endsWith(marker)) return true
      if (tail.length > marker.length + CUT) return false
    }
    return this.text(ids).endsWith(marker)
  }
}

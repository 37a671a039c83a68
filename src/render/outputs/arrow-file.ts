/**
 * An Arrow IPC file that is written batch by batch: apache-arrow's file writer, with the parts that it lacks (see
 * `arrow-frame.ts`). The schema's metadata may be filled until `finish`. The memory for a batch is one 24-byte block,
 * which the footer lists.
 */
import type { AsyncByteQueue, RecordBatch, Schema } from 'apache-arrow'
import { HEAD_BYTES, messageOf, SCHEMA_SLOT, schemaSlot, shiftBlockOffsets } from './arrow-frame.js'
import type { ArrowLibrary } from './arrow-library.js'
import type { FileSummary, OutputFile } from './output-file.js'

/** What the library's writer emits. */
export interface Sink {
  readonly queue: AsyncByteQueue
  /** everything written since the last call */
  take(): readonly Uint8Array[]
}

/** A queue that collects what the library's writer emits. The library's own queue keeps every chunk until it is read. */
export function collectingSink(arrow: ArrowLibrary): Sink {
  let chunks: Uint8Array[] = []
  class Collector extends arrow.AsyncByteQueue {
    override write(chunk: Uint8Array): void {
      chunks.push(chunk)
    }
  }
  return {
    queue: new Collector(),
    take() {
      const taken = chunks
      chunks = []
      return taken
    }
  }
}

/** A whole IPC stream without batches. */
function schemaStream(arrow: ArrowLibrary, schema: Schema): Uint8Array {
  const sink = collectingSink(arrow)
  const writer = new arrow.RecordBatchStreamWriter()
  writer.reset(sink.queue, schema)
  writer.close()
  return Buffer.concat(sink.take())
}

/** The schema message, which the library's writer of files leaves out. */
export function schemaMessage(arrow: ArrowLibrary, schema: Schema): Uint8Array {
  return messageOf(schemaStream(arrow, schema))
}

export class ArrowFile {
  readonly #arrow: ArrowLibrary
  readonly #file: OutputFile
  readonly #sink: Sink
  readonly #schema: Schema
  readonly #writer: InstanceType<ArrowLibrary['RecordBatchFileWriter']>
  #previous: Promise<unknown>

  private constructor(arrow: ArrowLibrary, file: OutputFile, schema: Schema) {
    this.#arrow = arrow
    this.#file = file
    this.#schema = schema
    this.#sink = collectingSink(arrow)
    this.#writer = new arrow.RecordBatchFileWriter()
    this.#writer.reset(this.#sink.queue, schema)
    this.#previous = file.write([...this.#sink.take(), new Uint8Array(SCHEMA_SLOT)])
  }

  /** @param file opened without hashing, because its head is written last */
  static async open(arrow: ArrowLibrary, file: OutputFile, schema: Schema): Promise<ArrowFile> {
    const opened = new ArrowFile(arrow, file, schema)
    await opened.#previous
    return opened
  }

  /**
   * Writes the batch that `make` returns. Calls may overlap; they are carried out in order.
   * @returns position in the file behind the batch's body
   */
  write(make: () => RecordBatch): Promise<number> {
    const written = this.#previous.then(async () => {
      this.#writer.write(make())
      const chunks = this.#sink.take()
      // the library drops a batch silently where it rejects the schema (apache/arrow-js#388)
      if (chunks.length === 0) throw new Error('apache-arrow wrote nothing for a batch')
      await this.#file.write(chunks)
      return this.#file.bytes
    })
    this.#previous = written
    return written
  }

  /** Writes the footer and, at the head of the file, the schema with its present metadata. */
  async finish(): Promise<FileSummary> {
    await this.#previous
    this.#writer.close()
    const tail = Buffer.concat(this.#sink.take())
    shiftBlockOffsets(tail, SCHEMA_SLOT)
    await this.#file.write(tail)
    await this.#file.overwrite(HEAD_BYTES, schemaSlot(schemaStream(this.#arrow, this.#schema)))
    return this.#file.end()
  }
}

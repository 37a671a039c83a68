/**
 * A Parquet file as random access over one open handle, never whole in memory: the seam is hyparquet's AsyncBuffer
 * (`byteLength`, `slice`). The file must stand still from opening to `assertStill`: size, modification time, identity.
 */
import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { stat, type FileHandle } from 'node:fs/promises'
import { EXIT, Fault, describeCause, printable } from '../../core/errors.js'
import { openRegular } from '../../core/system/open.js'

const MIB = 1024 * 1024

/** Bytes by position; `slice` gives exactly the bytes asked for, in memory of their own. */
export interface ByteSource {
  readonly byteLength: number
  slice(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
}

export interface StillFile extends ByteSource {
  /** SHA-256 of the whole file, hexadecimal, in one pass; `onBytes` hears how many bytes each step added */
  sha256(signal?: AbortSignal, onBytes?: (bytes: number) => void): Promise<string>
  /** @throws Fault exit 1 where the file is no longer what it was when it was opened */
  assertStill(): Promise<void>
  close(): Promise<void>
}

/** @throws Fault exit 3 where the file is missing, unreadable or not a regular file */
export async function openStill(path: string): Promise<StillFile> {
  const { handle, stat: before } = await openRegular(path)
  return stillFile(path, handle, before)
}

function stillFile(path: string, handle: FileHandle, before: BigIntStats): StillFile {
  const byteLength = Number(before.size)
  const fill = async (buffer: Uint8Array, start: number): Promise<void> => {
    let filled = 0
    while (filled < buffer.length) {
      const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, start + filled)
        .catch((cause: unknown) => { throw unreadable(path, describeCause(cause), cause) })
      if (bytesRead === 0) throw changed(path, `${start + filled} bytes, then no more`)
      filled += bytesRead
    }
  }
  return {
    byteLength,
    async slice(start, end) {
      const buffer = new Uint8Array(new ArrayBuffer(end - start))
      await fill(buffer, start)
      return buffer
    },
    async sha256(signal, onBytes) {
      const hash = createHash('sha256')
      const buffer = Buffer.allocUnsafeSlow(Math.min(MIB, Math.max(1, byteLength)))
      for (let at = 0; at < byteLength; at += buffer.length) {
        signal?.throwIfAborted()
        const chunk = buffer.subarray(0, Math.min(buffer.length, byteLength - at))
        await fill(chunk, at)
        hash.update(chunk)
        onBytes?.(chunk.length)
      }
      return hash.digest('hex')
    },
    async assertStill() {
      const named = await stat(path, { bigint: true })
        .catch((cause: unknown) => { throw unreadable(path, describeCause(cause), cause) })
      for (const after of [await handle.stat({ bigint: true }), named]) {
        if (after.size !== before.size) throw changed(path, `${before.size} bytes, then ${after.size}`)
        if (after.mtimeNs !== before.mtimeNs) throw changed(path, 'another modification time')
        if (after.ino !== before.ino || after.dev !== before.dev) throw changed(path, 'another file under its name')
      }
    },
    close: () => handle.close()
  }
}

function changed(path: string, found: string): Fault {
  return new Fault({
    format: 'parquet', problem: 'changed while it was read', found, expected: 'the same file before and after',
    place: { file: path }, exitCode: EXIT.checkFailed
  })
}

function unreadable(path: string, found: string, cause?: unknown): Fault {
  return new Fault({
    format: 'file', problem: 'unreadable', found: printable(found, 400), expected: 'a regular file',
    place: { file: path }, cause
  })
}

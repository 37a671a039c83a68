/** Reads the width and height that a PNG states, so that a page can reserve room for it. */
import { Fault, printable } from '../../core/errors.js'

const SIGNATURE = '89504e470d0a1a0a'

/** @throws Fault where the bytes are no PNG */
export function pngSize(bytes: Uint8Array, name: string): { readonly width: number; readonly height: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const head = Buffer.from(bytes.subarray(0, 8)).toString('hex')
  if (bytes.byteLength < 24 || head !== SIGNATURE) {
    throw new Fault({
      format: 'page',
      problem: 'figure',
      found: `${bytes.byteLength} bytes that are no PNG`,
      expected: 'a PNG',
      place: { member: printable(name) }
    })
  }
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

/** The bytes of script#data, by our own reader. */
import { DataElement } from '../../src/ingest/html/data-element.js'

export function contentOf(page: Buffer): Buffer {
  const element = new DataElement()
  return Buffer.concat([...element.push(page), ...element.end()])
}

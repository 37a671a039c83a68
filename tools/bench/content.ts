/** The bytes of script#data, by our own reader. */
import { DataElement } from '../../src/ingest/html/data-element.js'

export async function contentOf(page: Buffer): Promise<Buffer> {
  const element = new DataElement()
  return Buffer.concat([...(await element.push(page)), ...(await element.end())])
}

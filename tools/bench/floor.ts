/** The floor: read a file and SHA-256 it. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

const hash = createHash('sha256')
for await (const chunk of createReadStream(process.argv[2], { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) hash.update(chunk)
process.stdout.write(`${hash.digest('hex')}\n`)

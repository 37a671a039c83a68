/** The least that a run can take: reads a file and hashes it with SHA-256. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

const hash = createHash('sha256')
for await (const chunk of createReadStream(process.argv[2], { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) hash.update(chunk)
process.stdout.write(`${hash.digest('hex')}\n`)

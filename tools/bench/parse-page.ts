/** Parses the page with JSON.parse, to measure what that takes without verification and statistics. */
import { readFileSync } from 'node:fs'
import { contentOf } from './content.js'

const { traces } = JSON.parse((await contentOf(readFileSync(process.argv[2]))).toString('utf8')) as { traces: unknown[] }
process.stdout.write(`${traces.length}\n`)

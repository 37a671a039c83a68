/** Preloaded with --import: the process says at its end how much memory it held at most, in KiB. */
import { writeSync } from 'node:fs'

process.on('exit', () => writeSync(2, `max-rss ${process.resourceUsage().maxRSS}\n`))

/** In place of the process that reads files twice: what a library might do there, by the name of the file. */
import { basename } from 'node:path'
import type { SecondTask } from '../../src/second/formats.js'
import { readTwice } from '../../src/second/formats.js'
import { compareHistory } from '../../src/second/history.js'
import { parseHistory } from '../../src/ingest/histories/parse.js'

process.on('message', message => {
  const task = message as SecondTask
  switch (basename(task.file)) {
    case 'first.jsonl':
      // Our reader reads 0.25 as another number.
      if (task.format === 'history') {
        void compareHistory(task.file, task.request, async (text, keys, wanted) => {
          const rows = await parseHistory(
            (async function* whole() {
              yield text
            })(),
            { keys, wanted }
          )
          for (const { key, value } of rows.columns) if (key === 'reward') value[0] += 2 ** -52
          return rows
        }).then(reading => process.send?.(reading))
      }
      break
    case 'ref.jsonl':
      setTimeout(() => {
        throw new Error('behind its back')
      }, 0)
      break
    case 'hang.npz':
      for (;;);
    default:
      void readTwice(task).then(reading => process.send?.(reading))
  }
})

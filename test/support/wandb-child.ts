/**
 * A process of its own that sends one query and prints what came of it as one line of JSON; it ends when nothing is left
 * open. Arguments: base URL, `close` or `leave`. The key is in its environment.
 */
import { inspect } from 'node:util'
import { Fault } from '../../src/core/errors.js'
import { parseAddress } from '../../src/ingest/certificate/address.js'
import { WandbClient } from '../../src/fetch/client.js'
import { findApiKey } from '../../src/fetch/key.js'
import { findProxy } from '../../src/fetch/proxy.js'

const [url, ending] = process.argv.slice(2)
const address = parseAddress(url)
const proxy = findProxy(process.env, address.endpoint)
const client = new WandbClient({ address, key: await findApiKey(process.env, address), deadlineMs: 20_000, proxy })
const answer = await client.query('query Viewer { viewer { id } }', {}, 'the viewer').then(
  data => ({ data }),
  (error: unknown) => ({
    fault: error instanceof Fault ? error.message : 'no Fault',
    all: inspect(error, { depth: Infinity, showHidden: true })
  })
)
if (ending === 'close') client.close()
process.stdout.write(`${JSON.stringify(answer)}\n`)

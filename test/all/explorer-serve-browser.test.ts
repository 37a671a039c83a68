/** A served page in a real browser: it shows the numbers of its server, asks for nothing else, and says when the server has gone. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { openTracePool } from '../../src/compute/traces/pool.js'
import { ExplorerServer } from '../../src/runs/explorer-server.js'
import { readServed } from '../../src/runs/serve-explorer.js'
import { findSnapshots } from '../../src/study/inventory.js'
import { withBrowser } from '../support/browser-pages.js'
import { becomes } from '../support/cpu.js'
import { opened } from '../support/explorer-browser.js'
import { fixture } from '../support/paths.js'
import { settings } from '../support/run.js'

interface ExpectedTrace {
  readonly name: string
  readonly tokens: number
  readonly values: readonly number[]
}

const pool = openTracePool(1)
t.teardown(() => pool.destroy())

await withBrowser(async browser => {
  await t.test('a served page', async t => {
    const { traces } = JSON.parse(readFileSync(fixture('explorer/expected.json'), 'utf8')) as { readonly traces: readonly ExpectedTrace[] }
    const trace = traces.findIndex(({ tokens }) => tokens > 50)
    const { tokens, values } = traces[trace]
    const server = await ExplorerServer.open(0)
    t.teardown(() => server.close())
    const run = await readServed({ plans: await findSnapshots([fixture('explorer/traces')]), settings: settings(), pool, texts: false })
    t.teardown(() => run.close())
    server.serve(run.explorer)
    const found = await opened(t, browser, `${server.url}#t=${trace}&c=7`)
    const { page } = found
    const read = (): Promise<string> => page.locator('.read-out').innerText()
    await becomes(async () => (await read()).includes(String(values[7])))
    t.match(await read(), String(values[7]), 'the value of numpy')
    t.equal(await page.locator('.plot').getAttribute('data-shown'), `0-${tokens - 1}`)
    await page.locator('.plot').press('+')
    await becomes(async () => (await page.locator('.plot').getAttribute('data-shown')) !== `0-${tokens - 1}`)
    t.strictSame(
      found.complaints.filter(line => !line.startsWith(`request: ${server.url}tokens?`)),
      [],
      'no request but for tokens, no complaint of its policy'
    )
    await server.close()
    await page.locator('.plot').press('+')
    await page.locator('.note:not([hidden])').waitFor()
    t.match(await page.locator('.note').first().innerText(), /^The tokens of trace \d+ cannot be read: the server does not answer$/)
    const strip = page.locator('.minimap canvas')
    const inked = (): Promise<boolean> => strip.evaluate(canvas => (canvas as HTMLCanvasElement).width > 0)
    t.ok(await inked())
    await page.locator(`tr[data-trace="${trace === 0 ? 1 : 0}"] td.mean`).click()
    await becomes(async () => !(await inked()))
    t.notOk(await inked(), 'the strip of another trace is not shown')
    t.match(await page.locator('.note').first().innerText(), /: the server does not answer$/)
    await page.getByRole('button', { name: 'SVG', exact: true }).click()
    await becomes(async () => (await page.locator('.note').first().innerText()).startsWith('The SVG'))
    t.equal(await page.locator('.note').first().innerText(), 'The SVG is not saved: the tokens in view are not loaded')
  })
})

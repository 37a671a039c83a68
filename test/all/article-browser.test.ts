/** The article that `all` makes of the replica, in a real browser. The other page, and a failed audit: page-browser.test.ts. */
import { statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { PAGES, pageFile, testLinks, testPage, withBrowser } from '../support/browser-pages.js'
import { runReplica } from '../support/replica-run.js'

await withBrowser(async browser => {
  const run = await runReplica(t)
  const bytes = PAGES.reduce((sum, name) => sum + statSync(pageFile(run, name)).size, 0)
  t.ok(bytes < 8_000_000, `both pages have ${bytes} bytes`)
  await t.test('article', t => testPage(t, browser, pathToFileURL(pageFile(run, 'article')).href, run))
  await t.test('links lead somewhere', t => testLinks(t, browser, run))
})

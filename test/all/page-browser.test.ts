/** The other pages that `all` makes, in a real browser: the notes, both pages of a failed audit, and one that somebody smuggled into. */
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { pageFile, testFailure, testPage, testPolicy, withBrowser } from '../support/browser-pages.js'
import { runReplica, runWrongReplica } from '../support/replica-run.js'

await withBrowser(async browser => {
  const run = await runReplica(t)
  await t.test('source-notes', t => testPage(t, browser, pathToFileURL(pageFile(run, 'source-notes')).href, run))
  await t.test('a failed audit', async t => testFailure(t, browser, await runWrongReplica(t)))
  await t.test('a page may not ask for anything', t => testPolicy(t, browser, pageFile(run, 'article')))
})

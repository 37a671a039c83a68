/** The page of `diagnose` in a real browser: nothing asked for, findings first, fit for a phone, in the dark, and hostile names inert. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import type { Browser } from 'playwright-core'
import { cutWords, open, seriousViolations, withBrowser } from '../support/browser-pages.js'
import { runCli } from '../support/cli.js'
import { CLEAN, diagnosticDump, type DumpPlan } from '../support/diagnostic-dumps.js'
import { writeDump } from '../support/diagnostic-files.js'
import { tree } from '../support/folders.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-diagnostics-page-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))

const FAULTY: DumpPlan = { ...CLEAN, samples: 24, steps: 3, rule: 'every-token', finalReward: 'last token', fault: 'final-reward-masked' }
/** Names that would do something if they were markup. */
const HOSTILE_NAME = '<img src=x onerror=alert(1)>'
const HOSTILE_UID = '<script>alert("uid")</script>\u202e=cmd'
const SIZES = [
  { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }
] as const

/** Makes the pages. @returns their paths */
async function pages(): Promise<{ readonly one: string; readonly two: string }> {
  const folder = join(work, HOSTILE_NAME)
  mkdirSync(folder)
  writeDump(join(folder, 'dump.jsonl'), diagnosticDump(FAULTY), (row, i) => ({ ...row, uid: `${HOSTILE_UID}${i % 8}${'x'.repeat(300)}` }))
  writeDump(join(work, 'other.jsonl'), diagnosticDump({ ...CLEAN, samples: 24, steps: 3, seed: 2 }))
  const page = async (out: string, ...args: readonly string[]): Promise<string> => {
    const run = await runCli(['diagnose', folder, '--gamma', '1', '--out', join(work, out), '--formats', 'png', ...args])
    if (run.code !== 1) throw new Error(run.stderr)
    return join(work, out, readdirSync(join(work, out))[0], 'preview/diagnostics.html')
  }
  return { one: await page('one'), two: await page('two', '--against', join(work, 'other.jsonl')) }
}

async function testLayout(t: Test, browser: Browser, url: string): Promise<void> {
  for (const options of SIZES) {
    const where = `${options.viewport.width} pixels, ${options.colorScheme}`
    const { page, complaints } = await open(t, browser, url, options)
    await page.evaluate(() => {
      for (const group of Array.from(document.querySelectorAll('details'))) group.open = true
    })
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), options.viewport.width, `${where}: no sideways scrolling`)
    const cut = (await cutWords(page)).filter(word => !word.includes('script>'))
    t.same(cut.slice(0, 5), [], `${where}: no word is cut, uids without a space apart`)
    t.equal(await page.locator('figure svg:visible').count(), 2, `${where}: both figures are drawn`)
    t.same(complaints, [], `${where}: no message on the console, and no request`)
    t.same(await seriousViolations(t, browser, url, options), [], `${where}: axe finds nothing serious, contrast included`)
  }
  const dark = await open(t, browser, url, SIZES[2])
  const [paper, ink] = await dark.page.evaluate(() => {
    const { backgroundColor, color } = getComputedStyle(document.body)
    return [backgroundColor, color].map(colour => Math.max(...(colour.match(/\d+/g) ?? []).map(Number)))
  })
  t.ok(paper < 60 && ink > 200, 'dark paper, light ink')
}

await withBrowser(async browser => {
  const { one, two } = await pages()
  const url = pathToFileURL(one).href

  t.test('one critic', t => testLayout(t, browser, url))
  t.test('two critics', t => testLayout(t, browser, pathToFileURL(two).href))

  t.test('findings first, in plain words', async t => {
    const { page } = await open(t, browser, url, SIZES[0])
    t.match(await page.getByRole('alert').innerText(), /^What was told differs from what the numbers show: gamma\.$/)
    const [first, ...rest] = await page.locator('main h2').allInnerTexts()
    t.equal(first, 'Findings')
    t.strictSame(rest, ['How the returns were made', 'How good the critic is', 'Figures', 'What was read'])
    t.match(
      await page.locator('main').innerText(),
      /^Findings\s+1 fault and 1 property of the trainer\.\s+FAULT\s*final-reward-masked\s+The final reward sits/
    )
    const lead = page.locator('.lead')
    t.ok(await lead.evaluate(element => element.getBoundingClientRect().top < innerHeight), 'on the first screen')
  })

  t.test('links lead to files beside the page, to its sections, or to the public report', async t => {
    const { page } = await open(t, browser, url)
    const { links, ids } = await page.evaluate(() => ({
      links: Array.from(document.links, ({ href }) => href),
      ids: Array.from(document.querySelectorAll('[id]'), ({ id }) => id)
    }))
    const root = join(one, '../..')
    const files = new Set(tree(root).map(path => join(root, path)))
    const lost = links.filter(link => {
      if (link.startsWith('https://github.com/')) return false
      const { hash, pathname } = new URL(link)
      return hash === '' ? !files.has(fileURLToPath(new URL(pathname, link))) : !ids.includes(hash.slice(1))
    })
    t.same(lost, [])
    t.ok(links.length > 10)
  })

  t.test('names and uids of the dump do nothing', async t => {
    const { page, complaints } = await open(t, browser, url, SIZES[0])
    let dialogs = 0
    page.on('dialog', dialog => {
      dialogs++
      void dialog.dismiss()
    })
    await page.reload()
    t.equal(dialogs, 0)
    t.strictSame(
      await page.evaluate(() => [document.scripts.length, document.querySelectorAll('img').length]),
      [0, 0],
      'no element is made of them'
    )
    t.equal(await page.title(), `Diagnostics of the critic: ${HOSTILE_NAME}`)
    const text = await page.locator('main').innerText()
    t.match(text, '<script>alert("uid")</script>\\u202e=cmd', 'they are text')
    t.notMatch(text, /\u202e|x{100}/, 'without a direction of their own, and cut where they are long')
    t.strictSame(
      complaints.filter(line => !line.startsWith('request: ')),
      []
    )
  })

  t.test('what somebody smuggles into the page may not run', async t => {
    const file = join(one, '../smuggled.html')
    const smuggled = '<script>document.title = "run"</script><img src="https://example.invalid/x.png"><p id="x" style="color: red">x</p>'
    writeFileSync(file, readFileSync(one, 'utf8').replace('</body>', `${smuggled}</body>`))
    const { page, complaints } = await open(t, browser, pathToFileURL(file).href)
    t.not(await page.title(), 'run')
    t.not(await page.locator('#x').evaluate(x => getComputedStyle(x).color), 'rgb(255, 0, 0)')
    t.equal(complaints.filter(c => /Content Security Policy/.test(c)).length, 3, complaints.join('\n'))
  })
})

/** What the tests of the explorer in a browser share: traces, and what is asked of the page. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import type { Test } from 'tap'
import { open } from './browser-pages.js'
import { becomes } from './cpu.js'
import { explorerHtml, type ExploredSnapshotOfTest, type ExploredTrace } from './explorer-pages.js'

export const DESKTOP = { viewport: { width: 1440, height: 900 } }
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
export const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202e=cmd()\u0007'

/** Value of token i of trace k: exact in a float32, with one jump of 2 behind token 300 + k. */
export function valueAt(trace: number, token: number): number {
  return (token % 16) / 64 + trace / 128 + (token > 300 + trace ? 2 : 0)
}

/** 40 traces of 1,000 tokens in turns of 100. Trace 0 has texts of tokens, the others texts of turns. */
export function traces(): readonly ExploredTrace[] {
  return Array.from({ length: 40 }, (_, trace) => {
    const turns = Array.from({ length: 10 }, (_, turn) => (turn === 3 ? HOSTILE : `turn ${turn} of trace ${trace}, and so on\n`))
    return {
      values: Float32Array.from({ length: 1000 }, (_, token) => valueAt(trace, token)),
      starts: Array.from({ length: 9 }, (_, k) => 100 * (k + 1)),
      fields: {
        step: trace >> 2,
        outcome: trace % 3 === 0 ? 'success' : trace % 3 === 1 ? 'failure' : null,
        uid: trace === 5 ? HOSTILE : `uid-${trace >> 1}`
      },
      texts: {
        turns,
        tokens:
          trace === 0
            ? turns.map((_, turn) => Array.from({ length: 100 }, (_, k) => (turn === 3 ? HOSTILE : `t${100 * turn + k} `)))
            : null,
        removed: trace === 0 ? 2 : 0
      }
    }
  })
}

export const DIAGNOSTICS =
  '<h2 id="findings">Findings</h2><div class="finding fault"><h3>final-reward-masked</h3><p>The final reward is masked.</p></div>'

/** Writes pages of the explorer into a folder of the test. What it returns gives the address of each. */
export function pageWriter(t: Test): (name: string, ...snapshots: readonly ExploredSnapshotOfTest[]) => string {
  const work = mkdtempSync(join(tmpdir(), 'critic-traces-explorer-page-'))
  t.teardown(() => rmSync(work, { recursive: true, force: true }))
  return (name, ...snapshots) => {
    const file = join(work, `${name}.html`)
    writeFileSync(file, explorerHtml(snapshots))
    return pathToFileURL(file).href
  }
}

/** What the read-out says, line by line. Asked for at once: its lines are made anew with every change. */
export function facts(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    Array.from(document.querySelectorAll<HTMLElement>('.read-out .line'), line => line.innerText.replace(/\s+/g, ' ').trim())
  )
}

export async function says(t: Test, page: Page, expected: readonly string[], message: string): Promise<void> {
  await becomes(async () => JSON.stringify(await facts(page)) === JSON.stringify(expected))
  t.same(await facts(page), expected, message)
}

export async function shows(t: Test, page: Page, range: string, message: string): Promise<void> {
  const shown = (): Promise<string | null> => page.locator('.plot').first().getAttribute('data-shown')
  await becomes(async () => (await shown()) === range)
  t.equal(await shown(), range, message)
}

export async function addressed(t: Test, page: Page, hash: string): Promise<void> {
  const now = (): string => new URL(page.url()).hash
  await becomes(() => now() === hash)
  t.equal(now(), hash)
}

function tableRows(page: Page): Promise<readonly string[]> {
  return page.locator('.traces tbody tr:not(.gap) td.trace').allInnerTexts()
}

export async function hasRows(t: Test, page: Page, first: readonly string[], message: string): Promise<void> {
  const seen = async (): Promise<readonly string[]> => (await tableRows(page)).slice(0, first.length)
  await becomes(async () => JSON.stringify(await seen()) === JSON.stringify(first))
  t.same(await seen(), first, message)
}

export async function download(page: Page, button: string): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button, exact: true }).click()])
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) }
}

/** Red of the corner of the first drawing. */
export function paperOf(page: Page): Promise<number | undefined> {
  return page
    .locator('.plot canvas')
    .first()
    .evaluate(canvas => (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(1, 1, 1, 1).data[0])
}

export async function opened(t: Test, browser: Browser, url: string, options: object = DESKTOP): ReturnType<typeof open> {
  const found = await open(t, browser, url, options)
  await found.page.locator('.plot[data-shown]').first().waitFor()
  // The page itself is asked for, without the hash.
  const [address] = url.split('#')
  return {
    page: found.page,
    get complaints() {
      return found.complaints.filter(line => line !== `request: ${address}`)
    }
  }
}

/**
 * Checks of the pages that `all` makes of the replica, in a real browser, headless: nothing asked for, nothing complained about, reached
 * by keyboard, fit for a phone, in the dark, in print; pictures, hashes and links are those of the files beside the pages.
 * Needs Debian's chromium (`apt-get install chromium`) or a browser named by CRITIC_TRACES_CHROMIUM.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createCanvas, loadImage, type Image } from 'canvas'
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { testKeyboard, testPanels, testPointer, testStops, testTaps } from './browser-panels.js'
import { becomes } from './cpu.js'
import { tree } from './folders.js'
import { FIGURE_NAMES } from './page-inputs.js'
import type { ReplicaRun } from './replica-run.js'

export const PAGES = ['article', 'source-notes'] as const
const DESKTOP = { viewport: { width: 1280, height: 900 } }
/** Milliseconds after which something does not happen any more. */
const PATIENCE = 180_000
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }
const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const named = process.env['CRITIC_TRACES_CHROMIUM']
const executablePath = (named === undefined ? CANDIDATES : [named]).find(path => existsSync(path))

/** Runs the tests of the pages in a browser; without one they are skipped, and that is said. */
export async function withBrowser(test: (browser: Browser) => Promise<void>): Promise<void> {
  if (executablePath === undefined) {
    t.pass('pages in a browser', { skip: `no Chromium at ${named ?? CANDIDATES.join(', ')}: apt-get install chromium` })
    return
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: PATIENCE })
  t.teardown(() => browser.close())
  await test(browser)
}

export function pageFile({ out }: ReplicaRun, name: string): string {
  return join(out, 'preview', `${name}.html`)
}

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string }[]
}

interface Opened {
  readonly page: Page
  /** what the page wrote to the console, errors that it threw, and every request that left it */
  readonly complaints: readonly string[]
}

export async function open(t: Test, browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext(options)
  t.teardown(() => context.close())
  context.setDefaultTimeout(PATIENCE)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', message => complaints.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', error => complaints.push(`error: ${error.message}`))
  page.on('request', request => {
    if (request.url() !== url && !request.url().startsWith('data:')) complaints.push(`request: ${request.url()}`)
  })
  page.on('requestfailed', request => complaints.push(`failed: ${request.failure()?.errorText ?? 'unknown'}`))
  await page.goto(url, { waitUntil: 'load' })
  return { page, complaints }
}

/** Whether it does, at last: on a busy machine a page takes its time to answer a key, the pointer or a link. */
async function turns(state: 'visible' | 'hidden', locator: Locator): Promise<boolean> {
  return locator.waitFor({ state, timeout: PATIENCE }).then(
    () => true,
    () => false
  )
}

export async function testPage(t: Test, browser: Browser, url: string, run: ReplicaRun): Promise<void> {
  const { page, complaints } = await open(t, browser, url, { viewport: { width: 1280, height: 900 } })
  t.equal(await page.evaluate(() => getComputedStyle(document.body).marginTop), '0px', 'the style sheet is allowed')

  await page.keyboard.press('Tab')
  await becomes(() => page.evaluate(() => document.activeElement !== document.body))
  t.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the text', 'the first stop is the skip link')
  t.ok(await becomes(() => page.locator('.skip').evaluate(link => link.getBoundingClientRect().left >= 0)), 'which is then in view')
  await page.keyboard.press('Enter')
  await testPointer(t, page)
  await testKeyboard(t, page)
  await testStops(t, page)
  await testPanels(t, page, run)
  await testContents(t, browser, url)
  await testFigures(t, page, run)
  t.same(await seriousViolations(t, browser, url, { colorScheme: 'light' }), [], 'axe finds nothing serious')
  t.same(
    await seriousViolations(t, browser, url, { colorScheme: 'dark', viewport: { width: 360, height: 740 } }),
    [],
    'nor in the dark on a phone'
  )
  await testTables(t, browser, url)
  await testPhone(t, browser, url)
  await testUnderscores(t, browser, url)
  await testLabel(t, browser, url)
  await testSchemes(t, page)
  t.same(complaints, [], 'no message on the console and no request')
}

/** Each figure is seen as its file looks, in the colours of the page: light as the PNG, dark on a dark ground. */
async function testFigures(t: Test, page: Page, { out }: ReplicaRun): Promise<void> {
  const shown = await page.locator('figure').evaluateAll(figures => figures.map(({ id }) => id))
  t.same(shown, t.name === 'article' ? FIGURE_NAMES.map(name => `figure-${name}`) : [], 'every figure stands in the article')
  for (const id of shown) {
    const svg = page.locator(`[id="${id}"] .wide svg`)
    const drawn = await loadImage(join(out, 'figures', `${id.replace('figure-', '')}.png`))
    const seen = await loadImage(await svg.screenshot())
    const [same, turned] = [difference(seen, drawn, false), difference(seen, drawn, true)]
    t.ok(same < 10 && same < turned / 2, `${id} looks like its file: ${same.toFixed(1)}, upside down ${turned.toFixed(1)}`)
    t.notOk(await page.locator(`[id="${id}"] .narrow svg`).isVisible(), 'in one layout')
  }
  const [first] = shown
  if (first === undefined) return
  const ground = (): Promise<string> =>
    page
      .locator(`[id="${first}"] .wide svg [fill*=figure-ffffff]`)
      .first()
      .evaluate(ground => getComputedStyle(ground).fill)
  t.equal(await ground(), 'rgb(255, 255, 255)')
  await page.emulateMedia({ colorScheme: 'dark' })
  t.equal(await ground(), await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'dark on a dark page')
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Mean difference of coarse pixels, 0 to 255, of what is seen and of a file. */
function difference(seen: Image, file: Image, upsideDown: boolean): number {
  const read = (image: Image, turned: boolean): Uint8ClampedArray => {
    const context = createCanvas(60, 60).getContext('2d')
    context.patternQuality = 'best'
    if (turned) context.setTransform(1, 0, 0, -1, 0, 60)
    context.drawImage(image, 0, 0, 60, 60)
    return context.getImageData(0, 0, 60, 60).data
  }
  const [a, b] = [read(seen, false), read(file, upsideDown)]
  return a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / a.length
}

export async function seriousViolations(
  t: Test,
  browser: Browser,
  url: string,
  options: BrowserContextOptions
): Promise<readonly string[]> {
  const { page } = await open(t, browser, url, { ...options, bypassCSP: true })
  await page.addScriptTag({ content: readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8') })
  const violations = (await page.evaluate('axe.run().then(result => result.violations)')) as readonly Violation[]
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.length}, first ${nodes[0].html.slice(0, 200)}`)
}

/** Folded tables open by keyboard, for whoever is sent to one of their rows, and on paper; no word in a cell is cut in two. */
async function testTables(t: Test, browser: Browser, url: string): Promise<void> {
  const { page } = await open(t, browser, url, { viewport: { width: 1280, height: 900 } })
  const details = page.locator('.claims > details')
  const count = await details.count()
  if (count > 0) {
    // The article has a section of the audit for each of the publication, the notes their guards alone.
    const [second, third] = [details.nth(Math.min(1, count - 1)), details.nth(Math.min(2, count - 1))]
    const row = second.locator('tbody tr').last()
    t.notOk(await row.isVisible(), 'a section is folded')
    await second.locator('summary').focus()
    await page.keyboard.press('Enter')
    t.ok(await turns('visible', row), 'and opened by the keyboard')
    const { page: sent } = await open(t, browser, `${url}#${(await third.locator('tbody tr').last().getAttribute('id')) ?? ''}`)
    t.ok(
      await turns(
        'visible',
        sent
          .locator('.claims > details')
          .nth(Math.min(2, count - 1))
          .locator('tbody tr')
          .last()
      ),
      'a link to a row opens its section'
    )
    await sent.emulateMedia({ media: 'print' })
    // The page is laid out anew after the medium has changed.
    const allThere = sent.waitForFunction(() =>
      Array.from(document.querySelectorAll('.claims tbody tr')).every(
        row => (row as HTMLElement).checkVisibility({ contentVisibilityAuto: true }) && row.getBoundingClientRect().height > 0
      )
    )
    t.ok(
      await allThere.then(
        () => true,
        () => false
      ),
      'on paper every claim is there'
    )
  }
  await page.evaluate(() => {
    for (const group of Array.from(document.querySelectorAll('details'))) group.open = true
  })
  for (const width of [1280, 800, 360]) {
    await page.setViewportSize({ width, height: 900 })
    t.same((await cutWords(page)).slice(0, 5), [], `no word is cut at ${width} pixels`)
  }
  await page.setViewportSize({ width: 673, height: 900 })
  await page.emulateMedia({ media: 'print' })
  t.same((await cutWords(page)).slice(0, 5), [], 'nor on paper')
  t.ok(
    await page.evaluate(() =>
      Array.from(document.querySelectorAll('table.made')).every(table => getComputedStyle(table).display === 'table')
    ),
    'where tables are tables'
  )
}

/** Words of the program's tables that stand on two lines; a hash has no words. */
export function cutWords(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const cut: string[] = []
    for (const cell of Array.from(document.querySelectorAll('table.made :is(th, td)'))) {
      // On narrow screens the head is out of sight: each cell says its own.
      const head = cell.closest('thead')
      if (head !== null && getComputedStyle(head).position === 'absolute') continue
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
      for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
        if (node.parentElement?.closest('.hash') !== null) continue
        for (const { 0: word, index } of (node.textContent ?? '').matchAll(/[^\s-]{6,}/g)) {
          const range = document.createRange()
          range.setStart(node, index)
          range.setEnd(node, index + word.length)
          if (new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size > 1) cut.push(word)
        }
        if (cell.scrollWidth > cell.clientWidth + 1) cut.push(`overflow: ${cell.textContent ?? ''}`)
      }
    }
    return cut
  })
}

async function testPhone(t: Test, browser: Browser, url: string): Promise<void> {
  const { page, complaints } = await open(t, browser, url, PHONE)
  const width = (): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth)
  t.equal(await width(), 360, 'no sideways scrolling on a phone')
  await testTaps(t, page)
  await testPictures(t, page)
  await page.evaluate(() => {
    for (const group of Array.from(document.querySelectorAll('details'))) group.open = true
  })
  t.equal(await width(), 360, 'nor with all tables open')
  t.ok(
    await page.locator('.strip b').evaluate(strip => {
      window.scrollTo(0, document.body.scrollHeight / 2)
      const { top, bottom } = strip.getBoundingClientRect()
      return top === 0 && bottom < 60
    }),
    'the synthetic label stays on top, on one line'
  )
  t.same(complaints, [])
}

/** A phone has the figures in one column, as wide as the text, with texts that can be read. */
async function testPictures(t: Test, page: Page): Promise<void> {
  const found = await page.locator('figure').evaluateAll(figures =>
    figures.map(figure => {
      const { left, right } = figure.querySelector('.narrow svg')?.getBoundingClientRect() ?? new DOMRect()
      const sizes = Array.from(figure.querySelectorAll('.narrow svg text'), text => text.getBoundingClientRect().height)
      return { id: figure.id, fits: left >= 0 && right <= 360 && right - left > 250, smallest: Math.min(...sizes) }
    })
  )
  t.same(
    found.filter(({ fits, smallest }) => !fits || smallest < 8),
    [],
    'every figure fits a phone, and its texts can be read'
  )
}

/** The line below a link leaves the underscores of its text to be seen: in figures' links, in tables' code, in the titles of panels. */
async function testUnderscores(t: Test, browser: Browser, url: string): Promise<void> {
  for (const [where, options] of [
    ['light', DESKTOP],
    ['dark', { ...DESKTOP, colorScheme: 'dark' }],
    ['phone', PHONE]
  ] as const) {
    const { page } = await open(t, browser, url, { deviceScaleFactor: 2, ...options })
    for (const selector of ['.files a', 'table.outputs a', '.p dd a']) {
      const link = page.locator(selector).filter({ hasText: '_' }).first()
      if ((await link.count()) === 0) {
        t.equal(t.name, 'source-notes', `${selector}: the article has such a link`)
        continue
      }
      if (selector.startsWith('.p')) {
        await link.evaluate(link => link.closest<HTMLElement>('.panels > .p')?.showPopover())
        await turns('visible', link)
      }
      t.equal(await inkBelow(page, link), 2, `${where}, ${selector}: an underscore, and a line apart from it`)
    }
  }
}

/** How many strokes there are one below the other where the first underscore of a link stands. */
async function inkBelow(page: Page, link: Locator): Promise<number> {
  const clip = await link.evaluate(link => {
    link.scrollIntoView({ block: 'center' })
    const texts = document.createTreeWalker(link, NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      const at = node.textContent?.indexOf('_') ?? -1
      if (at < 0) continue
      range.setStart(node, at)
      range.setEnd(node, at + 1)
      break
    }
    const { left, width, top, height } = range.getBoundingClientRect()
    return { x: left + width / 2, y: top, width: 1, height: height + 4 }
  })
  const image = await loadImage(await page.screenshot({ clip }))
  const context = createCanvas(image.width, image.height).getContext('2d')
  context.drawImage(image, 0, 0)
  const { data } = context.getImageData(0, 0, 1, image.height)
  const inked = Array.from({ length: image.height }, (_, y) => [0, 1, 2].some(k => Math.abs(data[4 * y + k] - data[k]) > 60))
  return inked.filter((ink, y) => ink && !(inked[y - 1] ?? false)).length
}

/** Whoever opens a page, or prints it, reads that it is synthetic before anything else, once. */
async function testLabel(t: Test, browser: Browser, url: string): Promise<void> {
  // A4 without the margins that the page asks for.
  const paper = { viewport: { width: 673, height: 986 } }
  for (const [where, options] of [
    ['a phone', PHONE],
    ['a desktop', { viewport: { width: 1280, height: 720 } }],
    ['paper', paper]
  ] as const) {
    const { page } = await open(t, browser, url, options)
    if (where === 'paper') await page.emulateMedia({ media: 'print' })
    const hidden = await page.evaluate(() =>
      ['.strip b', '.strip span'].filter(name => {
        const label = document.querySelector<HTMLElement>(name)
        if (label === null || !/synthetic/i.test(label.innerText)) return true
        const { left, right, top, bottom } = label.getBoundingClientRect()
        const onTop = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
        const colours = getComputedStyle(label)
        const inside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight && bottom - top > 10
        return !inside || onTop !== label || colours.color === colours.backgroundColor
      })
    )
    t.same(hidden, [], `the synthetic label is in sight on ${where}`)
    const edge = (selector: string, side: 'top' | 'bottom'): Promise<number> =>
      page.locator(selector).evaluate((element, side) => element.getBoundingClientRect()[side], side)
    t.ok((await edge('.strip span', 'bottom')) <= (await edge('h1', 'top')), 'and above the title')
    const screen = await page.evaluate(
      () =>
        Array.from(document.querySelectorAll<HTMLElement>('body *')).filter(
          element =>
            element.children.length === 0 &&
            element.getBoundingClientRect().top < innerHeight &&
            /^synthetic/i.test(element.innerText ?? '')
        ).length
    )
    t.equal(screen, 1, 'one notice on the first screen')
  }
}

/** The contents stand at the side of a wide screen and are folded on a phone; findings are on the first screen of both. */
async function testContents(t: Test, browser: Browser, url: string): Promise<void> {
  for (const [width, height] of [
    [1440, 900],
    [1180, 800],
    [390, 844]
  ]) {
    const { page } = await open(t, browser, url, { viewport: { width, height } })
    const { shown, apart, first, hint } = await page.evaluate(() => {
      const box = (selector: string): DOMRect => document.querySelector(selector)?.getBoundingClientRect() ?? new DOMRect()
      const list = document.querySelector('nav.contents li')
      return {
        shown: list?.checkVisibility({ contentVisibilityAuto: true }) === true && list.getBoundingClientRect().height > 0,
        apart:
          box('nav.contents').right <=
          Math.min(box('main').left, ...Array.from(document.querySelectorAll('figure, .made'), f => f.getBoundingClientRect().left)),
        first: box('main h2').bottom < innerHeight,
        hint: box('.how').bottom < box('main').top
      }
    })
    t.same(
      { shown, apart: apart || width < 1000 },
      { shown: width > 1000, apart: true },
      `${width} pixels: contents at the side, or folded`
    )
    t.ok(first && hint, 'the first section, and that numbers answer, are on the first screen')
    if (width > 1000) continue
    await page.locator('nav.contents summary').click()
    t.ok(await turns('visible', page.locator('nav.contents li').first()), 'a tap unfolds them')
  }
}

/** Nobody who opens or prints the pages of a failed audit can miss it, and the way to what failed is one step. */
export async function testFailure(t: Test, browser: Browser, { out }: ReplicaRun): Promise<void> {
  for (const name of PAGES) {
    const url = pathToFileURL(join(out, 'preview', `${name}.html`)).href
    t.same(await seriousViolations(t, browser, url, { colorScheme: 'light' }), [], 'axe finds nothing serious')
    t.same(
      await seriousViolations(t, browser, url, { colorScheme: 'dark', viewport: { width: 360, height: 740 } }),
      [],
      'nor in the dark on a phone'
    )
    for (const options of [PHONE, { viewport: { width: 1280, height: 720 } }, { viewport: { width: 673, height: 986 } }]) {
      const { page } = await open(t, browser, url, options)
      if (options.viewport.width === 673) await page.emulateMedia({ media: 'print' })
      const banner = page.getByRole('alert')
      t.match(await banner.innerText(), /^The audit failed: 3 of 337 claims differ, /)
      const seen = await banner.evaluate(element => {
        const { left, right, top, bottom } = element.getBoundingClientRect()
        const { backgroundColor, color } = getComputedStyle(element)
        return { inside: left >= 0 && right <= innerWidth && top > 0 && bottom <= innerHeight && bottom - top > 40, backgroundColor, color }
      })
      t.same(
        seen,
        { inside: true, backgroundColor: 'rgb(168, 29, 29)', color: 'rgb(255, 255, 255)' },
        `in sight on ${options.viewport.width} pixels`
      )
      t.equal(await page.evaluate(() => document.documentElement.scrollWidth), options.viewport.width, 'and fits')
      if (options.viewport.width !== 1280) continue
      await banner.getByRole('link').first().click()
      t.ok(await turns('visible', page.locator('tr:target')), 'the link shows the claim')
      t.match(page.url(), /article\.html#claim-eval\.gspo\.verified$/)
    }
  }
}

/** Every link of both pages leads to a file of the output folder, to an element of a page, or into the web. */
export async function testLinks(t: Test, browser: Browser, { out }: ReplicaRun): Promise<void> {
  const pages = new Map<string, { readonly ids: ReadonlySet<string>; readonly links: readonly string[] }>()
  for (const name of PAGES) {
    const path = join(out, 'preview', `${name}.html`)
    const { page } = await open(t, browser, pathToFileURL(path).href)
    const { ids, links } = await page.evaluate(() => ({
      ids: Array.from(document.querySelectorAll('[id]'), ({ id }) => id),
      links: Array.from(document.links, ({ href }) => href)
    }))
    pages.set(path, { ids: new Set(ids), links })
  }
  const outputs = new Set(tree(out).map(path => join(out, path)))
  const reached = new Set<string>()
  const lost = [...pages.values()]
    .flatMap(({ links }) => links)
    .filter(link => {
      if (link.startsWith('https://')) return false
      const url = new URL(link)
      const path = fileURLToPath(new URL(url.pathname, url))
      if (!outputs.has(path)) return true
      reached.add(path.slice(out.length + 1))
      return url.hash !== '' && pages.get(path)?.ids.has(decodeURIComponent(url.hash.slice(1))) !== true
    })
  t.same(lost, [])
  const figures = tree(join(out, 'figures')).map(path => `figures/${path}`)
  t.equal(figures.length, 30)
  const data = [
    'data.json',
    'derived_metrics.json',
    'wandb/plot_points_with_provenance.csv',
    'wandb/curve_statistics.json',
    'training_data/critic-traces.arrow'
  ]
  const expected = [...figures, ...data, ...PAGES.map(name => `preview/${name}.html`)]
  t.same(
    expected.filter(path => !reached.has(path)),
    [],
    'every figure, what it draws, and the other page can be reached'
  )
}

async function testSchemes(t: Test, page: Page): Promise<void> {
  const colours = (): Promise<readonly string[]> =>
    page.evaluate(() => {
      const { backgroundColor, color } = getComputedStyle(document.body)
      return [backgroundColor, color]
    })
  const light = await colours()
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await colours()
  t.not(light[0], dark[0])
  t.not(light[1], dark[1])
  await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
  t.equal((await colours())[0], 'rgb(255, 255, 255)', 'paper is white')
  for (const hidden of ['nav.contents', '.skip', '.how', '.panels'])
    t.notOk(await page.locator(hidden).isVisible(), `${hidden} is not printed`)
  for (const shown of ['.strip b', '.strip span', 'footer .notice']) t.ok(await page.locator(shown).isVisible(), `${shown} is printed`)
  const pdf = await page.pdf({ format: 'A4' })
  const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0
  t.ok(pages >= 2 && pages <= (t.name === 'article' ? 13 : 30), `${pages} printed pages`)
  await page.emulateMedia({ colorScheme: 'light', media: 'screen' })
}

/** The policy does what it says: a script, a picture and styles that somebody smuggled in do nothing. And axe does look. */
export async function testPolicy(t: Test, browser: Browser, path: string): Promise<void> {
  const smuggled =
    '<script>document.title = "run"</script><img src="https://example.invalid/x.png"><p id="x" style="color: red">x</p><style>p { color: red }</style>'
  const file = join(path, '..', 'smuggled.html')
  writeFileSync(file, readFileSync(path, 'utf8').replace('</body>', `${smuggled}</body>`))
  const { page, complaints } = await open(t, browser, pathToFileURL(file).href)
  t.not(await page.title(), 'run')
  t.not(await page.locator('#x').evaluate(x => getComputedStyle(x).color), 'rgb(255, 0, 0)')
  t.same(
    complaints.filter(c => c.startsWith('failed')),
    ['failed: csp'],
    'the picture was not asked for'
  )
  t.equal(complaints.filter(c => /Content Security Policy/.test(c)).length, 4, complaints.join('\n'))
  const found = await seriousViolations(t, browser, pathToFileURL(file).href, {})
  t.same(
    found.map(violation => violation.split(':')[0]),
    ['color-contrast', 'image-alt'],
    'axe finds the picture without a text and the pale red'
  )
}

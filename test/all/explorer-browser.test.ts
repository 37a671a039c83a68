/**
 * The explorer in a real browser: what it shows are the numbers of the outputs, an address restores what was seen, texts do nothing, every
 * row of the jumps leads to its place, table and curve obey the keyboard, files hold what is in view, phone, dark, axe.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { loadImage } from 'canvas'
import t, { type Test } from 'tap'
import type { Browser, Page } from 'playwright-core'
import { Random } from '../support/random.js'
import { becomes } from '../support/cpu.js'
import { open, seriousViolations, withBrowser } from '../support/browser-pages.js'
import { explorerHtml, type ExploredTrace } from '../support/explorer-pages.js'
import { runReplica } from '../support/replica-run.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-explorer-page-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))

const DESKTOP = { viewport: { width: 1440, height: 900 } }
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202e=cmd()\u0007'

/** Value of token i of trace k: exact in a float32, with one jump of 2 behind token 300 + k. */
function valueAt(trace: number, token: number): number {
  return (token % 16) / 64 + trace / 128 + (token > 300 + trace ? 2 : 0)
}

/** 40 traces of 1,000 tokens in turns of 100. Trace 0 has texts of tokens, the others texts of turns. */
function traces(): readonly ExploredTrace[] {
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

const DIAGNOSTICS =
  '<h2 id="findings">Findings</h2><div class="finding fault"><h3>final-reward-masked</h3><p>The final reward is masked.</p></div>'

async function written(name: string, ...snapshots: Parameters<typeof explorerHtml>[0]): Promise<string> {
  const file = join(work, `${name}.html`)
  writeFileSync(file, await explorerHtml(snapshots))
  return pathToFileURL(file).href
}

/** What the read-out says, line by line. Asked for at once: its lines are made anew with every change. */
function facts(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    Array.from(document.querySelectorAll<HTMLElement>('.read-out .line'), line => line.innerText.replace(/\s+/g, ' ').trim())
  )
}

async function says(t: Test, page: Page, expected: readonly string[], message: string): Promise<void> {
  await becomes(async () => JSON.stringify(await facts(page)) === JSON.stringify(expected))
  t.same(await facts(page), expected, message)
}

async function shows(t: Test, page: Page, range: string, message: string): Promise<void> {
  const shown = (): Promise<string | null> => page.locator('.plot').first().getAttribute('data-shown')
  await becomes(async () => (await shown()) === range)
  t.equal(await shown(), range, message)
}

async function addressed(t: Test, page: Page, hash: string): Promise<void> {
  const now = (): string => new URL(page.url()).hash
  await becomes(() => now() === hash)
  t.equal(now(), hash)
}

function tableRows(page: Page): Promise<readonly string[]> {
  return page.locator('.traces tbody tr:not(.gap) td.trace').allInnerTexts()
}

async function hasRows(t: Test, page: Page, first: readonly string[], message: string): Promise<void> {
  const seen = async (): Promise<readonly string[]> => (await tableRows(page)).slice(0, first.length)
  await becomes(async () => JSON.stringify(await seen()) === JSON.stringify(first))
  t.same(await seen(), first, message)
}

async function download(page: Page, button: string): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button, exact: true }).click()])
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) }
}

async function opened(t: Test, browser: Browser, url: string, options: object = DESKTOP): ReturnType<typeof open> {
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

await withBrowser(async browser => {
  const one = await written('one', { name: 'step <1>', traces: traces(), diagnostics: DIAGNOSTICS })
  const two = await written(
    'two',
    { name: 'first', traces: traces().slice(0, 6) },
    { name: 'second', traces: traces().slice(6, 9), diagnostics: DIAGNOSTICS }
  )

  t.test('an address restores what was seen', async t => {
    const { page, complaints } = await opened(t, browser, `${one}#t=7&r=290-320&c=308&sort=-jump&f.outcome=failure`)
    await shows(t, page, '290-320', 'the range')
    await says(t, page, ['Trace 7 Token 308 Position 348 Turn 4 Value 2.1171875 Return 1 Change 2.015625'], 'the cursor')
    await hasRows(t, page, ['1', '4', '7', '10'], 'filter and sort: the jumps are equal, so the order is the canonical one')
    t.equal(await page.locator('.traces th').nth(8).getAttribute('aria-sort'), 'descending')
    t.equal(await page.locator('tr[aria-selected="true"] td.trace').innerText(), '7')
    t.same(complaints, [], 'nothing is asked for')
  })

  t.test('an address that does not fit is left out, and that is said', async t => {
    const { page } = await opened(t, browser, `${one}#t=400&c=5&x=%3Cb%3E`)
    t.equal(await page.locator('.note').innerText(), 'Part of this address does not fit this page and is left out: x, t.')
    await says(t, page, [`Trace 0 Token 5 Position 15 Turn 1 Value ${valueAt(0, 5)} Return 1 Change 0.015625`], 'the rest holds')
  })

  t.test('back and forward', async t => {
    const { page } = await opened(t, browser, one)
    await page.locator('tr[data-trace="3"] td.mean').click()
    await addressed(t, page, '#t=3')
    await page.getByRole('tab', { name: 'Jumps' }).click()
    await addressed(t, page, '#t=3&tab=jumps')
    await page.goBack()
    await page.goBack()
    await becomes(async () => (await page.locator('.curve h2').innerText()) === 'Trace 0')
    t.equal(await page.locator('.curve h2').innerText(), 'Trace 0')
    t.ok(await page.locator('.traces').isVisible())
    await page.goForward()
    await becomes(async () => (await page.locator('.curve h2').innerText()) === 'Trace 3')
    t.equal(await page.locator('.curve h2').innerText(), 'Trace 3')
  })

  t.test('the table sorts, filters, and is used by keyboard', async t => {
    const { page } = await opened(t, browser, one)
    const press = (name: string): Promise<void> => page.locator('.traces th').getByRole('button', { name, exact: true }).click()
    await press('Mean')
    await press('Mean')
    // From trace to trace the later jump lowers the mean by 2/1000, the offset raises it by 1/128.
    await hasRows(t, page, ['39', '38', '37'], 'by falling mean')
    await page.getByLabel('Filter of Mean', { exact: true }).fill('<1.6')
    await page.getByLabel('Filter of Outcome').selectOption('none')
    const low = Array.from({ length: 40 }, (_, k) => k).filter(k => k % 3 === 2 && mean(k) < 1.6)
    t.ok(low.length > 0 && low.length < 13)
    await hasRows(t, page, low.reverse().map(String), 'of low mean without an outcome')
    t.equal(await page.locator('.count').innerText(), `${low.length} of 40 traces`)
    await page.getByLabel('Filter of Mean', { exact: true }).fill('low')
    await becomes(async () => /not understood/.test(await page.locator('.count').innerText()))
    t.match(
      await page.locator('.count').innerText(),
      /^13 of 40 traces\. The filter of Mean is not understood and filters nothing: try >0\.2, 10\.\.20$/
    )
    t.equal(await page.getByLabel('Filter of Mean', { exact: true }).getAttribute('aria-invalid'), 'true')
    await page.getByLabel('Filter of Mean', { exact: true }).fill('')
    await page.getByLabel('Filter of Group').fill('UID-1')
    await hasRows(t, page, ['38', '35', '32', '29', '26', '23', '20', '2'], 'a part of the uid, in any case')
    await page.locator('.traces tbody tr[tabindex="0"]').focus()
    for (const key of ['End', 'ArrowUp', 'Enter']) await page.keyboard.press(key)
    await becomes(async () => (await page.locator('.curve h2').innerText()) === 'Trace 20')
    t.equal(await page.locator('.curve h2').innerText(), 'Trace 20', 'Enter chooses')
    for (const key of ['Home', 'o']) await page.keyboard.press(key)
    await becomes(async () => (await page.locator('.tools .label').count()) > 0)
    t.equal(await page.locator('.tools .label').innerText(), 'With trace 38, by', 'o lays a trace over it')
    t.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-trace')), '38', 'the focus stays on its row')
  })

  t.test('the curve is used by keyboard', async t => {
    const { page } = await opened(t, browser, one)
    await page.locator('.plot').focus()
    const at = (token: number, change: number): string[] => [
      `Trace 0 Token ${token} Position ${token + 10 + 10 * Math.floor(token / 100)} Turn ${Math.floor(token / 100) + 1} Value ${valueAt(0, token)} Return 1 Change ${String(change).replace('-', '\u2212')}`
    ]
    await page.keyboard.press('ArrowRight')
    await says(t, page, [`Trace 0 Token 0 Position 10 Turn 1 Value 0 Return 1 Change \u2013`], 'the first token has no change')
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft']) await page.keyboard.press(key)
    await says(t, page, at(1, 1 / 64), 'right and left: a token')
    for (const key of [']', 'Shift+ArrowRight', ']', '[']) await page.keyboard.press(key)
    await says(t, page, at(200, valueAt(0, 200) - valueAt(0, 199)), 'brackets, or shift: a turn')
    await page.keyboard.press('End')
    await says(t, page, at(999, 1 / 64), 'End')
    for (let k = 0; k < 12; k++) await page.keyboard.press('+')
    await shows(t, page, '999-999', 'plus zooms to a single token')
    await page.keyboard.press('ArrowLeft')
    await shows(t, page, '998-998', 'the cursor stays in view')
    await page.keyboard.press('0')
    await shows(t, page, '0-999', '0 shows all')
    await becomes(async () => /^Trace 0, Token 998, /.test((await page.locator('.read-out [aria-live]').textContent()) ?? ''))
    t.match(
      await page.locator('.read-out [aria-live]').textContent(),
      /^Trace 0, Token 998, Position 1098, Turn 10, Value 2.09375, /,
      'and is told'
    )
  })

  t.test('the curve obeys pointer and wheel', async t => {
    const { page } = await opened(t, browser, `${one}#t=0`)
    const { x, y, width, height } = (await page.locator('.plot').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    await page.mouse.move(x + width / 2, y + height / 2)
    await becomes(async () => !/^No token/.test((await facts(page))[0]))
    const [hovered] = await facts(page)
    const token = Number(/Token (\d+)/.exec(hovered)?.[1])
    t.ok(Math.abs(token - 500) < 60, hovered)
    t.match(hovered, `Value ${valueAt(0, token)} `)
    await page.mouse.wheel(0, -300)
    await becomes(async () => (await page.locator('.plot').getAttribute('data-shown')) !== '0-999')
    const [from, to] = ((await page.locator('.plot').getAttribute('data-shown')) ?? '').split('-').map(Number)
    t.ok(to - from > 300 && to - from < 450 && from < token && token < to, `the wheel zooms around the pointer: ${from} to ${to}`)
    await page.mouse.move(x + width / 3, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width / 2, y + height / 2, { steps: 4 })
    await page.mouse.up()
    await becomes(async () => (await page.locator('.plot').getAttribute('data-shown')) !== `${from}-${to}`)
    const [left, right] = ((await page.locator('.plot').getAttribute('data-shown')) ?? '').split('-').map(Number)
    t.ok(left > from && right < to && right - left < 100, `a drag zooms to what it spans: ${left} to ${right}`)
    await page.mouse.dblclick(x + width / 2, y + height / 2)
    await shows(t, page, '0-999', 'a double click shows all')
    await page.mouse.move(1, 1)
  })

  t.test('each row of the jumps leads to its place', async t => {
    const { page } = await opened(t, browser, `${one}#tab=jumps`)
    const rows = page.locator('.jumps tbody tr')
    t.equal(await rows.count(), 500)
    t.same(
      (await rows.nth(17).innerText()).split(/\s*\t\s*/).map(text => text.trim()),
      ['+2.016', '18', 'success', '318 \u2192 319', 'in turn 4']
    )
    await rows.nth(17).getByRole('button').click()
    await says(t, page, ['Trace 18 Token 319 Position 359 Turn 4 Value 2.375 Return 1 Change 2.015625'], 'the cursor is behind the change')
    await shows(t, page, '269-368', 'with tokens on both sides')
  })

  t.test('two traces, by token and by progress', async t => {
    const url = await written('pair', { name: 'pair', traces: [{ values: [0, 0.5, 1] }, { values: [1, 0.75, 0.5, 0.25, 0] }] })
    const { page } = await opened(t, browser, `${url}#t=0&o=1&c=2`)
    await says(
      t,
      page,
      [
        'Trace 0 Token 2 Position 12 Turn 1 Value 1 Return 1 Change 0.5',
        'Trace 1 Token 2 Position 12 Turn 1 Value 0.5 Return 1 Change \u22120.25'
      ],
      'by token'
    )
    await shows(t, page, '0-4', 'as far as the longer one')
    await page.getByRole('button', { name: 'progress' }).click()
    await shows(t, page, '0-2', 'by progress both fill the axis')
    await page.locator('.plot').focus()
    for (const key of ['End', 'ArrowLeft']) await page.keyboard.press(key)
    await says(
      t,
      page,
      [
        'Trace 0 Token 1 Position 11 Turn 1 Value 0.5 Return 1 Change 0.5',
        'Trace 1 Token 2 Position 12 Turn 1 Value 0.5 Return 1 Change \u22120.25'
      ],
      'the middle of both'
    )
  })

  t.test('two snapshots side by side', async t => {
    const { page } = await opened(t, browser, two)
    await page.getByRole('button', { name: 'Side by side' }).click()
    await page.locator('.pane').nth(1).locator('.plot[data-shown]').waitFor()
    await page.locator('.pane').nth(1).locator('tr[data-trace="2"] td.mean').click()
    await addressed(t, page, '#t=0&2.s=1&2.t=2')
    t.same(await page.locator('.curve h2').allInnerTexts(), ['Trace 0', 'Trace 2'])
    await page.locator('.pane').nth(1).getByRole('tab', { name: 'Critic' }).click()
    t.match(await page.locator('.critic').nth(1).innerText(), /^Findings\s+final-reward-masked/)
    t.equal(await page.locator('[id="findings"]').count(), 0, 'no id stands twice')
    await page.locator('.pane').nth(0).getByRole('tab', { name: 'Critic' }).click()
    t.equal(await page.locator('.critic').nth(0).innerText(), 'The critic of this snapshot was not diagnosed.')
  })

  t.test('texts are shown and do nothing', async t => {
    const { page, complaints } = await opened(t, browser, `${one}#t=0&c=205`)
    const text = page.locator('.turn-text .text')
    await becomes(async () => (await text.innerText()).startsWith('t200 '))
    t.equal(await text.locator('.here').innerText(), 't205 ')
    t.equal(await page.locator('.turn-text .hint').innerText(), '2 passages of this trace that looked like secrets were taken out.')
    await text.locator('span').nth(50).click()
    await says(
      t,
      page,
      [`Trace 0 Token 250 Position 280 Turn 3 Value ${valueAt(0, 250)} Return 1 Change 0.015625`],
      'a piece leads to its token'
    )
    await page.goto(`${one}#t=5&c=301`)
    await becomes(async () => /img/.test(await text.innerText()))
    t.equal(await text.innerText(), HOSTILE.replace('\u202e', '\\u202e').replace('\u0007', '\\u0007'))
    t.match(
      await page.locator('.turn-text .hint').innerText(),
      /^Tokens have no text of their own here: the text of the turn is spread evenly over its tokens\./
    )
    t.match(
      await page.locator('.about').innerText(),
      'group <img src=x onerror="document.title=1"><script>document.title=2</script>\\u202e=cmd()\\u0007'
    )
    t.equal(await page.title(), '[synthetic] Traces: step <1>')
    t.equal(await page.locator('main img, main script').count(), 0)
    t.same(complaints, [])
  })

  t.test('files hold what is in view', async t => {
    const { page } = await opened(t, browser, `${one}#t=5&r=304-306`)
    const csv = await download(page, 'CSV')
    t.equal(csv.name, 'critic-trace-5-tokens-304-306.csv')
    const uid = `"${HOSTILE.replaceAll('"', '""')}"`
    t.equal(
      csv.bytes.toString('utf8'),
      [
        'snapshot,trace,uid,index,position,turn,value,return,change',
        ...[304, 305, 306].map(i => `step <1>,5,${uid},${i},${i + 40},3,${valueAt(5, i)},1,${valueAt(5, i) - valueAt(5, i - 1)}`),
        ''
      ].join('\r\n')
    )
    const svg = await download(page, 'SVG')
    const markup = svg.bytes.toString('utf8')
    t.match(markup, />step &lt;1&gt;: trace 5</)
    t.match(markup, /Synthetic data, not measurements\. Tokens 304 to 306\./)
    t.equal(markup.match(/<circle/g)?.length, 3, 'a dot a token')
    const png = await download(page, 'PNG')
    const picture = await loadImage(png.bytes)
    t.same([picture.width, picture.height], [1920, 920])
  })

  t.test('what is drawn keeps the extremes', async t => {
    const random = new Random(5)
    const values = Float32Array.from({ length: 200_000 }, () => random.unit() / 8)
    values[123_456] = 1
    values[77_777] = -1
    const url = await written('spikes', { name: 'spikes', traces: [{ values }] })
    const { page } = await opened(t, browser, url)
    const rows = await page.locator('.plot canvas').evaluate(canvas => {
      const { width, height } = canvas as HTMLCanvasElement
      const data = (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray(0)
      // The curve is grey, and so is what surrounds it: only spikes stand alone in the upper and lower third.
      return [0.15, 0.85].map(share => {
        const y = Math.round(16 + share * (height - 50))
        let dark = 0
        for (let x = 80; x < width - 14; x++) if (data[4 * (y * width + x)] < 160) dark++
        return dark
      })
    })
    t.ok(
      rows.every(dark => dark >= 1 && dark <= 4),
      `both spikes of one token in 200,000 are drawn: ${rows.join(', ')}`
    )
  })

  t.test('numbers are those of the outputs', async t => {
    const { out } = await runReplica(t)
    const url = pathToFileURL(join(out, 'preview/traces.html')).href
    const { examples, tokens } = JSON.parse(readFileSync(join(out, 'training_data/critic-trace-statistics.json'), 'utf8'))
    const [head, ...lines] = readFileSync(join(out, 'training_data/critic-trace-trajectories.csv'), 'utf8')
      .trim()
      .split('\r\n')
      .map(line => line.split(','))
    const { page } = await opened(t, browser, url)
    const cells = await page.locator('.traces tbody tr:not(.gap)').evaluateAll(rows =>
      rows.map(row => ({
        trace: (row as HTMLElement).dataset['trace'],
        titles: Array.from(row.querySelectorAll('td'), cell => cell.title)
      }))
    )
    t.ok(cells.length >= 10)
    for (const { trace, titles } of cells) {
      const line = lines.find(cells => cells[0] === trace) ?? []
      const of = (name: string): string => line[head.indexOf(name)]
      t.same(titles.slice(0, 8), [
        trace,
        of('step'),
        of('outcome'),
        of('uid'),
        of('tokens'),
        String(Number(of('boundaries')) + 1),
        of('mean_value'),
        of('delta')
      ])
    }
    t.equal(
      lines.reduce((sum, line) => sum + Number(line[head.indexOf('tokens')]), 0),
      tokens
    )
    for (const { index, max_boundary_jump: jump } of Object.values(examples) as {
      index: number
      max_boundary_jump: Record<string, number>
    }[]) {
      await page.goto(`${url}#t=${index}&c=${jump['to_index']}`)
      await becomes(async () => (await facts(page))[0].startsWith(`Trace ${index} Token ${jump['to_index']} `))
      t.match((await facts(page))[0], ` Value ${String(jump['to']).replace('-', '\u2212')} `)
      t.ok((await facts(page))[0].endsWith(` Change ${String(jump['to'] - jump['from']).replace('-', '\u2212')}`))
    }
  })

  t.test('phone, dark, axe', async t => {
    for (const options of [DESKTOP, { ...DESKTOP, colorScheme: 'dark' as const }, PHONE, { ...PHONE, colorScheme: 'dark' as const }]) {
      const where = JSON.stringify(options)
      for (const [url, hash] of [
        [one, '#t=1&c=300&o=3'],
        [one, '#tab=jumps&r=300-320'],
        [two, '#t=0&2.s=1&2.t=0&2.tab=critic']
      ]) {
        const { page } = await opened(t, browser, url + hash, options)
        t.equal(
          await page.evaluate(() => document.documentElement.scrollWidth),
          options.viewport.width,
          `${where}, ${hash}: no sideways scrolling`
        )
        const paper = await page
          .locator('.plot canvas')
          .first()
          .evaluate(canvas => (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(1, 1, 1, 1).data[0])
        t.equal(paper, 'colorScheme' in options ? 0x15 : 0xff, 'the drawing has the colours of the scheme')
        t.same(await seriousViolations(t, browser, url + hash, options), [], `${where}, ${hash}: axe finds nothing serious`)
      }
    }
    const { page } = await opened(t, browser, one, DESKTOP)
    await page.emulateMedia({ colorScheme: 'dark' })
    const corner = (): Promise<number | undefined> =>
      page.locator('.plot canvas').evaluate(canvas => (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(1, 1, 1, 1).data[0])
    await becomes(async () => (await corner()) === 0x15)
    t.equal(await corner(), 0x15, 'it is drawn again when the scheme changes')
  })

  t.test('a finger moves, two zoom', async t => {
    const { page } = await opened(t, browser, `${one}#t=0&r=400-499`, PHONE)
    const touch = await page.context().newCDPSession(page)
    const plot = page.locator('.plot')
    await plot.scrollIntoViewIfNeeded()
    const { x, y } = (await plot.boundingBox()) ?? { x: 0, y: 0 }
    const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...xs: readonly number[]): Promise<unknown> =>
      touch.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((at, id) => ({ x: x + at, y: y + 80, id })) })
    await send('touchStart', 250)
    for (const at of [230, 200, 170, 150]) await send('touchMove', at)
    await send('touchEnd')
    await becomes(async () => (await plot.getAttribute('data-shown')) !== '400-499')
    const [from, to] = ((await plot.getAttribute('data-shown')) ?? '').split('-').map(Number)
    t.equal(to - from, 99)
    t.ok(from > 415 && from < 445, `to later tokens: from ${from}`)
    await send('touchStart', 150, 200)
    for (const by of [10, 25, 50]) await send('touchMove', 150 - by, 200 + by)
    await send('touchEnd')
    await becomes(async () => (await plot.getAttribute('data-shown')) !== `${from}-${to}`)
    const [left, right] = ((await plot.getAttribute('data-shown')) ?? '').split('-').map(Number)
    t.ok(right - left < 50 && left > from && right < to, `fewer tokens: ${left} to ${right}`)
  })
})

/** Mean of the values of a trace. */
function mean(trace: number): number {
  return Array.from({ length: 1000 }, (_, token) => valueAt(trace, token)).reduce((a, b) => a + b, 0) / 1000
}

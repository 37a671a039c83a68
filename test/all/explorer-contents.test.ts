/**
 * What the explorer shows in a real browser: numbers of the outputs, texts that do nothing, files of what is in view, two snapshots, on a
 * desktop and a phone, in light and dark, to axe.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { loadImage } from 'canvas'
import t from 'tap'
import { NO_TEXTS } from '../../src/render/explorer/contract.js'
import { seriousViolations, withBrowser } from '../support/browser-pages.js'
import { becomes } from '../support/cpu.js'
import { Random } from '../support/random.js'
import { runReplica } from '../support/replica-run.js'
import {
  addressed,
  DESKTOP,
  DIAGNOSTICS,
  download,
  facts,
  HOSTILE,
  opened,
  pageWriter,
  paperOf,
  PHONE,
  says,
  traces,
  valueAt
} from '../support/explorer-browser.js'

const written = pageWriter(t)

await withBrowser(async browser => {
  const one = written('one', { name: 'step <1>', traces: traces(), diagnostics: DIAGNOSTICS })
  const two = written(
    'two',
    { name: 'first', traces: traces().slice(0, 6) },
    { name: 'second', traces: traces().slice(6, 9), diagnostics: DIAGNOSTICS }
  )

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
    // A line more in the read-out and a group more of tools.
    await page.goto(`${two}#t=0&o=1&c=5&2.s=1&2.t=2`)
    await becomes(async () => (await facts(page)).length === 3)
    const [left, right] = await page.locator('.plot').evaluateAll(plots => plots.map(plot => plot.getBoundingClientRect()))
    t.strictSame([left.top, left.height], [right.top, right.height], 'both plots begin and end alike')
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
    // As where the page has no room for the texts of a trace.
    await page.locator('[id="texts-0-6"]').evaluate(block => block.remove())
    await page.locator('tr[data-trace="6"] td.mean').click()
    await becomes(async () => (await page.locator('.turn-text h3').innerText()) === 'No text')
    t.equal(await page.locator('.turn-text .hint').innerText(), `This trace has no texts here: ${NO_TEXTS}.`)
    t.equal(await text.innerText(), '')
    t.equal(await page.title(), '[synthetic] Traces: step <1>')
    t.equal(await page.locator('main img, main script').count(), 0)
    t.same(complaints, [])
  })

  t.test('files hold what is in view', async t => {
    const { page } = await opened(t, browser, `${one}#t=5&r=304-306`)
    const csv = await download(page, 'CSV')
    t.equal(csv.name, 'critic-trace-5-tokens-304-306.csv')
    const uid = `"${HOSTILE.replaceAll('"', '""').replace('\u202e', '\\u202e').replace('\u0007', '\\u0007')}"`
    t.equal(
      csv.bytes.toString('utf8'),
      [
        'snapshot,trace,uid,index,position,turn,value,return,change',
        ...[304, 305, 306].map(i => `step <1>,5,${uid},${i},${i + 40},4,${valueAt(5, i)},1,${valueAt(5, i) - valueAt(5, i - 1)}`),
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

  t.test('a long uid leaves the curve where it is', async t => {
    const uid = 'u'.repeat(10_000)
    const url = written('long', { name: 'long', traces: [{ values: [0, 1], fields: { uid } }, { values: [0, 1] }] })
    for (const options of [DESKTOP, PHONE]) {
      const { page } = await opened(t, browser, `${url}#t=0`, options)
      const { height = 0 } = (await page.locator('.about').boundingBox()) ?? {}
      t.ok(height > 0 && height < 120, `${height} pixels`)
      t.equal(await page.evaluate(() => document.documentElement.scrollWidth), options.viewport.width, 'no sideways scrolling')
      t.equal((await page.locator('.about').getAttribute('title'))?.length, 'group '.length + 2000)
      t.ok((await download(page, 'SVG')).bytes.length < 10_000)
    }
  })

  t.test('what is drawn keeps the extremes', async t => {
    const random = new Random(5)
    const values = Float32Array.from({ length: 200_000 }, () => random.unit() / 8)
    values[123_456] = 1
    values[77_777] = -1
    const url = written('spikes', { name: 'spikes', traces: [{ values }] })
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
    // More tokens than a part of a file has.
    const [, ...lines] = (await download(page, 'CSV')).bytes.toString('utf8').trim().split('\r\n')
    t.equal(lines.length, values.length)
    t.equal(
      lines.findIndex((line, i) => line.split(',')[3] !== String(i)),
      -1,
      'a file has each of them once'
    )
    t.equal(Number(lines[123_456].split(',')[6]), 1)
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
    const dark = { colorScheme: 'dark' as const }
    const overlaid = `${one}#t=1&c=300&o=3`
    const jumps = `${one}#tab=jumps&r=300-320`
    const beside = `${two}#t=0&2.s=1&2.t=0&2.tab=critic`
    for (const [options, url] of [
      [DESKTOP, overlaid],
      [DESKTOP, jumps],
      [DESKTOP, beside],
      [{ ...DESKTOP, ...dark }, overlaid],
      [{ ...DESKTOP, ...dark }, beside],
      [PHONE, beside],
      [{ ...PHONE, ...dark }, overlaid],
      [{ ...PHONE, ...dark }, jumps]
    ] as const) {
      const where = `${options.viewport.width} pixels, ${'colorScheme' in options ? 'dark' : 'light'}, ${url.slice(url.indexOf('#'))}`
      const { page } = await opened(t, browser, url, options)
      t.equal(await page.evaluate(() => document.documentElement.scrollWidth), options.viewport.width, `${where}: no sideways scrolling`)
      t.equal(await paperOf(page), 'colorScheme' in options ? 0x15 : 0xff, `${where}: the drawing has the colours of the scheme`)
      t.same(await seriousViolations(t, browser, url, options), [], `${where}: axe finds nothing serious`)
    }
    const { page } = await opened(t, browser, one, DESKTOP)
    await page.emulateMedia({ colorScheme: 'dark' })
    await becomes(async () => (await paperOf(page)) === 0x15)
    t.equal(await paperOf(page), 0x15, 'it is drawn again when the scheme changes')
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

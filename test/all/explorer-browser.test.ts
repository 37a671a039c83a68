/** The explorer in a real browser: an address restores what was seen, and table, curve and jumps obey keyboard, pointer and wheel. */
import t from 'tap'
import { withBrowser } from '../support/browser-pages.js'
import { becomes } from '../support/cpu.js'
import { addressed, DIAGNOSTICS, facts, hasRows, opened, pageWriter, says, shows, traces, valueAt } from '../support/explorer-browser.js'

const written = pageWriter(t)

await withBrowser(async browser => {
  const one = written('one', { name: 'step <1>', traces: traces(), diagnostics: DIAGNOSTICS })

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
    await becomes(async () => !/^Point at/.test((await facts(page))[0]))
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
    await rows.nth(20).locator('td').nth(3).click()
    await says(t, page, ['Trace 22 Token 323 Position 363 Turn 4 Value 2.21875 Return 1 Change 2.015625'], 'all of the row does')
    t.equal(await rows.nth(20).evaluate(row => getComputedStyle(row).cursor), 'pointer')
  })

  t.test('two traces, by token and by progress', async t => {
    const url = written('pair', { name: 'pair', traces: [{ values: [0, 0.5, 1] }, { values: [1, 0.75, 0.5, 0.25, 0] }] })
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
})

/** Mean of the values of a trace. */
function mean(trace: number): number {
  return Array.from({ length: 1000 }, (_, token) => valueAt(trace, token)).reduce((a, b) => a + b, 0) / 1000
}

/** Checks of the panels behind the numbers of a page: what they say, and how pointer, keyboard and finger reach and close them. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { becomes } from './cpu.js'
import { sha256 } from './folders.js'
import type { ReplicaRun } from './replica-run.js'

/** `id`s of the panels that are open, the outermost first. */
function opened(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => Array.from(document.querySelectorAll('.p:popover-open'), ({ id }) => id))
}

function panelId(number: Locator): Promise<string> {
  return number.locator('button').evaluate(button => button.getAttribute('popovertarget') ?? '')
}

async function middle(locator: Locator): Promise<readonly [number, number]> {
  const { x, y, width, height } = (await locator.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  return [x + width / 2, y + height / 2]
}

/** The pointer opens a panel, and may move onto it, where an operand unfolds; Escape and a click elsewhere close. */
export async function testPointer(t: Test, page: Page): Promise<void> {
  const withOperands = page
    .locator('main data.v')
    .filter({ hasText: /^4\.6$/ })
    .first()
  const number = (await withOperands.count()) > 0 ? withOperands : page.locator('main p data.v:not(.w)').first()
  const id = await panelId(number)
  t.same(await opened(page), [], 'panels are closed')
  await number.scrollIntoViewIfNeeded()
  await page.mouse.move(...(await middle(number)))
  t.ok(await becomes(async () => (await opened(page)).includes(id)), 'the pointer on a number opens its panel')
  await page.mouse.move(...(await middle(page.locator(`[id="${id}"]`))), { steps: 12 })
  await page.waitForTimeout(1500)
  t.same(await opened(page), [id], 'and may move onto it')
  if ((await withOperands.count()) > 0) {
    const operand = page.locator(`[id="${id}"] .o`).first()
    await operand.locator('summary').first().click()
    t.ok(await becomes(() => operand.locator('dl').first().isVisible()), 'where an operand says what it is')
    t.same(await opened(page), [id])
  }
  await page.mouse.move(1, 700)
  t.ok(await becomes(async () => (await opened(page)).length === 0), 'it closes behind the pointer')
  await number.locator('button').click()
  t.ok(await becomes(async () => (await opened(page)).includes(id)), 'a click opens it')
  await page.mouse.move(1, 700)
  await page.waitForTimeout(1500)
  t.same(await opened(page), [id], 'and keeps it open')
  await page.keyboard.press('Escape')
  t.ok(await becomes(async () => (await opened(page)).length === 0), 'until Escape')
  await number.locator('button').click()
  t.ok(await becomes(async () => (await opened(page)).includes(id)))
  await page.mouse.click(5, 700)
  t.ok(await becomes(async () => (await opened(page)).length === 0), 'or a click elsewhere')
}

/** With the keyboard alone: paragraph, its list, a number, a link in its panel, and back. */
export async function testKeyboard(t: Test, page: Page): Promise<void> {
  const group = page.locator('main p > .g, main li > .g').first()
  const list = (await group.getAttribute('popovertarget')) ?? ''
  await group.focus()
  t.ok(await becomes(() => group.evaluate(group => getComputedStyle(group).opacity === '1')), 'a group is in sight with the focus')
  await page.keyboard.press('Enter')
  t.ok(await becomes(async () => (await opened(page)).includes(list)), 'Enter lists the numbers of the paragraph')
  const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.className ?? '')
  await page.keyboard.press('Tab')
  t.equal(await focused(), 'x', 'the next stop is in the list')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const link = page.locator(`[id="${list}"] > details`).first().locator('dd > a').first()
  t.ok(await becomes(() => link.isVisible()), 'Enter on a number of the list says where it comes from')
  await page.keyboard.press('Tab')
  t.ok(await becomes(() => link.evaluate(link => link === document.activeElement)), 'and its links are stops')
  await page.keyboard.press('Escape')
  t.ok(await becomes(async () => (await opened(page)).length === 0), 'Escape closes the list')
  t.ok(await becomes(async () => (await focused()) === 'g'), 'and the focus is where it was')
}

/** Tab stops of the text: a group for each block with numbers, links, what scrolls. None is a number. */
export async function testStops(t: Test, page: Page): Promise<void> {
  const { numbers, groups, stops, unlisted } = await page.evaluate(() => {
    const main = document.querySelector('main')
    const reached = Array.from(main?.querySelectorAll<HTMLElement>('a[href], button, summary, [tabindex]') ?? []).filter(
      element => element.tabIndex >= 0 && element.closest('.panels, details > table') === null
    )
    const numbers = Array.from(main?.querySelectorAll('data.v') ?? [])
    return {
      numbers: numbers.length,
      groups: reached.filter(element => element.matches('.g')).length,
      stops: reached.filter(element => element.closest('data.v') !== null).length,
      unlisted: numbers.filter(number => number.closest(':has(> .g), .scroll:has(+ .g), pre:has(+ .g)') === null).length
    }
  })
  t.equal(stops, 0, 'no number is a stop of the Tab key')
  t.equal(unlisted, 0, `each of ${numbers} numbers has a list in its block`)
  t.ok(groups > 10 && groups < numbers / 2, `${groups} stops for ${numbers} numbers`)
  const next = page.locator('main a.next').first()
  await next.focus()
  t.ok(await becomes(() => next.evaluate(link => link.getBoundingClientRect().height > 10)), 'a section can be skipped')
  await page.keyboard.press('Enter')
  t.match(page.url(), /#s-/)
}

interface Panel {
  readonly value: string
  readonly shown: boolean
  readonly height: number
  /** lines by their terms; an output and the inputs behind it come in pairs */
  readonly lines: readonly (readonly [term: string, text: string])[]
}

/** Every panel, opened one after the other. */
export function panels(page: Page): Promise<readonly Panel[]> {
  return page.evaluate(() =>
    Array.from(document.querySelectorAll('main data.v'), number => {
      const button = number.querySelector('button') as HTMLButtonElement
      button.scrollIntoView({ block: 'center' })
      button.click()
      const panel = document.getElementById(button.getAttribute('popovertarget') ?? '') as HTMLElement
      const { left, right, top, bottom, height } = panel.getBoundingClientRect()
      const inside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight
      const lines = Array.from(panel.querySelectorAll(':scope > dl > div'), line => {
        const [term, text] = Array.from(line.children, part => (part as HTMLElement).innerText.trim())
        return [term, text] as const
      })
      const shown = panel.matches(':popover-open') && inside && height > 20
      panel.hidePopover()
      return { value: (number as HTMLElement).innerText, shown, height, lines }
    })
  )
}

/** The panel of every number says where it stands and what it was computed from, and all hashes are those of the files. */
export async function testPanels(t: Test, page: Page, { study, out }: ReplicaRun): Promise<void> {
  const found = await panels(page)
  t.ok(found.length > 50, `${found.length} values`)
  const hashes = new Map<string, string>()
  const hashOf = (path: string): string => {
    const hash = hashes.get(path) ?? (existsSync(path) ? sha256(readFileSync(path)).slice(0, 8) : `no file ${path}`)
    hashes.set(path, hash)
    return hash
  }
  const bare: string[] = []
  const wrong: string[] = []
  for (const { value, shown, lines } of found) {
    const problem = (what: string): void => {
      wrong.push(`${value}: ${what}`)
    }
    if (!shown) problem('no panel in sight')
    const all = lines.map(([term, text]) => `${term} ${text}`).join('\n')
    if (/undefined(?!_reasons)|NaN|\[object/.test(all)) problem(all)
    if (!lines.some(([term]) => term === 'claim' || term === 'name')) problem('no name')
    const outputs = lines.filter(([term]) => term === 'in')
    const inputs = lines.filter(([term]) => term === 'from')
    if (outputs.length === 0) bare.push(value)
    if (outputs.length !== inputs.length) problem(`${outputs.length} outputs, inputs of ${inputs.length}`)
    for (const [, text] of outputs) {
      const [, file = '', hash = ''] = /^(\S+) ([0-9a-f]{8}) \/\S/.exec(text) ?? []
      if (hash !== hashOf(join(out, file))) problem(`output? ${text}`)
    }
    for (const [, text] of inputs) {
      const named = text.split(', ').filter(part => !/^(?:and \d+ more|named in audit\.json)$/.test(part))
      if (named.length === 0) problem(`inputs? ${text}`)
      for (const part of named) {
        const [path, hash] = part.split(' ')
        if (hash !== hashOf(join(study, path))) problem(`input? ${part}`)
      }
    }
  }
  t.same(wrong, [], 'every panel is in sight, and says what is true')
  // The size of the original page: a property of a file that is not here.
  t.same(bare, t.name === 'article' ? [] : ['34,293,250'], 'values that no output has')
}

/** On a phone: a tap opens and closes, and no panel is taller than half of the screen. */
export async function testTaps(t: Test, page: Page): Promise<void> {
  const width = (): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth)
  const screen = page.viewportSize()
  const values = page.locator('main data.v')
  for (const n of [0, 3, 7, (await values.count()) - 1]) {
    const id = await panelId(values.nth(n))
    await values.nth(n).scrollIntoViewIfNeeded()
    await values.nth(n).locator('button').tap()
    t.ok(await becomes(async () => (await opened(page)).includes(id)), 'a tap shows the panel')
    t.equal(await width(), screen?.width, 'and it fits')
    await page.touchscreen.tap(4, 200)
    t.ok(await becomes(async () => (await opened(page)).length === 0), 'a tap beside it closes it')
  }
  const all = await panels(page)
  t.same(
    all.filter(({ shown }) => !shown).map(({ value }) => value),
    [],
    'every panel fits'
  )
  const tallest = Math.max(...all.map(({ height }) => height))
  t.ok(tallest <= (screen?.height ?? 0) / 2, `the tallest panel has ${tallest} of ${String(screen?.height)} pixels`)
}

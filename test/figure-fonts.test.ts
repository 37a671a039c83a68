/** The fonts of characters: found by code point, measured with, drawn with; what no font has is named once. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createCanvas } from 'canvas'
import t from 'tap'
import { warmCanvas } from '../src/render/canvas/index.js'
import { readFontFile } from '../src/render/figures/font-file.js'
import { dejavuFolder, Fonts, missingNote } from '../src/render/figures/fonts.js'
import { drawnWidth } from '../src/render/figures/text-width.js'
import { inflatePdf } from './support/pdf-text.js'

const SANS = join(dejavuFolder(), 'ttf', 'DejaVuSans.ttf')
/** It has symbols of APL that DejaVu Sans lacks, and no Hebrew. */
const MONO = join(dejavuFolder(), 'ttf', 'DejaVuSansMono.ttf')

await warmCanvas()

t.test('widths are those that FreeType gives, of characters of every script', async t => {
  const font = readFontFile(SANS, readFileSync(SANS))
  const context = createCanvas(10, 10).getContext('2d')
  context.font = '1000px "DejaVu Sans"'
  for (const character of 'aW1\u00e9\u0394\u0416\u05d0\u2026\u2014\u2192\u{1d538}\u{1f600}') {
    const advance = font?.advance(character.codePointAt(0) ?? 0) ?? NaN
    const real = context.measureText(character).width / 1000
    t.ok(Math.abs(advance - real) < 0.002, `${character}: ${advance} for ${real}`)
  }
  t.equal(font?.advance(0x4e2d), null, 'it has no Chinese')
  // A text of Greek is as wide as it is drawn, not an em a letter.
  context.font = '8px "DejaVu Sans"'
  const greek = '\u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac \u2014'
  t.ok(Math.abs(drawnWidth(greek, 8) - context.measureText(greek).width) < 0.5)
})

t.test('what is no font, or broken, is none', async t => {
  const bytes = readFileSync(SANS)
  t.equal(readFontFile('a', new Uint8Array(3)), null)
  t.equal(readFontFile('a', new TextEncoder().encode('a text that is no font, but long enough for a header')), null)
  for (const length of [12, 100, 400]) t.equal(readFontFile('a', bytes.subarray(0, length)), null, `${length} bytes`)
})

t.test('the first font that has a character draws it: those of the program, then of the machine by path', async t => {
  const none = new Fonts([SANS], () => [])
  t.equal(none.of(0x61)?.path, SANS)
  t.equal(none.of(0x4e2d), null)
  t.equal(none.of(0x6587), null)
  t.same(none.missing(), ['\u4e2d', '\u6587'])
  t.equal(
    missingNote(none),
    'figures have boxes in place of \u4e2d \u6587, which no font here has: npm install @expo-google-fonts/noto-sans-sc (Chinese), ' +
      'or install a font that has them'
  )
  t.equal(missingNote(new Fonts([SANS], () => [])), null)
  let asked = 0
  const listed = new Fonts([MONO], () => {
    asked++
    return [
      { path: '/nowhere/at-all.ttf', index: 0, ranges: [[0x5d0, 0x5d0]] },
      {
        path: SANS,
        index: 0,
        ranges: [
          [0x5d0, 0x5ea],
          [0x4e2d, 0x4e2d]
        ]
      }
    ]
  })
  t.equal(readFontFile(MONO, readFileSync(MONO))?.advance(0x5d0), null)
  t.equal(listed.of(0x5d0)?.path, SANS, 'a font that cannot be read is passed over')
  t.equal(listed.of(0x4e2d), null, 'the file decides, not the list')
  t.equal(listed.of(0x61)?.path, MONO)
  t.equal(asked, 1, 'the machine is asked once')
})

t.test('a character is drawn with the font of the machine that has it, in every format; others are named once', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'critic-traces-fonts-'))
  t.teardown(() => {
    rmSync(dir, { recursive: true })
  })
  // The list of another machine. In a process of its own, because what is found holds for its life.
  writeFileSync(join(dir, 'fc-list'), `#!/bin/sh\nprintf '%s\\t0\\t2336-2338\\n' '${MONO}'\n`, { mode: 0o755 })
  const script = `
    const { renderFigure } = await import(${JSON.stringify(new URL('../src/render/canvas/index.js', import.meta.url).href)})
    const { missingNote } = await import(${JSON.stringify(new URL('../src/render/figures/fonts.js', import.meta.url).href)})
    const text = { text: process.argv[1], x: 2, y: 12, align: 'left', size: 8, weight: 'normal', color: '#1a1a1a' }
    const config = { name: 'a', title: 'a', description: 'a', width: 72, height: 24, fontFamily: 'DejaVu Sans', texts: [text, text], legend: [], panels: [] }
    const files = {}
    for (const format of ['png', 'svg', 'pdf']) files[format] = (await renderFigure(config, format)).toString('base64')
    console.log(JSON.stringify({ files, note: missingNote() }))`
  const draw = async (text: string, path: string): Promise<{ note: string | null; png: string; svg: string; pdf: Buffer }> => {
    const env = { ...process.env, PATH: path }
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, text], { cwd: dir, env })
    const { files, note } = JSON.parse(stdout) as { files: { png: string; svg: string; pdf: string }; note: string | null }
    return { note, png: files.png, svg: Buffer.from(files.svg, 'base64').toString('utf8'), pdf: Buffer.from(files.pdf, 'base64') }
  }
  const found = await draw('\u2336\u2337', `${dir}:${process.env['PATH']}`)
  t.equal(found.note, null)
  t.match(found.svg, '>\u2336\u2337</text>')
  t.match(inflatePdf(found.pdf), /\+DejaVuSansMono\b/, 'its font is in the PDF')
  const lacking = await draw('\u2336\u2337', dir.slice(0, -1))
  t.match(lacking.note, /^figures have boxes in place of \u2336 \u2337, which no font here has: /, 'named once for three files')
  t.not(lacking.png, found.png)
  t.equal(lacking.svg, found.svg, 'a text stays a text: the viewer may have a font')
})

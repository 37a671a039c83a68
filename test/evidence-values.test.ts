/** Values of written evidence at their limits. Every expected value is worked out by hand. */
import t from 'tap'
import { cellValue } from '../src/compute/evidence/cell-values.js'
import { deriveValues } from '../src/compute/evidence/derive.js'
import { documentLines, documentValue } from '../src/compute/evidence/document-values.js'
import { slideLabels } from '../src/compute/evidence/labels.js'
import { TextSearch } from '../src/compute/evidence/match.js'
import { slideValue } from '../src/compute/evidence/slide-values.js'
import { Documents } from '../src/compute/documents.js'
import type { Slide } from '../src/ingest/office/presentation.js'
import type { CellValue, SlideValue } from '../src/schema/evidence.js'

const asked = {
  name: 'v',
  as: 'text',
  pattern: null,
  multiply: 1,
  unit: '',
  title: '',
  published: true,
  excluded: null,
  labels: []
} as const
const ofSlide: SlideValue = { ...asked, slide: 1, table: null }
const ofCell: CellValue = { ...asked, sheet: 'S', cell: 'A1' }
const file = { path: 'f', sha256: '0'.repeat(64), bytes: 0 }
const slideOf = (texts: readonly string[], more: Partial<Slide> = {}): Slide => ({
  number: 1,
  part: 'slide1.xml',
  hidden: false,
  title: null,
  pageNumber: null,
  texts,
  tables: [],
  notes: null,
  ...more
})

t.test('a ratio of zero has no sign', t => {
  const documents = new Documents(new Map([['d.json', '{"zero":0,"minus":-2}']]))
  const operation = { ratio: ['d.json#/zero', 'd.json#/minus'] } as const
  const [{ value }] = deriveValues([{ name: 'd', title: '', unit: '', kind: 'original', operation }], documents)
  t.ok(Object.is(value, 0))
  t.end()
})

t.test('a document of 4 MiB is read, one byte more is too long', t => {
  const whole = Buffer.alloc(4 * 1024 * 1024, 'a line of text that says nothing\n')
  t.equal(documentLines(whole, 'f').length, 1 + Math.floor((4 * 1024 * 1024) / 33), 'lines of 33 bytes, the last one cut')
  t.throws(() => documentLines(Buffer.alloc(4 * 1024 * 1024 + 1, 'a'), 'f'), {
    message: 'document too long: 4194305 bytes, expected at most 4194304 (f)'
  })
  t.end()
})

t.test('labels of a slide: its title or first paragraph, its page, the cells of its first table', t => {
  const page = { slide: 1, title: 'Scores', printed_page: 7 }
  const table = { rows: [['a', 'b']], spans: [] }
  const labels = [{ row: 1, column: 2, text: 'b' }]
  const slide = slideOf(['Scores', 'of all runs', ' 7 '], { tables: [table as unknown as Slide['tables'][number]] })
  t.strictSame(slideLabels({ ...ofSlide, labels }, slide, [page], 'f'), [
    { place: 'title', text: 'Scores' },
    { place: 'printed page', text: '7' },
    { place: 'table 1, row 1, column 2', text: 'b' }
  ])
  t.throws(() => slideLabels(ofSlide, slideOf([]), [page], 'f'), {
    message: 'evidence label differs: nothing beside v, expected "Scores" (f, member slide 1, title)'
  })
  t.throws(() => slideLabels(ofSlide, slideOf(['Scores']), [page], 'f'), {
    message: 'evidence label differs: nothing beside v, expected "7" (f, member slide 1, printed page)'
  })
  t.end()
})

t.test('a message lists five of the paragraphs that match', t => {
  const texts = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6']
  t.throws(() => slideValue({ ...ofSlide, pattern: '(p)' }, 'at', { slides: [slideOf(texts)] } as never, [], file, new TextSearch()), {
    message: /finds 6 paragraphs: "p1", "p2", "p3", "p4", "p5", expected one paragraph/
  })
  t.end()
})

t.test('a cell that looks like a secret is refused, and the message does not repeat it', t => {
  const text = `hf_${['aB3dE6', 'gH9jK2', 'mN5pQ8', 'sT1vW4'].join('')}`
  const cells = new Map([['A1', { kind: 'text', value: text, text, covered: false }]])
  t.throws(() => cellValue(ofCell, 'at', { cells } as never, file, new TextSearch()), {
    message: 'evidence unreadable value: at (v) finds what looks like a secret, expected a value without one (f, member S!A1)'
  })
  t.end()
})

t.test('a value of a document stands on its line and on no other', t => {
  const asking = { name: 'v', unit: '', title: '', published: true, excluded: null, labels: [] }
  const value = (as: 'number' | 'text', pattern: string, line: number, ...lines: string[]): unknown =>
    documentValue({ ...asking, as, pattern, line }, { at: 'at', document: 'doc' }, lines, file, new TextSearch()).value
  t.equal(value('number', 'loss (\\S+)', 2, 'title', 'loss 0.25'), 0.25)
  t.equal(value('text', 'loss (\\S+)', 1, 'loss low', ''), 'low')
  t.throws(() => value('number', 'loss (\\S+)', 1, 'loss low'), {
    message: 'evidence unreadable value: at (v) finds "loss low", expected a number in the group of "loss (\\\\S+)" (f, member line 1)'
  })
  t.throws(() => value('text', 'loss(.*)', 1, 'loss'), { message: /finds "loss", expected a text in the group/ })
  t.throws(() => value('number', '(\\d)', 1, '1', '2'), { message: /finds it on 1, 2, expected "\(\\\\d\)" to match on line 1 alone/ })
  t.throws(() => value('number', '(\\d)', 1, '', '2'), { message: /finds it on 2, expected/ })
  t.throws(() => value('number', '(\\d)', 1, ''), { message: /finds no such line, expected/ })
  t.end()
})

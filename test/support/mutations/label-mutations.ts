/**
 * What stands beside values that are read by their place: names of rows, heads of columns, units, titles, printed pages, each
 * changed or exchanged with its neighbour's, the numbers as they were.
 */
import { EVIDENCE_STUDY } from '../../../src/replica/evidence/study.js'
import { Package, slidePart, withParagraph } from './evidence-mutations.js'
import type { MutableFolder, Mutation } from './mutation.js'

const kind = 'label beside a value'

/** Texts of a slide, each with what it becomes: [slide, what, from -> to …]. */
const SLIDE_EDITS: ReadonlyArray<readonly [slide: number, what: string, edits: ReadonlyArray<readonly [from: string, to: string]>]> = [
  [
    40,
    'heads exchanged',
    [
      ['GSPO', '\u0000'],
      ['SAO', 'GSPO'],
      ['\u0000', 'SAO']
    ]
  ],
  [40, 'one head', [['SAO', 'PPO']]],
  [40, 'a name of a row', [['每步 rollout 数', '每步 trajectory 数']]],
  [40, 'unit from minutes to hours', [['（min）', '（h）']]],
  [40, 'unit of the wall clock', [['到最优 checkpoint 的墙钟（h）', '到最优 checkpoint 的墙钟（min）']]],
  [
    40,
    'names of rows exchanged',
    [
      ['SWE-bench Verified', '\u0000'],
      ['SWE-bench Multilingual', 'SWE-bench Verified'],
      ['\u0000', 'SWE-bench Multilingual']
    ]
  ],
  [40, 'printed page', [['36', '37']]],
  [5, 'title', [['GSPO 单 harness 结果', 'SAO 单 harness 结果']]],
  [5, 'printed page', [['1', '2']]],
  [11, 'title', [['任务网格', '任务列表']]],
  [26, 'what is compared', [['asynchronous vs synchronous: 2.5×', 'synchronous vs asynchronous: 2.5×']]],
  [26, 'printed page', [['22', '21']]]
]

/** Texts of the workbook, as its parts write them. */
const BOOK_EDITS: ReadonlyArray<readonly [what: string, part: RegExp, from: string | RegExp, to: string]> = [
  ['name of row 8', /sharedStrings/, ' single-harness</t></r><rPh', ' mixed</t></r><rPh'],
  ['name of row 11', /worksheets\/sheet/, '<v>SAO r7</v>', '<v>SAO r6</v>'],
  ['name of the base model', /worksheets\/sheet/, 'Qwen3.5-35B-A3B (base)', 'Qwen3.5-35B-A3B (instruct)'],
  ['benchmark of column L', /sharedStrings/, 'SWE-bench Multilingual', 'SWE-bench Verified'],
  ['harness of column L', /sharedStrings/, 'Multilingual/OpenHands', 'Multilingual/OpenCode'],
  ['benchmark of column C', /sharedStrings/, 'SWE-bench Verified', 'SWE-bench Lite'],
  ['name of the note', /worksheets\/sheet/, 'mixed-harness step 20–200', 'single-harness step 20–200']
]

/** What slide 40 says below its table. */
const FOOTNOTES: ReadonlyArray<readonly [from: string, to: string]> = [
  ['trainer 等待占比 = 生成时间 ÷ 单步总时间', 'trainer 等待占比 = 等待时间 ÷ 单步总时间'],
  ['最优成本 = 到 validation 最优 checkpoint 的 rollout 数与墙钟', '最优成本 = 到最后 checkpoint 的 rollout 数与墙钟'],
  ['同一任务集、同一批机器', '不同任务集、同一批机器']
]

/** Words of texts beside a number that is quoted from them. */
const TEXT_EDITS: ReadonlyArray<readonly [path: string, from: string, to: string]> = [
  ['documents/README.md', '| SWE-bench Verified |', '| SWE-bench Multilingual |'],
  ['documents/README.md', '| algorithm | steps |', '| algorithm | epochs |'],
  ['configs/base/multilingual.env', 'under a shorter timeout', 'under a longer timeout']
]

export function* labelMutations(folder: MutableFolder): Generator<Mutation> {
  const [deck, book] = [EVIDENCE_STUDY.slides?.path ?? '', EVIDENCE_STUDY.workbook?.path ?? '']
  const pack = new Package(folder.bytes(deck))
  const edited = (slide: number, edits: (typeof SLIDE_EDITS)[number][2]): Map<string, Uint8Array> => {
    const part = slidePart(pack, slide)
    const text = edits.reduce(
      (xml, [from, to]) => withParagraph(xml, from, to) ?? xml.replace(`<a:t>${from}</a:t>`, `<a:t>${to}</a:t>`),
      pack.text(part)
    )
    return new Map([[deck, pack.with(part, text)]])
  }
  for (const [slide, what, edits] of SLIDE_EDITS)
    yield { kind, covered: true, what: `slide ${slide}: ${what}`, files: edited(slide, edits) }
  const title = pack.text(slidePart(pack, 40)).replace('<a:t>SAO vs GSPO</a:t>', '<a:t>GSPO vs SAO</a:t>')
  yield { kind, covered: true, what: 'slide 40: title', files: new Map([[deck, pack.with(slidePart(pack, 40), title)]]) }
  const withTable = pack.text(slidePart(pack, 40))
  const last = withTable.lastIndexOf('<a:t>SAO vs GSPO</a:t>')
  const table = `${withTable.slice(0, last)}<a:t>SAO vs PPO</a:t>${withTable.slice(withTable.indexOf('</a:t>', last) + 6)}`
  yield { kind, covered: true, what: 'slide 40: title of the table', files: new Map([[deck, pack.with(slidePart(pack, 40), table)]]) }
  for (const [from, to] of FOOTNOTES) yield { kind, covered: true, what: `slide 40: ${from}`, files: edited(40, [[from, to]]) }
  for (const [path, from, to] of TEXT_EDITS) {
    const text = folder.text(path)
    if (!text.includes(from)) throw new Error(`${path} has no ${from}`)
    yield { kind, covered: true, what: `${path}: ${from}`, files: new Map([[path, text.replace(from, to)]]) }
  }

  const sheets = new Package(folder.bytes(book))
  for (const [what, parts, from, to] of BOOK_EDITS) {
    const part = sheets.paths(parts).find(path => sheets.text(path).includes(String(from)))
    if (part === undefined) throw new Error(`${what} is written nowhere`)
    yield {
      kind,
      covered: true,
      what: `workbook: ${what}`,
      files: new Map([[book, sheets.with(part, sheets.text(part).replace(from, to))]])
    }
  }
  // Rows 8 and 11 change places: every cell's reference, and the rows' own.
  const matrix = sheets.paths(/worksheets\/sheet/).find(path => sheets.text(path).includes('<v>SAO r7</v>')) ?? ''
  const row = (xml: string, number: number): string => new RegExp(`<row r="${number}".*?</row>`, 's').exec(xml)?.[0] ?? ''
  const xml = sheets.text(matrix)
  const renumbered = (text: string, from: number, to: number): string =>
    text.replaceAll(new RegExp(`r="([A-Z]*)${from}"`, 'g'), `r="$1${to}"`)
  const [eighth, eleventh] = [row(xml, 8), row(xml, 11)]
  const exchanged = xml
    .replace(eighth, () => '\u0000')
    .replace(eleventh, () => renumbered(eighth, 8, 11))
    .replace('\u0000', () => renumbered(eleventh, 11, 8))
  yield { kind, covered: true, what: 'workbook: rows 8 and 11 exchanged', files: new Map([[book, sheets.with(matrix, exchanged)]]) }
}

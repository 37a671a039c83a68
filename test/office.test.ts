/**
 * Workbooks and presentations: files of public repositories with the reading of openpyxl or of zip and an XML parser, and
 * small files made here, for each feature and for what hostile ones do.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { EXIT, type Fault } from '../src/core/errors.js'
import { serialToIso } from '../src/ingest/office/dates.js'
import { resolveTarget } from '../src/ingest/office/package.js'
import { openPresentation } from '../src/ingest/office/presentation.js'
import { isDateCode } from '../src/ingest/office/styles.js'
import { openWorkbook, parseRange, parseCellReference, type OfficeOptions, type Sheet } from '../src/ingest/office/workbook.js'
import { parseXml } from '../src/ingest/office/xml.js'
import { bomb } from './support/archives.js'
import { BAD_XML } from './support/bad-xml.js'
import { agrees, bookWords, deckWords, officeCases, pieces } from './support/office-cases.js'
import {
  book,
  bookParts,
  deck,
  faultOf,
  MAIN,
  pack,
  REL,
  rels,
  shape,
  slide,
  STRICT_MAIN,
  STRICT_REL,
  turnsOf,
  words,
  worksheet
} from './support/office-files.js'
import { root } from './support/paths.js'

const CASES = process.env.CRITIC_TRACES_CASES ?? join(root, '../shared/cases')

async function readAll(bytes: Uint8Array, file: string): Promise<string> {
  const place = { file }
  if (file.endsWith('.pptx')) return deckWords(await openPresentation(bytes, { place }))
  const workbook = await openWorkbook(bytes, { place })
  const sheets: Sheet[] = []
  for (const { name } of workbook.sheets) sheets.push(await workbook.readSheet(name))
  return bookWords(workbook, sheets)
}

/** Files that are refused: the words of the fault. */
const REFUSED: Readonly<Record<string, string>> = {
  'xlsx/protected_sha512.xlsx':
    'xlsx not recognised: an OLE2 container (encrypted or not xlsx), expected a ZIP package ' + '(xlsx/protected_sha512.xlsx)',
  'xlsx/invalid-xml.xlsx':
    "xml text outside the root element: 'foo\\u000d\\u000a', expected a tag " +
    '(xlsx/invalid-xml.xlsx, member xl/worksheets/sheet1.xml, byte 57)'
}

const table = join(CASES, 'CASES.tsv')
const absent = existsSync(table) ? false : `no ${table}`
t.test('files of public repositories, as others read them', { skip: absent }, async t => {
  const cases = officeCases(readFileSync(table, 'utf8'))
  t.equal(cases.length, 21)
  for (const { path, reading } of cases) {
    const bytes = new Uint8Array(readFileSync(join(CASES, path)))
    let got = ''
    let fault: Fault | null = null
    const turns = await turnsOf(async () => {
      if (path in REFUSED) fault = await faultOf(() => readAll(bytes, path))
      else got = await readAll(bytes, path)
    })
    t.ok(turns.ms < 5000, `${path}: ${turns.ms.toFixed(0)} ms of CPU`)
    t.ok(turns.longest < 500, `${path}: ${turns.longest.toFixed(0)} ms of CPU in one turn`)
    if (path in REFUSED) {
      t.match(fault, { message: REFUSED[path], exitCode: EXIT.badInput }, path)
      t.match(reading, /OLE2|ERROR/, `${path}: refused by others too`)
      continue
    }
    const expected = pieces(reading)
    const found = pieces(got)
    t.equal(found.length, expected.length, `${path}: ${expected.length} pieces`)
    for (const [i, piece] of expected.entries()) t.ok(agrees(found[i], piece), `${path}: ${found[i]} for ${piece}`)
  }
})

t.test('50,000 merged ranges and as many cells', async t => {
  const rows = Array.from({ length: 50_000 }, (_, i) => `<row><c><v>${i}</v></c><c><v>-1</v></c></row>`).join('')
  const merges = Array.from({ length: 50_000 }, (_, i) => `<mergeCell ref="A${i + 1}:C${i + 1}"/>`).join('')
  const bytes = pack(
    bookParts('', {
      'xl/worksheets/sheet1.xml': worksheet(`<sheetData>${rows}</sheetData><mergeCells>${merges}</mergeCells>`)
    })
  )
  const workbook = await openWorkbook(bytes)
  let sheet: Sheet | null = null
  const turns = await turnsOf(async () => {
    sheet = await workbook.readSheet('S')
  })
  t.ok(turns.ms < 5000, `${turns.ms.toFixed(0)} ms of CPU`)
  t.ok(turns.longest < 500, `${turns.longest.toFixed(0)} ms of CPU in one turn`)
  t.ok(turns.count > 40, `${turns.count} turns`)
  const { cells, merges: ranges } = sheet as unknown as Sheet
  t.equal(ranges.length, 50_000)
  t.equal(cells.size, 100_000)
  t.same([cells.get('A50000')?.value, cells.get('A50000')?.covered, cells.get('B50000')?.covered], [49_999, false, true])
})

async function cellsOf(sheetData: string, changed = {}, options: OfficeOptions = {}): Promise<string[]> {
  const workbook = await openWorkbook(book(sheetData, changed), options)
  return words((await workbook.readSheet('S')).cells.values())
}

t.test('cells of every type', async t => {
  t.same(
    await cellsOf(`<row r="2">
    <c r="A2"><v>0.5533</v></c><c r="B2" t="n"><v> -1.5e-3 </v></c><c r="C2" t="s"><v>1</v></c>
    <c r="D2" t="str"><f>"a"&amp;"b"</f><v>ab</v></c><c r="E2" t="b"><v>1</v></c><c r="F2" t="e"><v>#DIV/0!</v></c>
    <c r="G2" t="inlineStr"><is><r><t>in</t></r><r><t xml:space="preserve"> line</t></r></is></c>
    <c r="H2" t="d"><v>2026-10-07T01:02:03</v></c><c r="I2" s="1"><v>45000.5</v></c><c r="J2" s="1"/><c r="K2"/>
    <c r="L2"><f>1-1</f><v>0</v></c><c r="M2"><f>A1</f></c><c r="N2" t="str"><v></v></c><c r="O2" t="s"/></row>`),
    [
      'A2 number 0.5533',
      'B2 number -0.0015',
      'C2 text "one"',
      'D2 text "ab"',
      'E2 boolean true',
      'F2 error "#DIV/0!"',
      'G2 text "in line"',
      'H2 date "2026-10-07T01:02:03"',
      'I2 date "2023-03-15T12:00:00"',
      'L2 number 0',
      'M2 empty null',
      'N2 text ""'
    ]
  )
  const sheet = await (
    await openWorkbook(
      book(
        '<row><c s="1"><v>1.50</v></c><c><f t="shared" ref="B1:B2" si="0">A1*2</f><v>3</v></c></row>' +
          '<row><c><v>0.10</v></c><c><f t="shared" si="0"/><v>0</v></c><c><f t="shared" si="9"/><v>0</v></c></row>'
      )
    )
  ).readSheet('S')
  t.match(sheet.cells.get('A1'), {
    row: 1,
    column: 1,
    text: '1.50',
    serial: 1.5,
    formula: null,
    format: { id: 14, code: 'mm-dd-yy', date: true }
  })
  t.match(sheet.cells.get('A2'), { row: 2, text: '0.10', value: 0.1, format: { id: 0, code: 'General', date: false } })
  t.same(sheet.cells.get('B1')?.formula, { text: 'A1*2', from: 'B1' })
  t.same(sheet.cells.get('B2')?.formula, { text: 'A1*2', from: 'B1' }, 'a shared formula says whose text it is')
  t.same(sheet.cells.get('C2')?.formula, { text: null, from: 'C2' })
  t.equal(sheet.part, 'xl/worksheets/sheet1.xml')
})

t.test('strings: runs, phonetics, blanks, escapes, references, CDATA, line ends', async t => {
  const strings = [
    '<si><r><rPr><b/></rPr><t>ri</t></r><r><t xml:space="preserve">ch </t></r></si>',
    '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr fontId="1"/></si>',
    '<si><t xml:space="preserve">  two  </t></si>',
    '<si><t>  two  </t></si>',
    '<si><t>a_x000D__x000a_b _x005F_x000D_ _xZZZZ_</t></si>',
    '<si><t>&lt;&amp;&gt;&quot;&apos;&#65;&#x6F22;&#x1F600;</t></si>',
    '<si><t>a<![CDATA[<&amp;]]>b<!-- no -->c</t></si>',
    '<si><t>a\r\nb\rc&#13;d</t></si>',
    '<si/>',
    '<si><t/></si>',
    '<si><r><t>_x00</t></r><r><t>41__x0041_</t></r></si>'
  ]
  const row = `<row>${strings.map((_, i) => `<c t="s"><v>${i}</v></c>`).join('')}</row>`
  const changed = { 'xl/sharedStrings.xml': `\ufeff<?xml version="1.0"?>\n<sst xmlns="${MAIN}">\n${strings.join('\n')}</sst >` }
  const workbook = await openWorkbook(book(row, changed))
  const { cells } = await workbook.readSheet('S')
  t.same(
    [...cells.values()].map(cell => cell.value),
    ['rich ', '東京', '  two  ', '  two  ', 'a\r\nb _x000D_ _xZZZZ_', '<&>"\'A漢😀', 'a<&amp;bc', 'a\nb\nc\rd', '', '', '_x0041_A']
  )
  const inline = '<c t="inlineStr"><is><t>_x0041_</t><rPh><t>no</t></rPh></is></c>'
  t.same(await cellsOf(`<row>${inline}<c t="str"><v>_x0042_</v></c></row>`), ['A1 text "A"', 'B1 text "B"'])
})

t.test('references: implied, out of order, lower case, a lying dimension', async t => {
  t.same(
    await cellsOf(
      '<row><c><v>1</v></c><c><v>2</v></c></row><row r="5"><c r="C5"><v>3</v></c><c><v>4</v></c></row>' +
        '<row><c r="b6"><v>5</v></c><c r="$A$6"><v>6</v></c></row><row r="2"><c><v>7</v></c></row>'
    ),
    ['A1 number 1', 'B1 number 2', 'C5 number 3', 'D5 number 4', 'B6 number 5', 'A6 number 6', 'A2 number 7']
  )
  const lying = await openWorkbook(
    book('', {
      'xl/worksheets/sheet1.xml': worksheet('<dimension ref="A1:XFD1048576"/><sheetData><row><c r="XFD1"><v>1</v></c></row></sheetData>')
    })
  )
  t.same(words((await lying.readSheet('S')).cells.values()), ['XFD1 number 1'])
  t.same(parseCellReference('XFD1048576'), { row: 1_048_576, column: 16_384 })
  for (const bad of ['XFE1', 'A0', 'A1048577', 'BDWGN1', '1A', 'A', '', 'A1 ', 'A-1']) t.equal(parseCellReference(bad), null, bad)
  t.same(parseRange('C3:A1'), { ref: 'A1:C3', top: 1, left: 1, bottom: 3, right: 3 })
  t.same(parseRange('B2')?.ref, 'B2')
  for (const bad of ['A1:B2:C3', 'A:B', '1:2', ':']) t.equal(parseRange(bad), null, bad)
})

t.test('merged ranges: each once, the value in the top left cell', async t => {
  const merged = async (refs: readonly string[], data: string): Promise<Sheet> => {
    const list = refs.map(ref => `<mergeCell ref="${ref}"/>`).join('')
    const xml = worksheet(`<sheetData>${data}</sheetData><mergeCells count="1">${list}</mergeCells>`)
    return (await openWorkbook(book('', { 'xl/worksheets/sheet1.xml': xml }), { place: { file: 'm.xlsx' } })).readSheet('S')
  }
  const data = `<row>${'<c><v>1</v></c>'.repeat(6)}</row>`.repeat(6)
  const sheet = await merged(['B2:C3', 'D2:D5', 'A6:F6', 'B2:C3', 'A1', 'B4:C5'], data)
  t.same(
    sheet.merges.map(range => range.ref),
    ['B2:C3', 'D2:D5', 'A6:F6', 'A1', 'B4:C5']
  )
  const covered = [...sheet.cells.values()].filter(cell => cell.covered).map(cell => cell.ref)
  t.same(covered, ['C2', 'B3', 'C3', 'D3', 'C4', 'D4', 'B5', 'C5', 'D5', 'B6', 'C6', 'D6', 'E6', 'F6'])
  t.equal(
    (await faultOf(() => merged(['A1:B2', 'B2:C3'], data))).message,
    'xlsx overlapping merged ranges: A1:B2 and B2:C3, expected ranges apart (m.xlsx, member xl/worksheets/sheet1.xml)'
  )
  t.match((await faultOf(() => merged(['A1:A9', 'C1:C2', 'A5:F5'], data))).message, /A1:A9 and A5:F5/)
  t.match((await faultOf(() => merged(['A1:ZZZ9'], data))).message, /bad merged range: 'A1:ZZZ9'/)
})

/** What openpyxl 3.1.5 makes of a serial in the two systems; where it has no day of its own, the rule of the reader. */
const SERIALS: readonly (readonly [number, string | null, string | null])[] = [
  [0, '00:00:00', '1904-01-01T00:00:00'],
  [0.5, '12:00:00', '1904-01-01T12:00:00'],
  [0.9999999999, '1900-01-01T00:00:00', '1904-01-02T00:00:00'],
  [1, '1900-01-01T00:00:00', '1904-01-02T00:00:00'],
  [2.25, '1900-01-02T06:00:00', '1904-01-03T06:00:00'],
  [59, '1900-02-28T00:00:00', '1904-02-29T00:00:00'],
  [60, '1900-02-29T00:00:00', '1904-03-01T00:00:00'],
  [61, '1900-03-01T00:00:00', '1904-03-02T00:00:00'],
  [366, '1900-12-31T00:00:00', '1905-01-01T00:00:00'],
  [25569, '1970-01-01T00:00:00', '1974-01-02T00:00:00'],
  [41224.999988425923, '2012-11-11T23:59:59', '2016-11-12T23:59:59'],
  [43831.123456789, '2020-01-01T02:57:46.667', '2024-01-02T02:57:46.667'],
  [2958465.99999, '9999-12-31T23:59:59.136', null],
  [2958466, null, null],
  [-1, null, null]
]

t.test('dates: both systems, in every time zone, by format', async t => {
  const zone = process.env.TZ
  t.teardown(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
  for (const tz of ['UTC', 'Asia/Shanghai', 'America/St_Johns', 'Pacific/Apia']) {
    process.env.TZ = tz
    for (const [serial, in1900, in1904] of SERIALS) {
      t.equal(serialToIso(serial, false), in1900, `${serial} in the 1900 system, ${tz}`)
      t.equal(serialToIso(serial, true), in1904, `${serial} in the 1904 system, ${tz}`)
    }
  }
  const dates = ['yyyy-mm-dd', 'h:mm', 'd/m', '[$-409]mmm\\-yy', 'yyyy"年"m"月"', '[Red]ss', 'AM/PM', 'M/D/YYYY;@', 'mm:ss.0']
  const numbers = ['General', '0.00', '[Red]0', '"days"0', '0\\d', '0_d', '*d0', '[h]:mm', '[mm]:ss', '0.0E+00', '@', '', '#,##0;d']
  for (const code of dates) t.equal(isDateCode(code), true, code)
  for (const code of numbers) t.equal(isDateCode(code), false, code)
  const styles =
    `<styleSheet xmlns="${MAIN}"><numFmts><numFmt numFmtId="164" formatCode="yyyy&quot;年&quot;"/></numFmts>` +
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' +
    '<cellXfs><xf numFmtId="164"/><xf numFmtId="46"/><xf numFmtId="31"/><xf numFmtId="2"/><xf/></cellXfs></styleSheet>'
  const row = `<row>${[0, 1, 2, 3, 4].map(s => `<c s="${s}"><v>61</v></c>`).join('')}</row>`
  t.same(await cellsOf(row, { 'xl/styles.xml': styles }), [
    'A1 date "1900-03-01T00:00:00"',
    'B1 number 61',
    'C1 date "1900-03-01T00:00:00"',
    'D1 number 61',
    'E1 number 61'
  ])
  const mac =
    `<workbook xmlns="${MAIN}" xmlns:r="${REL}"><workbookPr date1904="true"/>` + '<sheets><sheet name="S" r:id="rId1"/></sheets></workbook>'
  t.same(await cellsOf('<row><c s="1"><v>61</v></c></row>', { 'xl/workbook.xml': mac }), ['A1 date "1904-03-02T00:00:00"'])
})

t.test('sheets by relationship: order, states, kinds, odd places and names', async t => {
  const one = (n: number): string => worksheet(`<sheetData><row><c><v>${n}</v></c></row></sheetData>`)
  const workbook = await openWorkbook(
    pack({
      '_rels/.rels': rels([
        ['a', 'officeDocument', '/Odd/Main.XML'],
        ['b', 'http://x/y', 'docProps/core.xml']
      ]),
      'odd/main.xml':
        `<workbook xmlns="${MAIN}" xmlns:q="${REL}"><sheets><sheet name="评测矩阵" q:id="w2"/>` +
        '<sheet name="Chart" q:id="c"/><sheet name="Dialog" state="veryHidden" q:id="d"/>' +
        '<sheet name="b&amp;c" state="hidden" q:id="w1"/><sheet name="Third" q:id="w3"/></sheets></workbook>',
      'odd/_rels/main.xml.rels': rels([
        ['w1', 'worksheet', '../elsewhere/./b c.xml'],
        ['w2', 'worksheet', '/a/%E8%AF%84.xml'],
        ['w3', 'worksheet', 'sheets\\x.xml'],
        ['c', 'chartsheet', 'chart.xml'],
        ['d', 'dialogsheet', 'dialog.xml']
      ]),
      'elsewhere/b c.xml': one(1),
      'a/评.xml': one(2),
      'odd/sheets/x.xml': one(3),
      'odd/chart.xml': '<x/>',
      'odd/dialog.xml': '<x/>'
    }),
    { place: { file: 'o.xlsx' } }
  )
  t.same(
    workbook.sheets.map(({ name, state, kind }) => [name, state, kind]),
    [
      ['评测矩阵', 'visible', 'worksheet'],
      ['Chart', 'visible', 'chartsheet'],
      ['Dialog', 'veryHidden', 'dialogsheet'],
      ['b&c', 'hidden', 'worksheet'],
      ['Third', 'visible', 'worksheet']
    ]
  )
  const values: unknown[] = []
  for (const name of ['评测矩阵', 'b&c', 'Third']) values.push((await workbook.readSheet(name)).cells.get('A1')?.value)
  t.same(values, [2, 1, 3])
  t.match((await faultOf(() => workbook.readSheet('Chart'))).message, /not a worksheet: 'Chart', which is a chartsheet/)
  t.equal(
    (await faultOf(() => workbook.readSheet('评测'))).message,
    "xlsx missing sheet: only '评测矩阵', 'Chart', 'Dialog', 'b&c', 'Third', expected a sheet '评测' (o.xlsx)"
  )
  t.equal(resolveTarget('xl/workbook.xml', '../../etc/passwd'), null)
  t.equal(resolveTarget('xl/workbook.xml', 'file:///etc/passwd'), null)
  t.equal(resolveTarget('xl/workbook.xml', '//host/x'), null)
  t.equal(resolveTarget('xl/workbook.xml', '../x/y.xml#frag'), 'x/y.xml')
})

t.test('prefixes and strict namespaces', async t => {
  const strict = {
    '_rels/.rels': rels([['a', 'officeDocument', 'xl/workbook.xml']], STRICT_REL),
    'xl/workbook.xml':
      `<s:workbook xmlns:s="${STRICT_MAIN}"><s:sheets>` + `<s:sheet xmlns:z="${STRICT_REL}" name="S" z:id="k"/></s:sheets></s:workbook>`,
    'xl/_rels/workbook.xml.rels': rels(
      [
        ['k', 'worksheet', 's.xml'],
        ['l', 'sharedStrings', 't.xml']
      ],
      STRICT_REL
    ),
    'xl/t.xml': `<sst xmlns="${STRICT_MAIN}"><si><t>shared</t></si></sst>`,
    'xl/s.xml':
      `<x:worksheet xmlns:x="${STRICT_MAIN}" xmlns="urn:other"><sheetData><row><c><v>9</v></c></row></sheetData>` +
      '<x:sheetData><x:row><x:c t="s"><x:v>0</x:v></x:c><c><v>8</v></c><x:c><v>7</v><x:v>1</x:v></x:c>' +
      `<c xmlns="${STRICT_MAIN}"><v>2</v></c></x:row></x:sheetData>` +
      '<x:extLst><x:row><x:c><x:v>5</x:v></x:c></x:row></x:extLst></x:worksheet>'
  }
  const workbook = await openWorkbook(pack(strict))
  t.same(words((await workbook.readSheet('S')).cells.values()), ['A1 text "shared"', 'B1 number 1', 'C1 number 2'])
})

t.test('UTF-16, and pieces of any length', async t => {
  const data = '<sheetData><row><c t="str"><v>漢😀</v></c></row></sheetData>'
  const text = `<?xml version="1.0" encoding="UTF-16"?>${worksheet(data)}`
  const little = Buffer.from(`\ufeff${text}`, 'utf16le')
  for (const part of [little, Buffer.from(little).swap16(), little.subarray(2)]) {
    t.same(await cellsOf('', { 'xl/worksheets/sheet1.xml': new Uint8Array(part) }), ['A1 text "漢😀"'])
  }
  // Characters of one to four bytes fall on every position of the 64 KiB pieces in which a part is read.
  for (let shift = 0; shift < 8; shift++) {
    const long = 'x'.repeat(shift) + 'é漢😀&amp;\r\n'.repeat(12_000)
    const { cells } = await (await openWorkbook(book(`<row><c t="str"><v>${long}</v></c></row>`))).readSheet('S')
    t.ok(cells.get('A1')?.value === 'x'.repeat(shift) + 'é漢😀&\n'.repeat(12_000), `shifted by ${shift}`)
  }
})

t.test('XML that is refused, with its byte', async t => {
  const handler = { open: () => undefined, close: () => undefined, text: () => undefined }
  for (const [what, part, message, offset] of BAD_XML) {
    const bytes = typeof part === 'string' ? new TextEncoder().encode(part) : part
    const fault = await faultOf(() => parseXml(bytes, handler, { file: 'f', member: 'm' }))
    t.match(fault.message, message, what)
    t.same(fault.place, { file: 'f', member: 'm', offset }, `${what}: place`)
  }
  const around = '\ufeff<?xml version="1.0"?>\n<!-- a --><l>\n<a b=\'1\'/><?p i?></l\n>\n<!-- b -->'
  for (const part of [around, '<?xml version="1.0"?><l/>']) await parseXml(new TextEncoder().encode(part), handler, {})
  t.pass('comments and instructions around the root')
})

async function bookFault(sheetData: string, changed = {}, options: OfficeOptions = {}): Promise<string> {
  return (await faultOf(() => cellsOf(sheetData, changed, { place: { file: 'b.xlsx' }, ...options }))).message
}

t.test('a small file with millions of shared strings, or of runs in one, is refused at its limit', async t => {
  const data = '<row><c t="s"><v>0</v></c></row>'
  const strings = (inside: string): object => ({ 'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${inside}</sst>` })
  t.match(
    await bookFault(data, strings('<si/>'.repeat(1_048_577))),
    /^xlsx too many shared strings: more than 1048576, expected fewer \(b\.xlsx, member xl\/sharedStrings\.xml/
  )
  t.match(
    await bookFault(data, strings(`<si>${'<r/>'.repeat(4_194_304)}</si>`)),
    /^xlsx too many shared elements: more than 4194304, expected fewer \(b\.xlsx/
  )
  t.equal((await cellsOf(data, strings(`<si><t>a</t></si>${'<si/>'.repeat(1_048_575)}`))).length, 1, 'and not before')
})

t.test('sheets that are refused', async t => {
  const data = '<row r="7"><c r="B7" t="s"><v>2</v></c></row>'
  const part = worksheet(`<sheetData>${data}</sheetData>`)
  t.equal(
    await bookFault(data),
    "xlsx bad shared string: index '2' in cell B7, expected 0 to 1 " +
      `(b.xlsx, member xl/worksheets/sheet1.xml, byte ${part.indexOf('</c>')})`
  )
  const bad: readonly (readonly [string, RegExp])[] = [
    ['<row><c r="BDWGN1"><v>1</v></c></row>', /bad cell reference: 'BDWGN1', expected A1 to XFD1048576/],
    ['<row r="1000000000"/>', /bad row: '1000000000', expected 1 to 1048576/],
    ['<row r="0"/>', /bad row/],
    ['<row r="1048576"/><row/>', /bad row: '1048577'/],
    ['<row><c r="XFD1"/><c/></row>', /bad cell: column 16385 in row 1/],
    ['<row r="3"><c r="A4"><v>1</v></c></row>', /bad cell reference: 'A4' in row 3/],
    ['<row><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>', /duplicate cell: A1 twice/],
    ['<row r="1"><c><v>1</v></c></row><row r="1"><c><v>2</v></c></row>', /duplicate cell: A1 twice/],
    ['<row><c><v>1</v><v>2</v></c></row>', /bad cell: two <v> in cell A1/],
    ['<row><c><v>0x10</v></c></row>', /bad number: '0x10' in cell A1/],
    ['<row><c><v>1e999</v></c></row>', /bad number/],
    ['<row><c><v>NaN</v></c></row>', /bad number/],
    ['<row><c><v>1,5</v></c></row>', /bad number/],
    ['<row><c t="s"><v>-1</v></c></row>', /bad shared string/],
    ['<row><c t="b"><v>2</v></c></row>', /bad boolean/],
    ['<row><c t="d"><v>yesterday</v></c></row>', /bad date/],
    ['<row><c t="q"><v>1</v></c></row>', /unknown cell type: 'q'/],
    ['<row><c s="2"><v>1</v></c></row>', /bad style: index '2' in cell A1, expected one of 2 formats/]
  ]
  for (const [row, message] of bad) t.match(await bookFault(row), message, row)
  const many = `<row>${'<c><v>1</v></c>'.repeat(11)}</row>`
  t.match(await bookFault(many, {}, { limits: { maxCells: 10 } }), /too many cells: more than 10/)
})

t.test('packages that are refused', async t => {
  const open = async (bytes: Uint8Array, options: OfficeOptions = {}): Promise<string> =>
    (await faultOf(async () => (await openWorkbook(bytes, options)).readSheet('S'))).message
  const parts = bookParts('')
  const without = (name: string): Uint8Array => pack(Object.fromEntries(Object.entries(parts).filter(([key]) => key !== name)))
  t.match(await open(new TextEncoder().encode('a,b\n1,2\n')), /^zip not recognised/)
  t.match(await open(new Uint8Array(0)), /^zip empty/)
  t.match(await open(book('').subarray(0, 400)), /^zip truncated/)
  t.match(await open(without('_rels/.rels')), /xlsx not recognised: a ZIP archive without '_rels\/.rels'/)
  t.match(await open(without('xl/workbook.xml')), /xlsx missing part: no 'xl\/workbook.xml'/)
  t.match(await open(without('xl/worksheets/sheet1.xml')), /xlsx missing part: no 'xl\/worksheets\/sheet1.xml'/)
  t.match(await open(without('xl/_rels/workbook.xml.rels')), /missing relationship: sheet 'S' with relationship 'rId1'/)
  t.match(await open(without('xl/sharedStrings.xml')), /xlsx missing part: no 'xl\/sharedStrings.xml'/)
  t.match(await open(pack({ ...parts, 'XL/Workbook.xml': '<x/>' })), /xlsx duplicate part/)
  t.match(await open(pack({ ...parts, '_rels/.rels': rels([['x', 'officeDocument', '../../../etc/passwd']]) })), /not recognised/)
  const outside = rels([['rId1', 'worksheet', '../../../../etc/passwd']])
  t.match(await open(pack({ ...parts, 'xl/_rels/workbook.xml.rels': outside })), /bad relationship: sheet 'S', outside the package/)
  const external = rels([['rId1', 'worksheet', 'http://example.org/s.xml', 'External']])
  t.match(await open(pack({ ...parts, 'xl/_rels/workbook.xml.rels': external })), /outside the package/)
  const twice = rels([
    ['rId1', 'worksheet', 'a.xml'],
    ['rId1', 'worksheet', 'b.xml']
  ])
  t.match(await open(pack({ ...parts, 'xl/_rels/workbook.xml.rels': twice })), /bad relationship: two of Id 'rId1'/)
  t.match(await open(pack({ ...parts, '_rels/.rels': rels([['x', 'officeDocument', 'xl/workbook.bin']]) })), /binary workbook/)
  t.match(await open(deck([])), /xlsx not recognised: <presentation> of .*, expected <workbook>/)
  t.match((await faultOf(() => openPresentation(book('')))).message, /pptx not recognised: <workbook>/)
  // Names that would leave a folder are text: nobody writes them anywhere, and what they hold is not asked for.
  const traversal = await openWorkbook(pack({ ...parts, '../../evil.xml': '<x/>', '/abs.xml': '<x/>' }))
  t.equal((await traversal.readSheet('S')).cells.size, 0)

  // The archive's own checks hold for a part that is inflated in pieces: another CRC-32 in both headers is a fault.
  const large = worksheet(`<sheetData>${' '.repeat(2 ** 20)}</sheetData>`)
  const damaged = pack({ ...parts, 'xl/worksheets/sheet1.xml': large })
  t.equal((await (await openWorkbook(damaged)).readSheet('S')).cells.size, 0)
  const sum = Buffer.alloc(4)
  sum.writeUInt32LE(crc32(large))
  const view = Buffer.from(damaged.buffer, damaged.byteOffset, damaged.byteLength)
  for (let at = view.indexOf(sum); at >= 0; at = view.indexOf(sum, at + 1)) view[at] ^= 1
  t.match(await open(damaged), /^zip damaged member: CRC-32 0x[0-9a-f]{8}, expected 0x[0-9a-f]{8} \(member xl\/worksheets\/sheet1.xml\)/)
})

t.test('a part that inflates without end', async t => {
  const file = 'x.xlsx'
  const small = bomb('_rels/.rels', new TextEncoder().encode('<Relationships>'), 300)
  t.ok(small.length < 400_000, `${small.length} bytes`)
  t.match(
    (await faultOf(() => openWorkbook(small, { place: { file } }))).message,
    /^zip member too large: \d+ bytes, expected at most 268435456 \(x.xlsx, member _rels\/.rels\)$/
  )
  const lying = bomb('_rels/.rels', new TextEncoder().encode('<Relationships>'), 300, 1_000_000)
  t.match((await faultOf(() => openWorkbook(lying))).message, /^zip wrong size: more than 1000000 bytes/)
  t.match((await faultOf(() => openWorkbook(book(''), { limits: { maxPartBytes: 100 } }))).message, /member too large/)
  const total = { limits: { maxTotalBytes: 500 } }
  t.match((await faultOf(() => openWorkbook(book(''), total))).message, /xlsx too large: \d+ bytes of parts, expected at most 500/)
  const zeros = bomb('_rels/.rels', new Uint8Array(0), 20)
  const turns = await turnsOf(() => faultOf(() => openWorkbook(zeros)))
  t.ok(turns.longest < 500, `${turns.longest.toFixed(0)} ms of CPU in one turn`)
})

const cell = (text: string, attributes = ''): string =>
  `<a:tc${attributes}>${shape(...text.split('|'))
    .replace(/<\/?p:sp>/g, '')
    .replaceAll('p:txBody', 'a:txBody')}</a:tc>`
const frame = (rows: string): string =>
  `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>${rows}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`

t.test('slides: order, text, groups, fields, alternatives, hidden ones', async t => {
  const body =
    '<p:sp><p:txBody><a:p><a:r><a:t>one</a:t></a:r><a:br/><a:fld type="slidenum"><a:t>36</a:t></a:fld>' +
    '<a:r><a:t>_x000B_&amp; _x0041_</a:t></a:r></a:p><a:p><a:endParaRPr/></a:p>' +
    '<a:p><a:r><a:t> </a:t></a:r></a:p></p:txBody></p:sp>'
  const group = `<p:grpSp><p:grpSp>${shape('deep')}</p:grpSp>${shape('after')}</p:grpSp>`
  const choice = `<mc:AlternateContent><mc:Choice Requires="p">${shape('chosen')}</mc:Choice><mc:Choice Requires="p">${shape(
    'second'
  )}</mc:Choice><mc:Fallback>${shape('fallback')}</mc:Fallback></mc:AlternateContent>`
  const { slides } = await openPresentation(
    deck([
      ['ppt/slides/slide9.xml', slide(body + group + choice + shape('last'))],
      ['ppt/slides/slide1.xml', slide(shape('<![CDATA[<hidden>]]>'), 'sld', ' show="0"')],
      ['other/Final.xml', slide('')]
    ])
  )
  t.same(
    slides.map(s => [s.number, s.part, s.hidden, s.notes]),
    [
      [1, 'ppt/slides/slide9.xml', false, null],
      [2, 'ppt/slides/slide1.xml', true, null],
      [3, 'other/Final.xml', false, null]
    ]
  )
  t.same(slides[0].texts, ['one\v36\v& A', ' ', 'deep', 'after', 'chosen', 'last'])
  t.same(slides[1].texts, ['<hidden>'])
  const held = (type: string, ...texts: string[]): string =>
    shape(...texts).replace('<p:sp>', `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr>`)
  const placed = await openPresentation(
    deck([
      ['a.xml', slide(shape('before') + held('title', 'SAO', 'vs GSPO') + held('body', '7') + held('sldNum', '36') + shape('9'))],
      ['b.xml', slide(held('ctrTitle', 'Centred'))]
    ])
  )
  t.same(
    placed.slides.map(({ title, pageNumber }) => [title, pageNumber]),
    [
      ['SAO\nvs GSPO', '36'],
      ['Centred', null]
    ],
    'placeholders say what is title and page'
  )
  t.same(slides[2], {
    number: 3,
    part: 'other/Final.xml',
    hidden: false,
    title: null,
    pageNumber: null,
    texts: [],
    tables: [],
    notes: null
  })
})

t.test('slides: tables with merged cells, notes', async t => {
  const rows =
    `<a:tr>${cell('SAO vs GSPO', ' gridSpan="2"')}${cell('', ' hMerge="1"')}${cell('up', ' rowSpan="2"')}</a:tr>` +
    `<a:tr>${cell('57.6|min')}${cell('21.5')}${cell('', ' vMerge="true"')}</a:tr>`
  const placeholder = (type: string, text: string): string =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr>${shape(text).slice('<p:sp>'.length)}`
  const notes = slide(placeholder('sldNum', '4') + placeholder('body', 'say this') + shape('and this'), 'notes')
  const shapes = `<p:grpSp>${frame(rows)}</p:grpSp>${placeholder('sldNum', '36')}`
  const { slides } = await openPresentation(
    deck([['s/1.xml', slide(shapes)]], {
      's/_rels/1.xml.rels': rels([['n', 'notesSlide', '../n/notes.xml']]),
      'n/notes.xml': notes
    })
  )
  t.same(slides[0].tables, [
    {
      rows: [
        ['SAO vs GSPO', '', 'up'],
        ['57.6\nmin', '21.5', '']
      ],
      spans: [
        { row: 0, column: 0, gridSpan: 2, rowSpan: 1, hMerge: false, vMerge: false },
        { row: 0, column: 1, gridSpan: 1, rowSpan: 1, hMerge: true, vMerge: false },
        { row: 0, column: 2, gridSpan: 1, rowSpan: 2, hMerge: false, vMerge: false },
        { row: 1, column: 2, gridSpan: 1, rowSpan: 1, hMerge: false, vMerge: true }
      ]
    }
  ])
  t.same(slides[0].texts, ['SAO vs GSPO', 'up', '57.6', 'min', '21.5', '36'], 'a page number is text of the slide')
  t.same(slides[0].notes, ['say this', 'and this'], 'but no note')
})

t.test('presentations that are refused', async t => {
  const refused = async (bytes: Uint8Array): Promise<string> => (await faultOf(() => openPresentation(bytes))).message
  t.match(
    await refused(
      deck([
        ['s/1.xml', slide('')],
        ['s/1.xml', slide('')]
      ])
    ),
    /duplicate slide: 's\/1.xml' twice/
  )
  t.match(await refused(deck([['s/1.xml', slide(shape('x'), 'sldLayout')]])), /not recognised: <sldLayout>/)
  const none = frame(`<a:tr>${cell('x', ' gridSpan="0"')}</a:tr>`)
  t.match(await refused(deck([['s/1.xml', slide(none)]])), /bad table: span '0'/)
  t.match(await refused(deck([['s/1.xml', slide(frame(cell('x')))]])), /bad table: a cell outside a row/)
  t.match(
    await refused(deck([['s/1.xml', slide('')]], { 'ppt/_rels/presentation.xml.rels': rels([]) })),
    /missing relationship: slide 1 with relationship 'r0'/
  )
  const image = rels([['r0', 'image', '/s/1.xml']])
  t.match(
    await refused(deck([['s/1.xml', slide('')]], { 'ppt/_rels/presentation.xml.rels': image })),
    /bad relationship: slide 1 of type 'image'/
  )
  t.match(
    await refused(deck([['s/1.xml', slide('')]], { 's/_rels/1.xml.rels': rels([['n', 'notesSlide', 'gone.xml']]) })),
    /missing part: no 's\/gone.xml'/
  )
})

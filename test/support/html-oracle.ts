/**
 * Random pages made of tricky pieces, and what parse5 finds in them whole: its tokenizer, and its tree at the end. Our reader
 * has the tokenizer of the standard, so a page has CDATA sections or integration points, in which parse5 knows no CDATA; and
 * it asks parse5 about a select only behind an svg and the like.
 */
import { html, parse, type DefaultTreeAdapterTypes } from 'parse5'

const { NS } = html

export interface FoundScript {
  /** offset behind the start tag */
  readonly offset: number
  /** as in the tree: line breaks are line feeds, NUL is U+FFFD */
  readonly text: string
  readonly isClosed: boolean
}

/** HTML script elements of the page by id, template contents left out; `page` is latin1 text of the bytes. */
export function scriptsById(page: string): Map<string, FoundScript[]> {
  const found = new Map<string, FoundScript[]>()
  const walk = (node: DefaultTreeAdapterTypes.Node): void => {
    if ('tagName' in node && node.tagName === 'script' && node.namespaceURI === NS.HTML) {
      const id = node.attrs.find(attribute => attribute.name === 'id')?.value ?? ''
      const place = node.sourceCodeLocation
      const offset = place?.startTag?.endOffset ?? place?.endOffset ?? -1
      const text = node.childNodes.map(child => ('value' in child ? child.value : '')).join('')
      const list = found.get(id) ?? []
      list.push({ offset, text, isClosed: place?.endTag !== undefined && place.endTag !== null })
      found.set(id, list)
    }
    if ('childNodes' in node) for (const child of node.childNodes) walk(child)
  }
  walk(parse(page, { sourceCodeLocationInfo: true }))
  return found
}

const words = (list: string): readonly string[] => list.trim().split(/\s+/)

/** Sets of tags that meet in the same rules; a page takes one, or all tags. */
const THEMES = [
  'svg math desc title foreignObject mi mtext annotation-xml mglyph malignmark p div b font g script style template table br',
  'table tr td th tbody thead caption col colgroup template b a p svg desc form input div',
  'b i a nobr font p div button object li ul svg desc g table td em',
  'template table col colgroup caption tr td tbody script svg desc noscript title form frameset head body',
  'li dd dt p div address ul ol dl section button h1 h2 svg desc b',
  'ruby rb rt rp rtc option optgroup p svg g b div',
  'form div p table td button svg template',
  'frameset frame noframes html head body template noscript script style title p svg br',
  'object applet marquee b i p svg g table td',
  'select option optgroup hr input p div table td textarea style title script svg template button',
  'textarea style xmp iframe noembed noframes noscript plaintext title script listing pre image x-y menu dialog center hr'
].map(words)
const RAW_TEXT = words('script style textarea title xmp iframe noembed noframes noscript plaintext')
const DOCTYPES = [
  '',
  '',
  '<!DOCTYPE html>',
  '<!DOCTYPE html>',
  '<!DOCTYPE x>',
  '<!DOCTYPE html SYSTEM "about:legacy-compat">',
  '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">',
  '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">',
  '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">',
  '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">',
  '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML//EN">',
  '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">',
  '<!DOCTYPE html PUBLIC>'
]
const ALL_TAGS = [...new Set(THEMES.flat())]

const ATTRIBUTES = [
  '',
  ' ',
  '/',
  ' / ',
  ' type=hidden',
  ' type=TEXT',
  ' color=red',
  ' size',
  ' encoding=text/html',
  ' encoding="application/XHTML+xml"',
  ' x=">"',
  ' a"b\'c',
  " c='1'",
  ' c=2',
  ' c="2"',
  ' x="<script id=d0>"',
  " x='</template>'"
]

/** `?` is the id, `~` the id without its first letter, a d. */
const IDS = [
  ' id=?',
  ' id="?"',
  " ID='?'",
  ' id = ?',
  ' id=\n?',
  '\t\r\n\fid=?',
  ' id=? id=z',
  ' id=z id=?',
  ' x=">" id=?',
  ' /id=?',
  ' =id=?',
  ' id=&#100;~',
  ' id=&#x64;~',
  " id='&#x00064;~'",
  ' id="&#100~"',
  ' id="&#0;?"',
  ' id="?&Tab;"',
  ' id=?&amp;',
  ' id=?&lt',
  ' id="?"id2',
  ' id=`?`',
  ' id==?',
  ' id="?',
  ' id=?\0',
  ' id=?/',
  ' id'
]

const TEXTS = [
  ' ',
  'x',
  '\n',
  '\r\n',
  '\0',
  'a<b',
  '< ',
  '<3',
  '&lt;',
  '&',
  '<!',
  '-->',
  '--',
  '>',
  '"',
  "'",
  '<?xml ?>',
  '<!-- ',
  '<!-- x -->',
  '<!-->',
  '<!--->',
  '<!--x--!>',
  '<!--x--!',
  '<!--<!-->',
  '<!--<!--->',
  '<!---!>',
  '<!----!>',
  '<!x>',
  '<!>',
  '</>',
  '</ >',
  '</3>',
  '\u00e9',
  '<!DOCTYPE html>',
  '<!doctype html public "-//w3c//dtd html 3.2//en">',
  '<!DOCTYPE x "<script id=d0>">',
  '</br>',
  '</p>',
  '<br>'
]
const CDATA = ['<![CDATA[', '<![CDATA[x]]>', ']]>', ']]]>', '<![CDATA[<script id=d0>', '<![cdata[']
const HAS_POINTS = /desc|title|foreignobject|<m[ions]|mtext|annotation/i

const SCRIPT_TEXTS = [
  '<!--',
  '-->',
  '<script>',
  '</script>',
  '<script',
  '</script',
  '</script >',
  '</script/',
  '</scriptx>',
  '<scriptx>',
  'x',
  '-',
  '--',
  '>',
  '<',
  '</',
  '<!-',
  '<!',
  '<!-->',
  '<!--->',
  '</SCRIPT>',
  '<ScRiPt/>',
  '</style>',
  '\0',
  '\r\n',
  '<script-->',
  '--!>',
  '<!--<script>',
  '</script\t>',
  '/',
  '!',
  '-- >',
  '---->',
  '<<script>',
  '</</script>',
  ',-1.5,-0.25'
]

type Random = () => number

function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)]
}

function tagPiece(random: Random, tags: readonly string[]): string {
  const name = pick(random, tags)
  if (random() < 0.4) return `</${name}${random() < 0.05 ? pick(random, ATTRIBUTES) : ''}>`
  return `<${random() < 0.1 ? name.toUpperCase() : name}${random() < 0.3 ? pick(random, ATTRIBUTES) : ''}>`
}

/** A page of tags and text alone. No tag of it starts raw text. */
export function randomMarkup(random: Random, pieces: number): string {
  const tags = (random() < 0.25 ? ALL_TAGS : pick(random, THEMES)).filter(tag => !RAW_TEXT.includes(tag))
  let page = pick(random, DOCTYPES)
  for (let left = pieces; left > 0; left--) {
    page += random() < 0.9 ? tagPiece(random, tags) : pick(random, [' ', 'x', '\n', '\0', '<!-- x -->'])
  }
  return behindSvg(page)
}

/** parse5 has a mode "in select", the standard has none. */
function behindSvg(page: string): string {
  return /<select/i.test(page) ? `<svg></svg>${page}` : page
}

/** `*` is a tag. */
const CONTEXTS = [
  '<*>',
  '<*></*>',
  '</*>',
  '<p><*>',
  '<p><*></p>',
  '<x-y><*><svg></x-y>',
  '<*><*>',
  '<*><svg></*>',
  '<*><svg><desc></*>',
  '<svg><*>',
  '<svg><desc><*>',
  '<svg><*><g></*>',
  '<math><*>',
  '<math><mi><*>',
  '<math><annotation-xml><*>',
  '<b><*></b>',
  '<p><b></p><*>',
  '<b><object><*></b>',
  '<table><*>',
  '<table><caption><*>',
  '<table><colgroup><*>',
  '<table><tbody><*>',
  '<table><tr><*>',
  '<table><td><*>',
  '<table><td><*></table>',
  '<table><tr><td></*>',
  '<table><tr></*>',
  '<table></*>',
  '<table><caption></*>',
  '<table><colgroup></*>',
  '<table><tbody></*>',
  '<template><*>',
  '<template><*></template>',
  '<template><tr></*>',
  '<ul><li><*><li>',
  '<dl><dd><*><dt>',
  '<button><*><button>',
  '<button><p><*>',
  '<form><*></form>',
  '<ruby><rtc><*>',
  '<ruby><rt><*>',
  '<ruby><*><rb>',
  '<option><*>',
  '<optgroup><option><*><optgroup>',
  '<h1><*>',
  '<h1><*></h2>',
  '<object><*></object>',
  '<li><ol><*></li>',
  '<p><object><*></p>',
  '<a><*><a>',
  '<nobr><*><nobr>',
  '<body><*><frameset>',
  '<*><frameset>'
]

/** What no single tag does: the order in which formatting elements are opened again. */
const KNOTS = [`<b><i>${'<div>'.repeat(8)}</b>${'</div>'.repeat(8)}x`, `<b><i><u>${'<p>'.repeat(2)}</b></i>x<p>x`]

/** Every tag that parse5 has a name for, in every context. */
export function everyTag(): readonly string[] {
  const tags = Object.values(html.TAG_NAMES).filter(tag => !RAW_TEXT.includes(tag))
  return [...KNOTS, ...CONTEXTS.flatMap(context => tags.map(tag => context.replaceAll('*', tag)))]
}

export interface RandomPage {
  /** latin1 text of the bytes */
  readonly page: string
  /** ids that its scripts may have */
  readonly ids: readonly string[]
}

/** A page of up to `maxPieces` pieces. */
export function randomPage(random: Random, maxPieces: number): RandomPage {
  const tags = random() < 0.25 ? ALL_TAGS : pick(random, THEMES)
  const texts = random() < 0.2 ? [...TEXTS, ...CDATA, ...CDATA] : TEXTS
  const ids: string[] = []
  const probe = (): string => {
    if (ids.length === 0 || random() < 0.95) ids.push(`d${ids.length}`)
    const id = ids[ids.length - 1]
    const attributes = pick(random, random() < 0.7 ? IDS.slice(0, 3) : IDS)
      .replace('?', id)
      .replace('~', id.slice(1))
    let text = `${ids.length}`
    for (let i = random() < 0.7 ? 0 : Math.floor(random() * 7); i > 0; i--) text += pick(random, SCRIPT_TEXTS)
    return `<script${attributes}>${text}</script>`
  }
  const piece = (): string => {
    const kind = random()
    if (kind < 0.28) return probe()
    if (kind < 0.85) return tagPiece(random, tags)
    return pick(random, kind < 0.96 ? texts : SCRIPT_TEXTS)
  }
  let page = pick(random, DOCTYPES)
  for (let left = 1 + Math.floor(random() * maxPieces); left > 0; left--) page += piece()
  if (texts !== TEXTS && HAS_POINTS.test(page)) page = page.replace(/<!\[CDATA\[/g, '<!-- -->')
  return { page: behindSvg(page), ids: [...new Set(ids)] }
}

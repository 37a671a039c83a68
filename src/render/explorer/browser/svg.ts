/** A scene as an SVG file. */
import { escapeHtml } from '../../page/text.js'
import { SCENE_FONT, type Scene, type SceneItem, type SceneStroke } from './scene.js'

/** Hundredths of a pixel. */
function number(value: number): string {
  return String(Math.round(value * 100) / 100)
}

function pathData({ points, pairs = false }: SceneStroke): string {
  const parts: string[] = []
  for (let i = 0; i + 1 < points.length; i += 2) {
    const move = i === 0 || (pairs && i % 4 === 0)
    parts.push(`${move ? 'M' : 'L'}${number(points[i])} ${number(points[i + 1])}`)
  }
  return parts.join('')
}

const ANCHORS = { left: 'start', center: 'middle', right: 'end' } as const

function itemMarkup(item: SceneItem): string {
  if (item.kind === 'line') {
    const dash = item.dash === undefined ? '' : ` stroke-dasharray="${item.dash.join(' ')}"`
    return `<path d="${pathData(item)}" fill="none" stroke="${item.stroke}" stroke-width="${item.width}" stroke-linejoin="round"${dash}/>`
  }
  if (item.kind === 'box') {
    const { x, y, width, height } = item.box
    return `<rect x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}" fill="${item.fill}"/>`
  }
  if (item.kind === 'text') {
    const weight = item.bold === true ? ' font-weight="600"' : ''
    const place = `x="${number(item.x)}" y="${number(item.y)}" text-anchor="${ANCHORS[item.align]}"`
    return `<text ${place} font-size="${item.size}"${weight} fill="${item.fill}">${escapeHtml(item.text)}</text>`
  }
  const circles: string[] = []
  for (let i = 0; i + 1 < item.points.length; i += 2) {
    circles.push(`<circle cx="${number(item.points[i])}" cy="${number(item.points[i + 1])}" r="${item.radius}"/>`)
  }
  return `<g fill="${item.fill}">${circles.join('')}</g>`
}

export function sceneSvg({ width, height, background, layers }: Scene): string {
  const clips = layers.map(({ clip }, k) =>
    clip === null
      ? ''
      : `<clipPath id="clip-${k}"><rect x="${clip.x}" y="${clip.y}" width="${clip.width}" height="${clip.height}"/></clipPath>`
  )
  const groups = layers.map(
    ({ clip, items }, k) => `<g${clip === null ? '' : ` clip-path="url(#clip-${k})"`}>\n${items.map(itemMarkup).join('\n')}\n</g>`
  )
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${escapeHtml(SCENE_FONT)}">
<defs>${clips.join('')}</defs>
<rect width="100%" height="100%" fill="${background}"/>
${groups.join('\n')}
</svg>
`
}

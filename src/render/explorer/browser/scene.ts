/**
 * A drawing as plain data: strokes, boxes, dots and texts, in pixels from its upper left corner. The screen, the PNG and the SVG are made
 * of the same scene.
 */
export interface SceneBox {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** x and y of each point in turn: one line through all of them, or one for each two */
export interface SceneStroke {
  readonly kind: 'line'
  readonly points: ArrayLike<number>
  readonly pairs?: boolean
  readonly stroke: string
  readonly width: number
  readonly dash?: readonly number[]
}

export type SceneItem =
  | SceneStroke
  | { readonly kind: 'dots'; readonly points: ArrayLike<number>; readonly fill: string; readonly radius: number }
  | { readonly kind: 'box'; readonly box: SceneBox; readonly fill: string }
  | {
      readonly kind: 'text'
      readonly x: number
      /** of the base line */
      readonly y: number
      readonly text: string
      readonly align: 'left' | 'center' | 'right'
      readonly fill: string
      readonly size: number
      readonly bold?: boolean
    }

export interface SceneLayer {
  /** nothing is drawn beyond it */
  readonly clip: SceneBox | null
  readonly items: readonly SceneItem[]
}

export interface Scene {
  readonly width: number
  readonly height: number
  readonly background: string
  readonly layers: readonly SceneLayer[]
}

export const LABEL_SIZE = 11
export const SCENE_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'

function paintStrokes(context: CanvasRenderingContext2D, item: SceneStroke): void {
  const { points, pairs = false, stroke, width, dash = [] } = item
  context.strokeStyle = stroke
  context.lineWidth = width
  context.lineJoin = 'bevel'
  context.setLineDash([...dash])
  context.beginPath()
  for (let i = 0; i + 1 < points.length; i += 2) {
    if (i === 0 || (pairs && i % 4 === 0)) context.moveTo(points[i], points[i + 1])
    else context.lineTo(points[i], points[i + 1])
  }
  context.stroke()
}

function paintItem(context: CanvasRenderingContext2D, item: SceneItem): void {
  if (item.kind === 'line') {
    paintStrokes(context, item)
    return
  }
  context.fillStyle = item.fill
  if (item.kind === 'box') {
    context.fillRect(item.box.x, item.box.y, item.box.width, item.box.height)
    return
  }
  if (item.kind === 'text') {
    context.font = `${item.bold === true ? '600 ' : ''}${item.size}px ${SCENE_FONT}`
    context.textAlign = item.align
    context.fillText(item.text, item.x, item.y)
    return
  }
  context.beginPath()
  for (let i = 0; i + 1 < item.points.length; i += 2) {
    context.moveTo(item.points[i] + item.radius, item.points[i + 1])
    context.arc(item.points[i], item.points[i + 1], item.radius, 0, 2 * Math.PI)
  }
  context.fill()
}

/** Paints a scene over all of a canvas. @param density pixels of the canvas for one of the scene */
export function paintScene(canvas: HTMLCanvasElement, scene: Scene, density: number): void {
  const [width, height] = [Math.round(scene.width * density), Math.round(scene.height * density)]
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height]
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('this browser draws on no canvas')
  context.setTransform(density, 0, 0, density, 0, 0)
  context.fillStyle = scene.background
  context.fillRect(0, 0, scene.width, scene.height)
  for (const { clip, items } of scene.layers) {
    context.save()
    if (clip !== null) {
      context.beginPath()
      context.rect(clip.x, clip.y, clip.width, clip.height)
      context.clip()
    }
    for (const item of items) paintItem(context, item)
    context.restore()
  }
}

/** Pixels of a text of the size of axis labels. */
export const labelPixels = measured()

function measured(): (text: string) => number {
  let context: CanvasRenderingContext2D | null = null
  return text => {
    context ??= document.createElement('canvas').getContext('2d')
    if (context === null) throw new Error('this browser draws on no canvas')
    context.font = `${LABEL_SIZE}px ${SCENE_FONT}`
    return context.measureText(text).width
  }
}

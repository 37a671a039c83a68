/** All of a trace in a strip, with a frame around what is in view. The pointer moves the frame. The keys of the plot do the same. */
import type { Range } from '../../figures/ticks.js'
import type { TraceView } from '../contract.js'
import { drawingColours } from './colours.js'
import { element } from './dom.js'
import { paintScene } from './scene.js'
import type { TokenRange } from './tokens.js'

export class Minimap {
  readonly element = element('div', { class: 'minimap', attributes: { 'aria-hidden': 'true' } })
  readonly #canvas = element('canvas')
  readonly #frame = element('div', { class: 'frame' })
  #tokens = 1

  /** @param centre is called with the token that the frame is to be around */
  constructor(centre: (token: number) => void) {
    this.element.append(this.#canvas, this.#frame)
    const move = (event: PointerEvent): void => {
      const { left, width } = this.element.getBoundingClientRect()
      centre(((event.clientX - left) / width) * this.#tokens)
    }
    this.element.addEventListener('pointerdown', event => {
      this.element.setPointerCapture(event.pointerId)
      move(event)
    })
    this.element.addEventListener('pointermove', event => {
      if (this.element.hasPointerCapture(event.pointerId)) move(event)
    })
  }

  /** @param tokens of the axis, of which the view may be a part */
  show([from, to]: TokenRange, tokens: number): void {
    this.#tokens = tokens
    this.#frame.hidden = from === 0 && to === tokens
    this.#frame.style.left = `${(100 * from) / tokens}%`
    this.#frame.style.width = `${(100 * (to - from)) / tokens}%`
  }

  clear(): void {
    this.#canvas.width = 0
  }

  /** @param view of the whole trace */
  draw(view: TraceView, values: Range, colour: string): void {
    const { clientWidth: width, clientHeight: height } = this.element
    if (width === 0) return
    const points = new Float64Array(2 * view.index.length)
    for (let k = 0; k < view.index.length; k++) {
      points[2 * k] = ((view.index[k] + 0.5) / this.#tokens) * width
      points[2 * k + 1] = 2 + ((values.max - view.value[k]) / (values.max - values.min || 1)) * (height - 4)
    }
    const items = [{ kind: 'line', points, stroke: colour, width: 1 }] as const
    paintScene(
      this.#canvas,
      { width, height, background: drawingColours().paper, layers: [{ clip: null, items }] },
      Math.min(3, devicePixelRatio)
    )
  }
}

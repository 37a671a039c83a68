/**
 * What pointers and the wheel mean on a plot.
 *
 *     wheel               zoom at the pointer; sideways, or with shift: move
 *     mouse, drag         choose what to zoom to; with shift or the middle button: move
 *     one finger, drag    move
 *     two fingers         zoom and move
 *     click, tap          put the cursor there
 *     double click        show all
 */
export interface PlotGestures {
  hover(x: number, y: number): void
  leave(): void
  point(x: number, y: number): void
  /** Shows what would be zoomed to; null: nothing. */
  selecting(ends: readonly [number, number] | null): void
  select(ends: readonly [number, number]): void
  /** @param pixels by which what is drawn moves to the right */
  move(pixels: number): void
  /** @param factor of the tokens in view; below 1 they become fewer */
  zoom(x: number, factor: number): void
  all(): void
}

/** pixels that a click may move */
const STILL = 4
/** pixels of a line where a wheel counts lines */
const LINE = 16

interface PlotPointer {
  readonly startX: number
  readonly pans: boolean
  x: number
  moved: boolean
}

/** @param area receives the events; coordinates are in pixels from its upper left corner */
export function listenToGestures(area: HTMLElement, gestures: PlotGestures): void {
  const pointers = new Map<number, PlotPointer>()
  const place = (event: MouseEvent): { readonly x: number; readonly y: number } => {
    const { left, top } = area.getBoundingClientRect()
    return { x: event.clientX - left, y: event.clientY - top }
  }

  area.addEventListener('pointerdown', event => {
    if (event.button > 1) return
    const { x } = place(event)
    const pans = event.pointerType === 'touch' || event.shiftKey || event.button === 1
    pointers.set(event.pointerId, { startX: x, pans, x, moved: false })
    area.setPointerCapture(event.pointerId)
  })

  area.addEventListener('pointermove', event => {
    const { x, y } = place(event)
    const pointer = pointers.get(event.pointerId)
    if (pointer === undefined) return gestures.hover(x, y)
    const [first, second] = [...pointers.values()]
    if (second !== undefined) {
      const [spread, middle] = [Math.abs(first.x - second.x), (first.x + second.x) / 2]
      for (const finger of [first, second]) finger.moved = true
      pointer.x = x
      gestures.zoom((first.x + second.x) / 2, Math.max(8, spread) / Math.max(8, Math.abs(first.x - second.x)))
      return gestures.move((first.x + second.x) / 2 - middle)
    }
    pointer.moved ||= Math.abs(x - pointer.startX) > STILL
    if (!pointer.moved) return
    if (pointer.pans) gestures.move(x - pointer.x)
    else gestures.selecting([Math.min(pointer.startX, x), Math.max(pointer.startX, x)])
    pointer.x = x
  })

  const lift = (event: PointerEvent, done: boolean): void => {
    const pointer = pointers.get(event.pointerId)
    pointers.delete(event.pointerId)
    gestures.selecting(null)
    if (pointer === undefined || !done) return
    const { x, y } = place(event)
    if (!pointer.moved) gestures.point(x, y)
    else if (!pointer.pans) gestures.select([Math.min(pointer.startX, x), Math.max(pointer.startX, x)])
  }
  area.addEventListener('pointerup', event => lift(event, true))
  area.addEventListener('pointercancel', event => lift(event, false))
  area.addEventListener('pointerleave', () => gestures.leave())
  area.addEventListener('dblclick', () => gestures.all())
  area.addEventListener(
    'wheel',
    event => {
      event.preventDefault()
      const unit = event.deltaMode === 0 ? 1 : LINE
      const [across, down] = event.shiftKey ? [event.deltaX || event.deltaY, 0] : [event.deltaX, event.deltaY]
      if (Math.abs(across) > Math.abs(down)) gestures.move(-across * unit)
      else gestures.zoom(place(event).x, Math.exp(Math.max(-1, Math.min(1, (down * unit) / 300))))
    },
    { passive: false }
  )
}

/** Elements by script. Text of a source goes into text nodes and into attributes that hold text, never into markup. */

export interface ElementOptions {
  readonly class?: string
  readonly text?: string
  readonly attributes?: Readonly<Record<string, string>>
  readonly on?: Readonly<Record<string, (event: Event) => void>>
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { class: names, text, attributes = {}, on = {} }: ElementOptions = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  if (names !== undefined) made.className = names
  if (text !== undefined) made.textContent = text
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  for (const [name, listener] of Object.entries(on)) made.addEventListener(name, listener)
  made.append(...children)
  return made
}

export function button(text: string, press: () => void, attributes: Readonly<Record<string, string>> = {}): HTMLButtonElement {
  return element('button', { text, attributes: { type: 'button', ...attributes }, on: { click: press } })
}

/** Calls `draw` once in the next frame, however often it is asked to. */
export function oncePerFrame(draw: () => void): () => void {
  let waits = false
  return () => {
    if (waits) return
    waits = true
    requestAnimationFrame(() => {
      waits = false
      draw()
    })
  }
}

/** Calls `act` when nothing asked for it for a while. */
export function whenQuiet(act: () => void, milliseconds: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  return () => {
    clearTimeout(timer)
    timer = setTimeout(act, milliseconds)
  }
}

/** The state of tree construction that the rules of all insertion modes share. There is no tree. */
import type { FormattingElements } from './formatting.js'
import type { Handle, OpenElements } from './open-elements.js'
import type { Content, Tag } from './tags.js'

/** The insertion mode. `columns` is "in column group". */
export type Mode = 'body' | 'template' | 'frameset' | 'table' | 'caption' | 'columns' | 'tableBody' | 'row' | 'cell'

export interface Tree {
  readonly open: OpenElements
  readonly formatting: FormattingElements
  /** the stack of template insertion modes */
  readonly templateModes: Mode[]
  readonly quirks: boolean
  readonly inTemplate: boolean
  /** elements go into the body now; a frameset may still replace it */
  readonly bodyStarted: boolean
  mode: Mode
  /** the form element pointer; a form that is no longer open still blocks the next one */
  form: Handle | null
  framesetOk: boolean
  /** handles a start tag by the rules of the current mode; see `Content` */
  htmlStart(tag: Tag): Content
  htmlEnd(name: string): void
  resetMode(): void
}

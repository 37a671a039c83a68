/** What the rules of the insertion modes share: the state of tree construction, without a tree. */
import type { FormattingElements } from './formatting.js'
import type { Handle, OpenElements } from './open-elements.js'
import type { ContentModel, Tag } from './tags.js'

/** The insertion mode. `columns` is "in column group". */
export type Mode = 'body' | 'template' | 'frameset' | 'table' | 'caption' | 'columns' | 'tableBody' | 'row' | 'cell'

export interface TreeState {
  readonly open: OpenElements
  readonly formatting: FormattingElements
  /** the stack of template insertion modes */
  readonly templateModes: Mode[]
  readonly quirks: boolean
  readonly inTemplate: boolean
  /** elements are in the body now, which a frameset may still replace */
  readonly bodyStarted: boolean
  mode: Mode
  /** the form element pointer; a form that is not open any more still blocks the next one */
  form: Handle | null
  framesetOk: boolean
  /** a start tag by the rules of the mode that is current now; see `Content` */
  htmlStart(tag: Tag): ContentModel
  htmlEnd(name: string): void
  resetMode(): void
}

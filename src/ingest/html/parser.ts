/**
 * Uses parse5 for tree construction alone (HTML standard, 13.2.6). It takes a page's outline, tag by tag, and answers how
 * the bytes behind a tag are read and where the last element stands. No tree is kept: memory holds the open elements only.
 * Scripting is on, so `noscript` is raw text.
 *
 * parse5 8.1.1 departs from the living standard in a few places. docs/verify.md lists them, `fixtures/html/departures.jsonl` has pages.
 * A script's text never comes here: the outline has none.
 *
 * Not supported: more than MAX_OPEN elements at once; markup that takes more steps than its length allows (each `<p>` opens every
 * open formatting element again, an end tag may walk down all open elements).
 */
import { html, Parser, TokenizerMode, type Token, type TreeAdapter, type TreeAdapterTypeMap } from 'parse5'
import { Fault } from '../../core/errors.js'
import type { ContentModel } from './tags.js'

const { DOCUMENT_MODE, NS } = html

/** Some hundred megabytes. Browsers stop nesting at 512. */
const MAX_OPEN = 2 ** 20

/**
 * Steps that parse5 may take, at most this many and as many for each character of markup: in time, two seconds and some more for each
 * megabyte. An element that is made counts as many as MADE, a look at an open one as one.
 */
const MAX_STEPS = 2 ** 28
const STEPS_A_CHARACTER = 64
const MADE = 128

/** Characters of read text that parse5 may keep. */
const KEPT_TEXT = 64

interface OpenNode {
  readonly name: string
  readonly namespace: html.NS
  readonly attributes: Token.Attribute[]
}

type Nodes = TreeAdapterTypeMap<OpenNode, OpenNode, OpenNode, OpenNode, OpenNode, OpenNode, OpenNode, OpenNode, OpenNode, OpenNode>

/** What parse5 makes its tokenizer read behind a tag. */
const CONTENTS: ReadonlyMap<number, ContentModel> = new Map<number, ContentModel>([
  [TokenizerMode.RCDATA, 'rcdata'],
  [TokenizerMode.RAWTEXT, 'rawtext'],
  [TokenizerMode.SCRIPT_DATA, 'script'],
  [TokenizerMode.PLAINTEXT, 'plaintext']
])

export class DocumentParser {
  readonly #parser: Parser<Nodes>
  #steps = 0
  #maxSteps = MAX_STEPS
  /** a frameset has replaced the body, and with it every element in it */
  bodyRemoved = false

  constructor() {
    const treeAdapter = {
      ...withoutTree(count => {
        this.#step(count)
      }),
      onItemPush: () => {
        requireRoom(this.#parser.openElements.depth)
      },
      detachNode: ({ name }: OpenNode) => {
        if (name === 'body') this.bodyRemoved = true
      }
    } as TreeAdapter<Nodes>
    this.#parser = new Parser<Nodes>({ treeAdapter })
    // Each write joins what is kept of the text with the new one: 64 KiB, unless told otherwise.
    this.#parser.tokenizer.preprocessor.bufferWaterline = KEPT_TEXT
  }

  /** Takes whole tags, doctypes and text. Throws a Fault where elements are nested too deep or take too many steps. */
  write(outline: string): void {
    this.#maxSteps += STEPS_A_CHARACTER * outline.length
    this.#parser.tokenizer.write(outline, false)
  }

  /** How the bytes behind the last start tag are read; `script` for HTML script elements only. */
  get content(): ContentModel {
    return CONTENTS.get(this.#parser.tokenizer.state) ?? 'data'
  }

  /** Whether `<![CDATA[` starts a CDATA section here: the current node is no HTML element. */
  get inForeignContent(): boolean {
    return this.#parser.openElements.current?.namespace !== NS.HTML
  }

  get inTemplate(): boolean {
    return this.#parser.openElements.tmplCount > 0
  }

  get inBody(): boolean {
    return this.#parser.openElements.items[1]?.name === 'body'
  }

  #step(count: number): void {
    this.#steps += count
    if (this.#steps <= this.#maxSteps) return
    throw new Fault({
      format: 'html',
      problem: 'too tangled',
      found: `more than ${this.#maxSteps} steps to find where its elements stand`,
      expected: 'a page with fewer open elements'
    })
  }
}

function requireRoom(depth: number): void {
  if (depth <= MAX_OPEN) return
  throw new Fault({ format: 'html', problem: 'nested too deep', found: `${depth} open elements`, expected: `at most ${MAX_OPEN}` })
}

/** The functions that the parser calls while it keeps no locations. No node has a parent or a child. */
function withoutTree(step: (count: number) => void): Partial<TreeAdapter<Nodes>> {
  const node = (name: string, namespace = NS.HTML, attributes: Token.Attribute[] = []): OpenNode => ({ name, namespace, attributes })
  const ignore = (): void => undefined
  let mode = DOCUMENT_MODE.NO_QUIRKS
  return {
    createDocument: () => node('#document'),
    createDocumentFragment: () => node('#fragment'),
    createElement: (name, namespace, attributes) => {
      step(MADE)
      return node(name, namespace, attributes)
    },
    createCommentNode: () => node('#comment'),
    appendChild: ignore,
    insertBefore: ignore,
    insertText: ignore,
    insertTextBefore: ignore,
    adoptAttributes: ignore,
    setDocumentType: ignore,
    setDocumentMode: (_, next) => {
      mode = next
    },
    getDocumentMode: () => mode,
    setTemplateContent: ignore,
    getTemplateContent: template => template,
    getAttrList: ({ attributes }) => {
      step(1)
      return attributes
    },
    getChildNodes: () => [],
    getNamespaceURI: ({ namespace }) => {
      step(1)
      return namespace
    },
    getParentNode: () => null,
    getTagName: ({ name }) => {
      step(1)
      return name
    }
  }
}

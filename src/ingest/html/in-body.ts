/**
 * The insertion mode "in body" (HTML standard, 13.2.6.4.7), in which the elements of a head are treated as "in head"
 * treats them. A select has no mode of its own in the living standard.
 */
import type { TreeState } from './insertion.js'
import { KIND, type OpenElements } from './open-elements.js'
import { BLOCK_END, BLOCK_START, FORMATTING, HEADINGS, isHidden, TABLE_PARTS, type ContentModel, type Tag } from './tags.js'

/** "In body" and, for the elements of a head, "in head". */
export function startInBody(tree: TreeState, tag: Tag): ContentModel {
  const { open, formatting } = tree
  const { name } = tag
  if (BLOCK_START.has(name)) return openBlock(tree, name)
  if (TABLE_PARTS.has(name)) return 'data'
  switch (name) {
    case 'html': case 'head': case 'frame': case 'base': case 'basefont': case 'bgsound': case 'link': case 'meta':
    case 'param': case 'source': case 'track':
      return 'data'
    case 'script': return 'script'
    case 'title': return 'rcdata'
    case 'style': case 'noframes': case 'noembed': case 'noscript': return 'rawtext'
    case 'template':
      open.push(name)
      formatting.mark()
      tree.framesetOk = false
      tree.templateModes.push('template')
      tree.mode = 'template'
      return 'data'
    case 'body':
      if (!tree.inTemplate) tree.framesetOk = false
      return 'data'
    case 'frameset':
      if (tree.inTemplate || (tree.bodyStarted && !tree.framesetOk)) return 'data'
      open.truncate(1)
      tree.mode = 'frameset'
      return 'data'
    case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6':
      closeP(open)
      if (HEADINGS.has(open.currentKey)) open.pop()
      open.push(name)
      return 'data'
    case 'pre': case 'listing':
      tree.framesetOk = false
      return openBlock(tree, name)
    case 'form':
      if (tree.form !== null && !tree.inTemplate) return 'data'
      closeP(open)
      if (tree.inTemplate) open.push(name)
      else open.push(name, KIND.html, tree.form = { index: -1 })
      return 'data'
    case 'li': case 'dd': case 'dt':
      tree.framesetOk = false
      closeItem(open, name === 'li' ? ['li'] : ['dd', 'dt'])
      return openBlock(tree, name)
    case 'plaintext':
      openBlock(tree, name)
      return 'plaintext'
    case 'button':
      if (open.inScope(name)) open.popThrough(name)
      return openMarked(tree, name, false)
    case 'applet': case 'marquee': case 'object':
      return openMarked(tree, name, true)
    case 'a':
      formatting.closeListed(name)
      formatting.reconstruct()
      formatting.push(tag)
      return 'data'
    case 'nobr':
      formatting.reconstruct()
      if (open.inScope(name)) {
        if (!formatting.adopt(name)) anyOtherEnd(open, name)
        formatting.reconstruct()
      }
      formatting.push(tag)
      return 'data'
    case 'table':
      if (!tree.quirks) closeP(open)
      open.push(name)
      tree.framesetOk = false
      tree.mode = 'table'
      return 'data'
    case 'area': case 'br': case 'embed': case 'img': case 'image': case 'keygen': case 'wbr':
      formatting.reconstruct()
      tree.framesetOk = false
      return 'data'
    case 'input':
      if (open.inScope('select')) open.popThrough('select')
      formatting.reconstruct()
      if (!isHidden(tag)) tree.framesetOk = false
      return 'data'
    case 'hr':
      closeP(open)
      if (open.inScope('select')) open.closeImplied()
      tree.framesetOk = false
      return 'data'
    case 'textarea':
      tree.framesetOk = false
      return 'rcdata'
    case 'xmp':
      closeP(open)
      formatting.reconstruct()
      tree.framesetOk = false
      return 'rawtext'
    case 'iframe':
      tree.framesetOk = false
      return 'rawtext'
    case 'select':
      if (open.inScope(name)) {
        open.popThrough(name)
        return 'data'
      }
      return openMarked(tree, name, false)
    case 'option': case 'optgroup':
      if (open.inScope('select')) open.closeImplied(name === 'option' ? 'optgroup' : '')
      else if (open.currentKey === 'option') open.pop()
      break
    case 'rb': case 'rtc': case 'rp': case 'rt':
      if (open.inScope('ruby')) open.closeImplied(name === 'rp' || name === 'rt' ? 'rtc' : '')
      open.push(name)
      return 'data'
    case 'svg': case 'math':
      formatting.reconstruct()
      open.pushForeign(name, tag)
      return 'data'
  }
  formatting.reconstruct()
  if (FORMATTING.has(name)) formatting.push(tag)
  else open.push(name)
  return 'data'
}

/** An end tag other than `</template>` by the rules of "in body". */
export function endInBody(tree: TreeState, name: string): void {
  const { open, formatting } = tree
  if (BLOCK_END.has(name)) {
    if (open.inScope(name)) open.popThrough(name)
    return
  }
  if (FORMATTING.has(name)) {
    if (!formatting.adopt(name)) anyOtherEnd(open, name)
    return
  }
  switch (name) {
    case 'body': case 'html': return
    case 'form': return endForm(tree)
    case 'p': return closeP(open)
    case 'li':
      if (open.inListItemScope(name)) open.popThrough(name)
      return
    case 'dd': case 'dt':
      if (open.inScope(name)) open.popThrough(name)
      return
    case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6': {
      const index = Math.max(...[...HEADINGS].map(heading => open.indexOf(heading)))
      if (index >= open.scopeBoundary) open.truncate(index)
      return
    }
    case 'applet': case 'marquee': case 'object':
      if (!open.inScope(name)) return
      open.popThrough(name)
      formatting.clearToMarker()
      return
    case 'br':
      formatting.reconstruct()
      tree.framesetOk = false
      return
  }
  anyOtherEnd(open, name)
}

function anyOtherEnd(open: OpenElements, name: string): void {
  const index = open.indexOf(name)
  if (index >= open.topmostSpecial) open.truncate(index)
}

function closeP(open: OpenElements): void {
  if (open.inButtonScope('p')) open.popThrough('p')
}

function openBlock(tree: TreeState, name: string): ContentModel {
  closeP(tree.open)
  tree.open.push(name)
  return 'data'
}

function openMarked(tree: TreeState, name: string, marker: boolean): ContentModel {
  tree.formatting.reconstruct()
  tree.open.push(name)
  if (marker) tree.formatting.mark()
  tree.framesetOk = false
  return 'data'
}

/** Before a list item: closes the one that is open, unless a special element other than address, div, p is inside. */
function closeItem(open: OpenElements, items: readonly string[]): void {
  let index = open.topmostSpecial
  while (['address', 'div', 'p'].includes(open.keyAt(index))) {
    index = open.specialBelow(index)
    open.charge(1)
  }
  if (items.includes(open.keyAt(index))) open.truncate(index)
}

function endForm(tree: TreeState): void {
  const { open, form } = tree
  if (tree.inTemplate) {
    if (open.inScope('form')) open.popThrough('form')
    return
  }
  tree.form = null
  if (form === null || form.index < open.scopeBoundary) return
  open.closeImplied()
  open.remove(form.index)
}

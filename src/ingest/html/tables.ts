/**
 * The insertion modes of tables (HTML standard, 13.2.6.4.9 to 13.2.6.4.15). Foster parenting moves nodes, not open
 * elements, so that it does not show here.
 */
import { endInBody, startInBody } from './in-body.js'
import type { Mode, TreeState } from './insertion.js'
import { isHidden, TABLE_PARTS, type ContentModel, type Tag } from './tags.js'

const BODIES = ['tbody', 'tfoot', 'thead']

/** "Clear the stack back to a table (body, row) context". */
function clearTo(tree: TreeState, context: readonly string[]): void {
  const { open } = tree
  open.truncate(Math.max(0, open.indexOf('template'), ...context.map(key => open.indexOf(key))) + 1)
}

function openPart(tree: TreeState, context: readonly string[], name: string, mode: Mode): void {
  clearTo(tree, context)
  tree.open.push(name)
  tree.mode = mode
}

function closeCell(tree: TreeState): void {
  const { open } = tree
  open.truncate(Math.max(open.indexOf('td'), open.indexOf('th')))
  tree.formatting.clearToMarker()
  tree.mode = 'row'
}

function closeCaption(tree: TreeState): boolean {
  if (!tree.open.inTableScope('caption')) return false
  tree.open.popThrough('caption')
  tree.formatting.clearToMarker()
  tree.mode = 'table'
  return true
}

function closeRow(tree: TreeState): boolean {
  if (!tree.open.inTableScope('tr')) return false
  clearTo(tree, ['tr'])
  tree.open.pop()
  tree.mode = 'tableBody'
  return true
}

function closeBody(tree: TreeState): boolean {
  if (!BODIES.some(name => tree.open.inTableScope(name))) return false
  clearTo(tree, BODIES)
  tree.open.pop()
  tree.mode = 'table'
  return true
}

function closeColumns(tree: TreeState): boolean {
  if (tree.open.currentKey !== 'colgroup') return false
  tree.open.pop()
  tree.mode = 'table'
  return true
}

/** A start tag in one of the table modes. */
export function startInTable(tree: TreeState, tag: Tag): ContentModel {
  const { name } = tag
  switch (tree.mode) {
    case 'caption':
      if (!TABLE_PARTS.has(name)) return startInBody(tree, tag)
      return closeCaption(tree) ? tree.htmlStart(tag) : 'data'
    case 'cell':
      if (!TABLE_PARTS.has(name)) return startInBody(tree, tag)
      if (!tree.open.inTableScope('td') && !tree.open.inTableScope('th')) return 'data'
      closeCell(tree)
      return tree.htmlStart(tag)
    case 'columns':
      if (name === 'html' || name === 'col') return 'data'
      if (name === 'template') return startInBody(tree, tag)
      return closeColumns(tree) ? tree.htmlStart(tag) : 'data'
    case 'row':
      if (name === 'td' || name === 'th') {
        openPart(tree, ['tr'], name, 'cell')
        tree.formatting.mark()
        return 'data'
      }
      if (!TABLE_PARTS.has(name)) break
      return closeRow(tree) ? tree.htmlStart(tag) : 'data'
    case 'tableBody':
      if (name === 'td' || name === 'th' || name === 'tr') {
        openPart(tree, BODIES, 'tr', 'row')
        return name === 'tr' ? 'data' : tree.htmlStart(tag)
      }
      if (!TABLE_PARTS.has(name)) break
      return closeBody(tree) ? tree.htmlStart(tag) : 'data'
  }
  return startBetweenParts(tree, tag)
}

/** "In table". */
function startBetweenParts(tree: TreeState, tag: Tag): ContentModel {
  const { name } = tag
  switch (name) {
    case 'caption':
      openPart(tree, ['table'], name, 'caption')
      tree.formatting.mark()
      return 'data'
    case 'colgroup': case 'col':
      openPart(tree, ['table'], 'colgroup', 'columns')
      return 'data'
    case 'tbody': case 'tfoot': case 'thead':
      openPart(tree, ['table'], name, 'tableBody')
      return 'data'
    case 'td': case 'th': case 'tr':
      openPart(tree, ['table'], 'tbody', 'tableBody')
      return tree.htmlStart(tag)
    case 'table':
      if (!tree.open.inTableScope(name)) return 'data'
      tree.open.popThrough(name)
      tree.resetMode()
      return tree.htmlStart(tag)
    case 'form':
      if (tree.form === null && !tree.inTemplate) tree.form = { index: -1 }
      return 'data'
    case 'input':
      if (isHidden(tag)) return 'data'
  }
  return startInBody(tree, tag)
}

/** An end tag other than `</template>` in one of the table modes. */
export function endInTable(tree: TreeState, name: string): void {
  const { open } = tree
  const isTable = name === 'table'
  const isBody = BODIES.includes(name)
  switch (tree.mode) {
    case 'caption':
      if (name === 'caption') closeCaption(tree)
      else if (isTable && closeCaption(tree)) tree.htmlEnd(name)
      else if (!isTable && !isIgnored(name)) endInBody(tree, name)
      return
    case 'cell':
      if (name === 'td' || name === 'th') {
        if (!open.inTableScope(name)) return
        open.popThrough(name)
        tree.formatting.clearToMarker()
        tree.mode = 'row'
      } else if (isTable || isBody || name === 'tr') {
        if (!open.inTableScope(name)) return
        closeCell(tree)
        tree.htmlEnd(name)
      } else if (!isIgnored(name)) {
        endInBody(tree, name)
      }
      return
    case 'columns':
      if (name === 'colgroup') closeColumns(tree)
      else if (name !== 'col' && closeColumns(tree)) tree.htmlEnd(name)
      return
    case 'row':
      if (name === 'tr') {
        closeRow(tree)
        return
      }
      if (isTable || isBody) {
        if (isBody && !open.inTableScope(name)) return
        if (closeRow(tree)) tree.htmlEnd(name)
        return
      }
      break
    case 'tableBody':
      if (isBody) {
        if (open.inTableScope(name)) closeBody(tree)
        return
      }
      if (isTable) {
        if (closeBody(tree)) tree.htmlEnd(name)
        return
      }
  }
  if (isTable) {
    if (!open.inTableScope(name)) return
    open.popThrough(name)
    tree.resetMode()
  } else if (!isIgnored(name)) {
    endInBody(tree, name)
  }
}

/** End tags that every table mode ignores unless it names them. */
function isIgnored(name: string): boolean {
  return name === 'body' || name === 'html' || TABLE_PARTS.has(name)
}

/** The namespaces of Office Open XML, each as transitional and as strict files write it (ECMA-376 parts 1 and 4). */

export const SPREADSHEET: ReadonlySet<string> = new Set([
  'http://schemas.openxmlformats.org/spreadsheetml/2006/main', 'http://purl.oclc.org/ooxml/spreadsheetml/main'
])

export const PRESENTATION: ReadonlySet<string> = new Set([
  'http://schemas.openxmlformats.org/presentationml/2006/main', 'http://purl.oclc.org/ooxml/presentationml/main'
])

export const DRAWING: ReadonlySet<string> = new Set([
  'http://schemas.openxmlformats.org/drawingml/2006/main', 'http://purl.oclc.org/ooxml/drawingml/main'
])

/** Of the attribute `r:id`; followed by `/` and a kind, the type of a relationship. */
export const RELATIONSHIP: ReadonlySet<string> = new Set([
  'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
  'http://purl.oclc.org/ooxml/officeDocument/relationships'
])

/** Of the `.rels` parts, in strict files too. */
export const PACKAGE_RELATIONSHIPS: ReadonlySet<string> = new Set([
  'http://schemas.openxmlformats.org/package/2006/relationships'
])

export const COMPATIBILITY = 'http://schemas.openxmlformats.org/markup-compatibility/2006'

/** `worksheet`, `slide` …: what an office relationship's type says, or the whole type where it is another's. */
export function relationshipKind(type: string): string {
  const slash = type.lastIndexOf('/')
  return RELATIONSHIP.has(type.slice(0, slash)) ? type.slice(slash + 1) : type
}

/** The namespaces of Office Open XML, both of transitional and of strict files (ECMA-376 parts 1 and 4). */

export const SPREADSHEET: ReadonlySet<string> = new Set([
  'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
  'http://purl.oclc.org/ooxml/spreadsheetml/main'
])

export const PRESENTATION: ReadonlySet<string> = new Set([
  'http://schemas.openxmlformats.org/presentationml/2006/main',
  'http://purl.oclc.org/ooxml/presentationml/main'
])

export const DRAWING: ReadonlySet<string> = new Set([
  'http://schemas.openxmlformats.org/drawingml/2006/main',
  'http://purl.oclc.org/ooxml/drawingml/main'
])

/** Namespaces of the attribute `r:id`. With `/` and a kind behind it, each is the type of a relationship. */
export const RELATIONSHIP: ReadonlySet<string> = new Set([
  'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
  'http://purl.oclc.org/ooxml/officeDocument/relationships'
])

/** Namespace of the `.rels` parts, the same in strict files. */
export const PACKAGE_RELATIONSHIPS: ReadonlySet<string> = new Set(['http://schemas.openxmlformats.org/package/2006/relationships'])

export const COMPATIBILITY = 'http://schemas.openxmlformats.org/markup-compatibility/2006'

/** The kind of a relationship, `worksheet`, `slide` …, from its type; the whole type if it is no office type. */
export function relationshipKind(type: string): string {
  const slash = type.lastIndexOf('/')
  return RELATIONSHIP.has(type.slice(0, slash)) ? type.slice(slash + 1) : type
}

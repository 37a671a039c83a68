/** The section of a study on its article and the notes on its evidence: two Markdown templates that the program fills. */
import { flag, object, type Infer } from '../core/checker.js'
import { relativePath } from '../core/path-kinds.js'

export const ARTICLE = object({
  article: { kind: relativePath, doc: 'Template of the article, Markdown with references.' },
  notes: { kind: relativePath, doc: 'Template of the notes on its evidence, Markdown with references.' },
  strict: {
    kind: flag,
    default: false,
    doc: 'A value that the pages cite from an output and that no claim and no source of a discrepancy holds fails `all` and `audit`.'
  }
})

export type ArticleStudy = Infer<typeof ARTICLE>

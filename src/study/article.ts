/**
 * The article section of the study file: two Markdown templates that the program fills. Its type is `ArticleStudy` of the
 * shared schema.
 */
import type { ArticleStudy } from '../schema/evidence.js'
import { flag, nullable, object, relativePath, type Field } from '../core/checker.js'

export const articleSection: Field<ArticleStudy | null> = {
  doc: 'Templates of an article and of the notes on its evidence.',
  kind: nullable<ArticleStudy>(object({
    article: { kind: relativePath, doc: 'Template of the article, Markdown with references.' },
    notes: { kind: relativePath, doc: 'Template of the notes on its evidence, Markdown with references.' },
    strict: {
      kind: flag, default: false,
      doc: 'A value that the pages cite from an output and that no claim and no source of a discrepancy holds fails `all` and `audit`.'
    }
  })),
  default: null
}

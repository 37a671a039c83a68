/** The section of a study on its article and the notes on its evidence: two Markdown templates that the program fills. */
import { flag, list, object, type Infer } from '../core/checker.js'
import { relativePath } from '../core/path-kinds.js'

export const ARTICLE = object({
  article: { kind: relativePath, doc: 'Template of the article, Markdown with references.' },
  notes: { kind: relativePath, doc: 'Template of the notes on its evidence, Markdown with references.' },
  strict: {
    kind: flag,
    default: false,
    doc: 'A value that the pages cite from an output and that no claim and no source of a discrepancy holds fails `all` and `audit`.'
  },
  unpublished: {
    kind: list(relativePath),
    default: [],
    doc:
      'Outputs of which no publication states a value, such as `training_data/critic-diagnostics.json`: the pages cite them without a claim, and ' +
      'the audit counts how often.'
  }
})

export type ArticleStudy = Infer<typeof ARTICLE>

/** The section of a study on its article and the notes on its evidence: two Markdown templates that the program fills. */
import { flag, list, nullable, object, pattern, refine, text, wrong, type Infer } from '../core/checker.js'
import { relativePath } from '../core/path-kinds.js'
import { caption } from './names.js'

const DATE_EXPECTED = 'a date as YYYY-MM-DD'

const date = refine(pattern(DATE_EXPECTED, /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/), (value, at, context) => {
  const time = Date.parse(`${value}T00:00:00Z`)
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== value)
    throw wrong(value, at, 'a day of the calendar', context, 'impossible date')
  return value
})

/** An address that a page links to. */
const address = refine(
  text(2000),
  (value, at, context) => {
    const url = URL.canParse(value) ? new URL(value) : null
    if (!value.startsWith('https://') || url === null || url.username !== '' || url.password !== '') {
      throw wrong(value, at, 'an address that begins with https:// and has no user name', context)
    }
    return url.href
  },
  { pattern: '^https://' }
)

const WORK = object({
  title: { kind: caption, doc: 'Its title, as the link says it.' },
  url: { kind: address, doc: 'Its address, `https:` alone.' }
})

export const ARTICLE = object({
  article: { kind: relativePath, doc: 'Template of the article, Markdown with references.' },
  notes: { kind: relativePath, doc: 'Template of the notes on its evidence, Markdown with references.' },
  date: { kind: nullable(date), default: null, doc: 'Date of the article, below its title: `2026-01-31`.' },
  cite: { kind: nullable(text(2000)), default: null, doc: 'How to cite the article, as one text; the page folds it below the title.' },
  compared: {
    kind: list(WORK, 0, 10),
    default: [],
    doc: 'Papers that the article compares its study with, linked below the title.'
  },
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

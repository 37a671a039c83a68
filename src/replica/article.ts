/**
 * The article part of the replica: two templates, copied unchanged. The program fills them; this module does not read them.
 */
import { fileURLToPath } from 'node:url'
import type { ArticleStudy } from '../schema/article.js'
import { readText } from '../core/still-file.js'
import type { ReplicaPart } from './part.js'

/** Folder beside the compiled module. The build copies the templates there. */
const TEMPLATES = new URL('article/', import.meta.url)

export const ARTICLE_STUDY: ArticleStudy = {
  article: 'article/article.md',
  notes: 'article/source-notes.md',
  date: '2026-11-30',
  cite: 'critic-traces: Single-rollout training of software agents: SAO beside GSPO. Synthetic replica of a study, not measurements. 2026-11-30.',
  compared: [{ title: 'the SAO paper, version 1', url: 'https://paper.example/synthetic/sao-v1' }],
  strict: true,
  unpublished: ['training_data/critic-diagnostics.json']
}

export const article: ReplicaPart = {
  section: 'article',
  seed: 'article/1',
  write: async folder => {
    for (const path of [ARTICLE_STUDY.article, ARTICLE_STUDY.notes]) {
      const template = new URL(path.slice(path.lastIndexOf('/') + 1), TEMPLATES)
      await folder.writeText(path, 'article', await readText(fileURLToPath(template)))
    }
    return ARTICLE_STUDY
  }
}

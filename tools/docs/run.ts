/** `npm run docs`: writes the files in `docs/` that follow from the code. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { docsFiles, ROOT } from './files.js'

for (const [path, text] of docsFiles()) writeFileSync(join(ROOT, path), text)

/** `npm run docs`: writes the files in `docs/` that follow from the code. */
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { docsFiles } from './files.js'

const ROOT = new URL('../../../', import.meta.url)

for (const [path, text] of docsFiles()) await writeFile(fileURLToPath(new URL(path, ROOT)), text)

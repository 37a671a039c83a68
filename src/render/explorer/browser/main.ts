/** The script of the explorer's page. */
import type { ExplorerDocument } from '../contract.js'
import { Explorer } from './app.js'
import { EmbeddedStore } from './embedded-store.js'

const main = document.getElementById('main')
const index = document.getElementById('explorer')
if (main === null || index === null) throw new Error('this page has no traces')
new Explorer(JSON.parse(index.textContent) as ExplorerDocument, new EmbeddedStore(document), main)

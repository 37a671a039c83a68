/** The script of the explorer's page. */
import type { ExplorerDocument } from '../contract.js'
import { Explorer } from './app.js'
import { EmbeddedStore } from './embedded-store.js'
import { ServedStore } from './served-store.js'

const main = document.getElementById('main')
const index = document.getElementById('explorer')
if (main === null || index === null) throw new Error('this page has no traces')
const page = JSON.parse(index.textContent) as ExplorerDocument
new Explorer(page, page.tokens === 'served' ? new ServedStore() : new EmbeddedStore(document), main)

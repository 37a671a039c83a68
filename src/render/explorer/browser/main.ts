/** The script of the explorer's page. */
import type { ExplorerDocument } from '../contract.js'

const found = document.getElementById('explorer')?.textContent ?? ''
const { snapshots } = JSON.parse(found) as ExplorerDocument
const said = document.createElement('p')
said.textContent = `${snapshots.reduce((sum, { traces }) => sum + traces.tokens.length, 0)} traces`
document.getElementById('main')?.append(said)

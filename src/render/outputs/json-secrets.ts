/**
 * The last guard of a JSON output: nothing in it looks like a secret, whatever file it came from. Readers refuse or withhold
 * what they know of; what gets here all the same stops the run, and no output is written.
 */
import { isSecretText } from '../../core/secrets.js'
import { secretFault } from '../../core/secret-guard.js'

/** Texts that were found to be none: keys, paths and hashes come again and again. */
type Known = Map<string, boolean>

/** @throws Fault exit 3, with the JSON pointer of the text and never the text */
export function refuseSecretsInJson(value: unknown): void {
  look(value, '', '', new Map())
}

/** @param name of the member that the value stands in, or that the list of it does */
function look(value: unknown, name: string, pointer: string, known: Known): void {
  if (typeof value === 'string') refuse(value, name, pointer, known)
  else if (Array.isArray(value)) value.forEach((item: unknown, i) => look(item, name, `${pointer}/${i}`, known))
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      refuse(key, 'name', pointer, known)
      look(item, key, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, known)
    }
  }
}

function refuse(text: string, name: string, pointer: string, known: Known): void {
  const asked = `${name}\n${text}`
  let secret = known.get(asked)
  if (secret === undefined) known.set(asked, secret = isSecretText(text, name))
  if (secret) throw secretFault('output', 'a document that was to be written', { member: pointer === '' ? '/' : pointer })
}

/**
 * The last check of a JSON output: nothing in it may look like a secret, whatever file it came from. Readers already
 * refuse or withhold the secrets that they recognize. A secret that still gets here stops the run, and no output is
 * written.
 */
import { isSecretText } from '../../core/secrets.js'
import { secretFault } from '../../core/secret-guard.js'

/** Results for texts that were checked before, because keys, paths and hashes repeat often. */
type KnownTexts = Map<string, boolean>

/** @throws Fault (exit 3) with the JSON pointer of the text and never the text */
export function refuseSecretsInJson(value: unknown): void {
  look(value, '', '', new Map())
}

/** @param name name of the member that holds the value, or the list around it */
function look(value: unknown, name: string, pointer: string, known: KnownTexts): void {
  if (typeof value === 'string') refuseText(value, name, pointer, known)
  else if (Array.isArray(value)) value.forEach((item: unknown, i) => look(item, name, `${pointer}/${i}`, known))
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      refuseText(key, 'name', pointer, known)
      look(item, key, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, known)
    }
  }
}

function refuseText(text: string, name: string, pointer: string, known: KnownTexts): void {
  const asked = `${name}\n${text}`
  let secret = known.get(asked)
  if (secret === undefined) {
    secret = isSecretText(text, name)
    known.set(asked, secret)
  }
  if (secret) throw secretFault('output', 'a document that was to be written', { member: pointer === '' ? '/' : pointer })
}

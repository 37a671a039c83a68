/** The name of a setting that a study allows to be published. A name that looks like a secret is refused. */
import { Fault } from '../core/errors.js'
import { isSecretName } from '../core/secrets.js'
import { describeValue, refine, text, type Kind } from '../core/checker.js'

export const configKey: Kind<string> = refine(text(500), (key, at, context) => {
  if (!isSecretName(key)) return key
  const found = `${at} is ${describeValue(key)}, which looks like a secret`
  throw new Fault({ format: context.format, problem: 'wrong field', found, expected: 'the name of a setting', place: context.place })
})

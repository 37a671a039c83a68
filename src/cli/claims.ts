/** Whether the file of the study's published values is there; `verify` does not read it. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { printable } from '../core/errors.js'
import type { Study } from '../schema/study.js'

/** A line where the study names a claims file that does not exist; else null. */
export async function missingClaims(dir: string, { claims }: Pick<Study, 'claims'>): Promise<string | null> {
  if (claims === null) return null
  const found = await stat(join(dir, claims)).then(
    () => true,
    () => false
  )
  return found ? null : `claims is ${printable(JSON.stringify(claims))}, and no such file is in the study`
}

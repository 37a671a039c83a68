/**
 * The names that a user may map to those of a file: of the arrays and fields in dumps, and of the keys of a page or the
 * members of an NPZ file. What has one name here, such as `values`, is one mapping for all of them.
 */
import { SAMPLE_KEY_NAMES, type SampleKeyName } from './sample-keys.js'
import { DEFAULT_KEYS, type SnapshotKeys } from './traces.js'

export type KeyName = SampleKeyName | keyof SnapshotKeys

/** Names of the user, by ours. */
export type ToldKeys = Readonly<Partial<Record<KeyName, string>>>

const SNAPSHOT_KEY_NAMES = Object.keys(DEFAULT_KEYS) as readonly (keyof SnapshotKeys)[]

export const KEY_NAMES: readonly KeyName[] = [...new Set<KeyName>([...SAMPLE_KEY_NAMES, ...SNAPSHOT_KEY_NAMES])]

/** The names of a page and of NPZ members. @param keys those that hold where none is told */
export function snapshotKeys(told: ToldKeys, keys: SnapshotKeys): SnapshotKeys {
  return Object.fromEntries(SNAPSHOT_KEY_NAMES.map(name => [name, told[name] ?? keys[name]])) as SnapshotKeys
}

/** The names in a dump. @param keys those of a page: one that differs from the default holds in dumps too */
export function dumpNames(told: ToldKeys, keys: SnapshotKeys): Readonly<Partial<Record<SampleKeyName, string>>> {
  const named: { [name in SampleKeyName]?: string } = {}
  for (const name of SAMPLE_KEY_NAMES) {
    const stated = isSnapshotKey(name) && keys[name] !== DEFAULT_KEYS[name] ? keys[name] : undefined
    const own = told[name] ?? stated
    if (own !== undefined) named[name] = own
  }
  return named
}

function isSnapshotKey(name: KeyName): name is KeyName & keyof SnapshotKeys {
  return (SNAPSHOT_KEY_NAMES as readonly KeyName[]).includes(name)
}

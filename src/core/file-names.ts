/**
 * Names of files and folders: the step that a file name states, the names that Windows reserves for devices, and the names of
 * output folders for snapshots. Such a folder name is readable, unique without regard to case, the same for the same set of
 * snapshots in any order, and valid on Linux, macOS and Windows.
 */
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { isAscii } from './paths.js'

/** Room for a suffix and a temporary name within the 255 bytes that file systems allow. */
const MAX_NAME_BYTES = 120

/** Names of devices on Windows. No folder can have such a name, with or without an extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** True for a name that Windows reserves for a device, whatever the extension. */
export function isDeviceName(name: string): boolean {
  return RESERVED.test(name)
}

export interface Nameable {
  /** real path of the snapshot: its identity, distinct for each */
  readonly real: string
  /** names of the folders that lead to it, outermost first. The last one is its name unless another snapshot has the same. */
  readonly segments: readonly string[]
}

/**
 * A name is the last segment. Parents are put before it until the name differs from the others (`run-a--critic_traces`).
 * Where the segments cannot tell two snapshots apart, a part of the SHA-256 of the real path is appended.
 */
export function snapshotNames(snapshots: readonly Nameable[]): string[] {
  // Where whole paths give the same name, more parents do not tell the snapshots apart.
  const full = snapshots.map(s => fold(folderName(s.segments)))
  const hopeless = new Set(clashes(full).flat())
  const depths = snapshots.map(() => 1)
  const nameOf = (i: number): string => folderName(snapshots[i].segments.slice(-depths[i]))
  let clashing = clashes(snapshots.map((_, i) => nameOf(i)))
  for (;;) {
    const growing = clashing.flat().filter(i => depths[i] < snapshots[i].segments.length && !hopeless.has(i))
    if (growing.length === 0) break
    for (const i of growing) depths[i]++
    clashing = clashes(snapshots.map((_, i) => nameOf(i)))
  }
  const names = snapshots.map((_, i) => nameOf(i))
  const unsettled = clashing.flat().sort((i, j) => (snapshots[i].real < snapshots[j].real ? -1 : 1))
  const open = new Set(unsettled)
  const taken = new Set(names.filter((_, i) => !open.has(i)).map(fold))
  for (const i of unsettled) {
    const hash = createHash('sha256').update(snapshots[i].real).digest('hex')
    let digits = 8
    while (taken.has(fold(`${names[i]}-${hash.slice(0, digits)}`)) && digits < hash.length) digits++
    names[i] = `${names[i]}-${hash.slice(0, digits)}`
    taken.add(fold(names[i]))
  }
  return names
}

/** Groups of two or more indexes whose names are the same folder on some system. */
function clashes(names: readonly string[]): number[][] {
  const groups = new Map<string, number[]>()
  names.forEach((name, i) => {
    const group = groups.get(fold(name))
    if (group === undefined) groups.set(fold(name), [i])
    else group.push(i)
  })
  return [...groups.values()].filter(group => group.length > 1)
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** Characters that are replaced in a folder's name. Kept as source text and not used for ASCII: Unicode properties are slow to compile. */
const UNNAMEABLE = '[^\\p{L}\\p{M}\\p{N}._-]+'

/** Letters and digits of any script, `.`, `_` and `-`, with no dot or dash at either end. A long name is cut and ends in a hash. */
function folderName(segments: readonly string[]): string {
  const clean = segments
    .map(s =>
      s
        .normalize('NFC')
        .replace(isAscii(s) ? /[^A-Za-z0-9._-]+/g : new RegExp(UNNAMEABLE, 'gu'), '-')
        .replace(/^[.-]+|[.-]+$/g, '')
    )
    .filter(s => s !== '')
    .join('--')
  if (clean === '') return 'snapshot'
  const name = isDeviceName(clean) ? `snapshot-${clean}` : clean
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const head: string[] = []
  let bytes = hash.length + 1
  for (const character of name) {
    bytes += Buffer.byteLength(character)
    if (bytes > MAX_NAME_BYTES) break
    head.push(character)
  }
  return `${head.join('')}-${hash}`
}

/** At most 15 digits: below 2^53, so nothing is rounded. */
const ASCII_STEP = /step[^a-z0-9]*(\d{1,15})(?!\d)/i
/** The same in any script. Kept as source text: Unicode properties are slow to compile. */
const STEP = 'step[^\\p{L}\\p{N}]*(\\d{1,15})(?!\\d)'

/** The number after the first `step` in a file name (`step_132_a.npz`, `global-step=000132.npz`), else null. */
export function stepFromName(name: string): number | null {
  const base = basename(name)
  const match = (isAscii(base) ? ASCII_STEP : new RegExp(STEP, 'iu')).exec(base)
  return match === null ? null : Number(match[1])
}

/** The step of a file that a trainer wrote: as `stepFromName`, or a name of digits alone (`12.pt`, as `{rollout_id}.pt`). */
export function stepFromDumpName(name: string): number | null {
  const digits = /^(\d{1,15})(?:\.[a-z]+)+$/i.exec(basename(name))
  return digits === null ? stepFromName(name) : Number(digits[1])
}

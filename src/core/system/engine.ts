/** Settings of the engine while it runs. They hold for the whole process. */
import { setFlagsFromString } from 'node:v8'

/**
 * Makes the engine optimize a function later: what a run of seconds does in JavaScript is small beside its compiled loops, and
 * optimizing it takes longer than it saves. Called when every thread has its code: an engine with other flags refuses code that was
 * compiled before. An engine whose flags are not known here stays as it is.
 */
export function optimizeLater(): void {
  const flag = FLAGS[process.versions.v8.split('.')[0]]
  if (flag !== undefined) setFlagsFromString(flag)
}

/** By the engine's major version: of Node 20, 22 and 24. An unknown flag would be an error on the terminal. */
const FLAGS: Readonly<Record<string, string>> = {
  '11': '--interrupt-budget=1000000',
  '12': '--invocation-count-for-turbofan=30000',
  '13': '--invocation-count-for-turbofan=30000'
}

/** Makes the engine collect earlier rather than let its heap grow: 25 to 50 MiB less for `all`, where data are limited. */
export function keepHeapSmall(): void {
  setFlagsFromString('--optimize-for-size')
}

/**
 * The arrays of a dump, and the objects of a record, die young, and their memory is freed with the small objects that hold it. A young
 * generation that has grown keeps 40 to 60 MB of dead arrays, and is no faster here.
 */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

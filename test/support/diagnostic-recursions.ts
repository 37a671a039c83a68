/**
 * Generalised advantage estimation as the papers and the trainers state it: one loop a sample, from its last token to its first.
 * Nothing here comes from `src/`. GAE: Schulman et al. 2015, arXiv 1506.02438. Every operation is rounded to single precision.
 */
export type MaskRule = 'every-token' | 'carry' | 'trainable-only' | 'zeroed-values' | 'reset'
/**
 * What a running sum that is set to 0 leaves as the next value: the masked token's own value, none; or returns without values. Last,
 * the masked token's own value, and the sum is set to 0 before it is stored.
 */
export type ResetForm = 'own value' | 'no value' | 'rewards only' | 'before it is stored'

export interface Recursion {
  readonly gamma: number
  readonly lambda: number
  readonly rule: MaskRule
  readonly resetForm: ResetForm
}

export interface Estimates {
  readonly advantages: Float64Array
  readonly returns: Float64Array
}

const f = Math.fround

function plain(values: Float64Array, rewards: Float64Array, gamma: number, lambda: number, next: Float64Array | null = null): Estimates {
  const T = values.length
  const advantages = new Float64Array(T)
  const returns = new Float64Array(T)
  let running = 0
  for (let t = T - 1; t >= 0; t--) {
    // next: the values that the bootstrap reads, where they are another sample's
    const nextValue = next !== null ? (next[t + 1] ?? 0) : t + 1 < T ? values[t + 1] : 0
    const delta = f(f(rewards[t] + f(gamma * nextValue)) - values[t])
    running = f(delta + f(f(gamma * lambda) * running))
    advantages[t] = running
    returns[t] = f(running + values[t])
  }
  return { advantages, returns }
}

/** verl since July 2025: at a masked token the next value and the running sum pass through. */
function carry(values: Float64Array, rewards: Float64Array, mask: Uint8Array, gamma: number, lambda: number): Estimates {
  const T = values.length
  const advantages = new Float64Array(T)
  const returns = new Float64Array(T)
  let nextValue = 0
  let running = 0
  for (let t = T - 1; t >= 0; t--) {
    const delta = f(f(rewards[t] + f(gamma * nextValue)) - values[t])
    const here = f(delta + f(f(gamma * lambda) * running))
    if (mask[t] === 1) {
      nextValue = values[t]
      running = here
    }
    advantages[t] = running
    returns[t] = f(running + values[t])
  }
  return { advantages, returns }
}

function trainableOnly(values: Float64Array, rewards: Float64Array, mask: Uint8Array, gamma: number, lambda: number): Estimates {
  const at = [...mask.keys()].filter(t => mask[t] === 1)
  const inner = plain(
    Float64Array.from(at, t => values[t]),
    Float64Array.from(at, t => rewards[t]),
    gamma,
    lambda
  )
  const advantages = new Float64Array(values.length)
  const returns = new Float64Array(values.length)
  at.forEach((t, i) => {
    advantages[t] = inner.advantages[i]
    returns[t] = inner.returns[i]
  })
  return { advantages, returns }
}

function reset(values: Float64Array, rewards: Float64Array, mask: Uint8Array, how: Recursion): Estimates {
  const T = values.length
  const advantages = new Float64Array(T)
  const returns = new Float64Array(T)
  let running = 0
  let nextValue = 0
  for (let t = T - 1; t >= 0; t--) {
    if (how.resetForm === 'rewards only') {
      running = f(rewards[t] + f(how.gamma * running))
      returns[t] = running
      advantages[t] = f(running * mask[t])
    } else {
      const delta = f(f(rewards[t] + f(how.gamma * nextValue)) - values[t])
      running = f(delta + f(f(how.gamma * how.lambda) * running))
      if (how.resetForm === 'before it is stored') running *= mask[t]
      advantages[t] = running
      returns[t] = f(running + values[t])
      nextValue = mask[t] === 0 && how.resetForm === 'no value' ? 0 : values[t]
    }
    running *= mask[t]
  }
  return { advantages, returns }
}

/** Estimates of one sample. `next`: another sample's values, for the bootstrap from a foreign trajectory. */
export function estimates(
  values: Float64Array,
  rewards: Float64Array,
  mask: Uint8Array,
  how: Recursion,
  next: Float64Array | null = null
): Estimates {
  switch (how.rule) {
    case 'every-token':
      return plain(values, rewards, how.gamma, how.lambda, next)
    case 'zeroed-values':
      return plain(
        values.map((v, t) => v * mask[t]),
        rewards,
        how.gamma,
        how.lambda
      )
    case 'carry':
      return carry(values, rewards, mask, how.gamma, how.lambda)
    case 'trainable-only':
      return trainableOnly(values, rewards, mask, how.gamma, how.lambda)
    case 'reset':
      return reset(values, rewards, mask, how)
  }
}

/** (A - mean) / sqrt(var + 1e-8) over the tokens of a group that have mask 1; applied to all tokens of the group. `bessel`: var over n - 1. */
export function whiten(
  advantages: readonly Float64Array[],
  masks: readonly Uint8Array[],
  groupOf: (sample: number, t: number) => number,
  bessel = false
): void {
  const groups = new Map<number, number[]>()
  advantages.forEach((array, i) => {
    array.forEach((a, t) => {
      if (masks[i][t] === 0) return
      const group = groupOf(i, t)
      const members = groups.get(group)
      if (members === undefined) groups.set(group, [a])
      else members.push(a)
    })
  })
  const moments = new Map<number, readonly [number, number]>()
  for (const [group, members] of groups) {
    let mean = 0
    for (const a of members) mean += a / members.length
    let squares = 0
    for (const a of members) squares += (a - mean) ** 2
    const variance = squares / Math.max(1, members.length - Number(bessel))
    moments.set(group, [f(mean), f(1 / Math.sqrt(variance + 1e-8))])
  }
  advantages.forEach((array, i) => {
    for (let t = 0; t < array.length; t++) {
      const [mean, scale] = moments.get(groupOf(i, t)) ?? [0, 1]
      array[t] = f(f(array[t] - mean) * scale)
    }
  })
}

/**
 * Property tests: how often they try, and from which seed. `npm test` tries as often as the test says, from the seed that it says;
 * `npm run test:all` and `npm run soak` run every file that imports this module again with more rounds, from another seed.
 *
 *     ROUNDS=50 SEED=7 node dist/test/html.test.js
 */
const ROUNDS = Number(process.env['ROUNDS'] ?? 1)
const SEED = Number(process.env['SEED'] ?? 0)

export function rounds(count: number): number {
  return Math.ceil(count * ROUNDS)
}

/** For what is costly: none where the rounds are few. */
export function roundsDown(count: number): number {
  return Math.floor(count * ROUNDS)
}

export function seedOf(seed: number): number {
  return seed + SEED
}

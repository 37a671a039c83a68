/** Numbers of things in words, without a locale. */

/** `1234567` -> `1,234,567`. A fraction keeps its digits. A number that is not finite is written as JavaScript writes it. */
export function formatCount(value: number): string {
  const [whole, ...fraction] = String(value).split('.')
  // An exponent (1e+21) has no thousands to group.
  if (!/^-?\d+$/.test(whole)) return String(value)
  return [whole.replace(/\B(?=(?:\d{3})+$)/g, ','), ...fraction].join('.')
}

/** `1 run`, `1,234 runs`, `2 histories`. */
export function counted(count: number, what: string, plural = `${what}s`): string {
  return `${formatCount(count)} ${count === 1 ? what : plural}`
}

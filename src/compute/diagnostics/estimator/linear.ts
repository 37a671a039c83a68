/**
 * Least squares with few unknowns, from normal equations. Columns are scaled to unit length first; directions that the data do
 * not determine are left at 0 and reported by their variance, never by a large number.
 */

/** Eigenvalues of a scaled normal matrix (trace = k) below this are rounding. */
const DROPPED = 1e-13
/** What stands for them in the covariance: so uncertain that nothing along them is stated. */
const FLOOR = 1e-15

export interface Solution {
  readonly x: readonly number[]
  /** inverse of the normal matrix, [k * k]; Infinity on the diagonal where a column is 0 */
  readonly covariance: readonly number[]
  /** inverse on the directions that the data determine, 0 on the others, [k * k] */
  readonly inverse: readonly number[]
}

/** Index of (i, j) in the packed upper triangle of a k x k matrix. */
export function packed(i: number, j: number, k: number): number {
  const [a, b] = i <= j ? [i, j] : [j, i]
  return a * k - (a * (a - 1)) / 2 + (b - a)
}

/** Eigenvalues and eigenvectors (columns) of a symmetric matrix [k * k] by Jacobi rotations. */
function eigen(matrix: Float64Array, k: number): { readonly values: Float64Array; readonly vectors: Float64Array } {
  const a = matrix.slice()
  const v = new Float64Array(k * k)
  for (let i = 0; i < k; i++) v[i * k + i] = 1
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0
    for (let i = 0; i < k; i++) for (let j = i + 1; j < k; j++) off += a[i * k + j] ** 2
    if (off < 1e-32) break
    for (let i = 0; i < k; i++) {
      for (let j = i + 1; j < k; j++) {
        if (a[i * k + j] === 0) continue
        const theta = (a[j * k + j] - a[i * k + i]) / (2 * a[i * k + j])
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1))
        const c = 1 / Math.sqrt(t * t + 1)
        const s = t * c
        for (let r = 0; r < k; r++) {
          const [x, y] = [a[r * k + i], a[r * k + j]]
          a[r * k + i] = c * x - s * y
          a[r * k + j] = s * x + c * y
        }
        for (let r = 0; r < k; r++) {
          const [x, y] = [a[i * k + r], a[j * k + r]]
          a[i * k + r] = c * x - s * y
          a[j * k + r] = s * x + c * y
          const [p, q] = [v[r * k + i], v[r * k + j]]
          v[r * k + i] = c * p - s * q
          v[r * k + j] = s * p + c * q
        }
      }
    }
  }
  return { values: Float64Array.from({ length: k }, (_, i) => a[i * k + i]), vectors: v }
}

/** Solves H x = g for a packed symmetric H of k unknowns. */
export function solveNormal(h: ArrayLike<number>, g: ArrayLike<number>, k: number): Solution {
  const scale = Float64Array.from({ length: k }, (_, i) => {
    const d = h[packed(i, i, k)]
    return d > 0 ? 1 / Math.sqrt(d) : 0
  })
  const scaled = new Float64Array(k * k)
  for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) scaled[i * k + j] = h[packed(i, j, k)] * scale[i] * scale[j]
  const { values, vectors } = eigen(scaled, k)
  const x = new Array<number>(k).fill(0)
  const covariance = new Array<number>(k * k).fill(0)
  const inverse = new Array<number>(k * k).fill(0)
  for (let e = 0; e < k; e++) {
    let projected = 0
    for (let i = 0; i < k; i++) projected += vectors[i * k + e] * g[i] * scale[i]
    for (let i = 0; i < k; i++) {
      const along = vectors[i * k + e] * scale[i]
      if (values[e] > DROPPED) x[i] += (along * projected) / values[e]
      for (let j = 0; j < k; j++) {
        const both = along * vectors[j * k + e] * scale[j]
        covariance[i * k + j] += both / Math.max(values[e], FLOOR)
        if (values[e] > DROPPED) inverse[i * k + j] += both / values[e]
      }
    }
  }
  for (let i = 0; i < k; i++) if (scale[i] === 0) covariance[i * k + i] = Number.POSITIVE_INFINITY
  return { x, covariance, inverse }
}

/** Variance factor of c . x, given the covariance. */
export function varianceAlong(solution: Solution, c: readonly number[]): number {
  const k = c.length
  let sum = 0
  for (let i = 0; i < k; i++) {
    for (let j = 0; j < k; j++) if (c[i] !== 0 && c[j] !== 0) sum += c[i] * c[j] * solution.covariance[i * k + j]
  }
  return Math.max(sum, 0)
}

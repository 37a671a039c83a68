/** The entry of the pool's threads: `trace.ts` as a bundle. */
import { loadBundle } from '../src/core/load.cjs'

module.exports = (loadBundle('worker').exports as { readonly default: unknown }).default

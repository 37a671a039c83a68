/** `diagnose.ts` in the pool's threads, as a bundle. */
import { loadBundle } from '../src/core/load.cjs'

module.exports = (loadBundle('diagnose-worker').exports as { readonly default: unknown }).default

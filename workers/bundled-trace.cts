/** What the pool starts its threads with: `trace.ts`, bundled. */
import { loadBundle } from '../src/core/load.cjs'

module.exports = (loadBundle('worker').exports as { readonly default: unknown }).default

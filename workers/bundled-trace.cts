/** What the pool starts its threads with: `trace.ts`, bundled. */
import { loadBundle } from '../src/load.cjs'

module.exports = (loadBundle('worker').exports as { readonly default: unknown }).default

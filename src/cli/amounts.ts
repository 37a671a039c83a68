/** How much there is to do, for progress. */
import type { Manifest } from '../study/manifest.js'

/** Bytes that the manifest lists: what verifying it reads. */
export function manifestBytes(manifest: Manifest): number {
  return manifest.files.reduce((sum, file) => sum + file.bytes, 0)
}

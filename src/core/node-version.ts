/** Which releases of Node run the program: those with `zlib.crc32`. `package.json` says the same (`engines`). */

/** What a message expects. */
export const NODE_NEEDED = '20.15 or newer (not 21, 22.0 or 22.1)'

/** @param version as `process.versions.node` states it */
export function isTooOld(version: string): boolean {
  const [major, minor] = version.split('.').map(Number)
  return major < 20 || (major === 20 && minor < 15) || major === 21 || (major === 22 && minor < 2)
}

/**
 * The first step of `npm run build`, and so of every script that builds: one line where Node is too old for the tools of the
 * build. Plain JavaScript, since nothing is compiled yet, of a kind that old releases of Node run too.
 */
// As src/core/node-version.ts has it.
const NEEDED = '20.15 or newer (not 21, 22.0 or 22.1)'
const [major, minor] = process.versions.node.split('.').map(Number)

if (major < 20 || (major === 20 && minor < 15) || major === 21 || (major === 22 && minor < 2)) {
  console.error(`Node ${process.versions.node} was found (${process.execPath}), ${NEEDED} is needed; ./setup.sh lists ways to get it`)
  process.exitCode = 1
}

/** Name and version of the program, as outputs state them. */
import { readFileSync } from 'node:fs'

interface PackageManifest {
  readonly name: string
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
}

const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as PackageManifest

export const GENERATOR = { name: manifest.name, version: manifest.version } as const

/** What outputs may depend on beside this program: the engine and the libraries, at their exact versions. */
export const VERSIONS: Readonly<Record<string, string>> = { node: process.versions.node, ...manifest.dependencies }

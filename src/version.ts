/** Name and version of the program, as outputs state them. */
import { readFileSync } from 'node:fs'

interface PackageManifest {
  readonly name: string
  readonly version: string
}

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as PackageManifest

export const GENERATOR = { name: manifest.name, version: manifest.version } as const

/**
 * The base URL of W&B's own settings file, which `wandb login --host` writes: `base_url` of the section `default` in
 * `~/.config/wandb/settings` (or in the folder that WANDB_CONFIG_DIR names).
 *
 * W&B's tools also read `wandb/settings` in the working folder. That one is named and not followed: a folder from elsewhere
 * must not say where the user's key goes.
 */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { EXIT, Fault, printable } from '../core/errors.js'
import { readText } from '../core/still-file.js'
import { isMissing } from '../core/system/open.js'

const MAX_SETTINGS_BYTES = 1024 * 1024

export interface WandbSettings {
  /** null: the user's settings state none */
  readonly baseUrl: string | null
  /** path of the user's settings */
  readonly path: string
  /** a base URL that the working folder's settings state; null: none */
  readonly ofFolder: { readonly baseUrl: string; readonly path: string } | null
}

/** @throws Fault exit 2: a settings file of the user that cannot be read */
export async function readWandbSettings(env: NodeJS.ProcessEnv, folder: string): Promise<WandbSettings> {
  const home = env[process.platform === 'win32' ? 'USERPROFILE' : 'HOME'] || homedir()
  const path = join(env['WANDB_CONFIG_DIR'] || join(home, '.config', 'wandb'), 'settings')
  const baseUrl = await baseUrlIn(path).catch((cause: unknown) => {
    if (!(cause instanceof Fault)) throw cause
    const { found = 'it' } = cause.details
    const expected = 'a readable file, or --base-url'
    throw new Fault({
      format: 'wandb',
      problem: 'unreadable settings',
      found,
      expected,
      place: { file: path },
      exitCode: EXIT.usage,
      cause
    })
  })
  const own = join(folder, 'wandb', 'settings')
  // Only named, so that one which cannot be read does not matter.
  const stated = await baseUrlIn(own).catch(() => null)
  return { baseUrl, path, ofFolder: stated === null || stated === baseUrl ? null : { baseUrl: printable(stated), path: own } }
}

async function baseUrlIn(path: string): Promise<string | null> {
  const text = await readText(path, { maxBytes: MAX_SETTINGS_BYTES }).catch((error: unknown) => {
    if (error instanceof Fault && isMissing(error.cause)) return null
    throw error
  })
  if (text === null) return null
  const { parse } = await import('ini')
  const section: unknown = parse(text)['default']
  const value = typeof section === 'object' && section !== null && 'base_url' in section ? section.base_url : null
  return typeof value === 'string' && value !== '' ? value : null
}

/** Files that an output names. */
import { closed, natural, sha256, someText } from './kinds.js'

export const SHA256 = { kind: sha256, doc: "SHA-256 of the file's bytes, hexadecimal" }

export const BYTES = { kind: natural, doc: 'size of the file in bytes' }

/** @param path what its path is relative to */
export function fileFields(path: string) {
  return { path: { kind: someText, doc: path }, sha256: SHA256, bytes: BYTES }
}

/** A file of the study. */
export const studyFile = closed(fileFields('relative to the study'))

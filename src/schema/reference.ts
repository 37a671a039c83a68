/** References to the outputs of a run, `data.json#/values/x/value`: the path of a JSON output and a JSON pointer (RFC 6901). */
import { pattern } from '../core/checker.js'

const REFERENCE = /^(?=.{1,300}$)[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*\.json#(?:\/(?:[^~/]|~[01])*)+$/

export const reference = pattern('a reference: the path of a JSON output, "#" and a JSON pointer; at most 300', REFERENCE)

/** The place of a number in the outputs. */
export type Reference = string

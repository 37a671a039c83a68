/** Kinds of paths. A path is relative and does not leave its folder; symbolic links are checked later, on the file system. */
import { refine, refuseSecret, wrong, type Kind } from './checker.js'
import { canonicalRelative, isSafeRelative } from './paths.js'

/** A path inside the study, kept as it is written. */
export const writtenPath: Kind<string> = pathIn('the study')

function pathIn(folder: string): Kind<string> {
  const expected = `a relative path inside ${folder} ("/" between names, no "..")`
  return {
    expected,
    schema: { type: 'string', minLength: 1, maxLength: 4096, pattern: '^(?!/)(?![A-Za-z]:)(?!(?:.*/)?\\.\\.(?:/|$))[^\\\\\\u0000]+$' },
    read: (value, at, context) => {
      if (typeof value !== 'string') throw wrong(value, at, expected, context)
      if (!isSafeRelative(value)) throw wrong(value, at, expected, context, 'unsafe path')
      refuseSecret(value, at, context, 'path')
      context.paths.push({ at, path: value })
      return value
    }
  }
}

/** The same in its canonical form. `./a` and `a` are one file, and manifest, records and roles have one name for it. */
export const relativePath: Kind<string> = refine(writtenPath, canonicalRelative)

/** The same for a path inside a folder of outputs. */
export const outputPath: Kind<string> = refine(pathIn('the folder of outputs'), canonicalRelative)

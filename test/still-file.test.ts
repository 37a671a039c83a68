/**
 * The reader of files that stand still: one rule, whichever way a file is read, asynchronously or not, and in both kinds of
 * words. With real files, links, named pipes and devices; what happens to a file happens between two steps of the reader.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ByteTally, tallied, type ByteChunks } from '../src/core/chunks.js'
import { EXIT } from '../src/core/errors.js'
import { comparingWords, wordsOf, type StillWords } from '../src/core/still.js'
import { fileChunks, hashFile, openStill, readText, type StillFile } from '../src/core/still-file.js'
import { openStillSync, readStillSync, type StillFileSync } from '../src/core/still-file-sync.js'
import { requireVerified, verifiedFault } from '../src/core/verified.js'
import { faultOf, sha256 } from './support/folders.js'

const POSIX_ONLY = { skip: process.platform === 'win32' ? 'needs named pipes, and files that are renamed while they are open' : false }
const CONTENT = '0123456789'
/** Whole seconds, which can be set again exactly. */
const THEN = 1_700_000_000
const allocate = (length: number): Uint8Array => new Uint8Array(length)

async function collect(chunks: ByteChunks): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const chunk of chunks) pieces.push(Buffer.from(chunk))
  return Buffer.concat(pieces)
}

/** Does it until the file's change time is another: a file system's clock has steps. */
function untilChangeTimeMoves(path: string, change: () => void): void {
  const before = statSync(path, { bigint: true }).ctimeNs
  do change()
  while (statSync(path, { bigint: true }).ctimeNs === before)
}

/** In place: a file that is emptied first is a shorter one to whoever reads ahead just then. */
function rewrite(path: string, content: string): void {
  writeFileSync(path, content, { flag: 'r+' })
}

interface Happening {
  readonly what: string
  readonly change: (path: string) => void
  /** in the words of what happened, and in those of what differs; null: it is not there any more */
  readonly said: readonly [happened: string, differs: string] | null
  /** of a part that was asked for and is not there, and where a hash ended before the file's size: `differs` */
  readonly cut?: true
}

const HAPPENINGS: readonly Happening[] = [
  {
    what: 'grown',
    change: path => {
      appendFileSync(path, 'x')
    },
    said: ['its size changed', '10 bytes, then 11']
  },
  {
    what: 'cut',
    change: path => {
      truncateSync(path, 3)
    },
    said: ['its size changed', '10 bytes, then 3'],
    cut: true
  },
  {
    what: 'grown, and the old times set again',
    change: path => {
      appendFileSync(path, 'x')
      utimesSync(path, THEN, THEN)
    },
    said: ['its size changed', '10 bytes, then 11']
  },
  {
    what: 'rewritten with the same size',
    change: path => {
      rewrite(path, 'abcdefghij')
    },
    said: ['its modification time changed', 'another modification time']
  },
  {
    what: 'rewritten with the same bytes',
    change: path => {
      rewrite(path, CONTENT)
    },
    said: ['its modification time changed', 'another modification time']
  },
  {
    what: 'touched',
    change: path => {
      utimesSync(path, 1, 1)
    },
    said: ['its modification time changed', 'another modification time']
  },
  {
    what: 'rewritten, and the old modification time set again',
    change: path => {
      untilChangeTimeMoves(path, () => {
        rewrite(path, 'abcdefghij')
        utimesSync(path, THEN, THEN)
      })
    },
    said: ['its change time changed', 'another change time']
  },
  {
    what: 'other permissions',
    change: path => {
      untilChangeTimeMoves(path, () => {
        chmodSync(path, 0o600)
      })
    },
    said: ['its change time changed', 'another change time']
  },
  {
    what: 'a hard link',
    change: path => {
      untilChangeTimeMoves(path, () => {
        rmSync(`${path}.link`, { force: true })
        linkSync(path, `${path}.link`)
      })
    },
    said: ['its change time changed', 'another change time']
  },
  {
    what: 'replaced',
    change: path => {
      replace(path, CONTENT)
    },
    said: ['it was replaced', 'another file under its name']
  },
  {
    what: 'replaced by other content',
    change: path => {
      replace(path, `${CONTENT}x`)
    },
    said: ['it was replaced', '10 bytes, then 11']
  },
  {
    what: 'grown, then replaced',
    change: path => {
      appendFileSync(path, 'x')
      replace(path, CONTENT)
    },
    said: ['its size changed', '10 bytes, then 11']
  },
  {
    what: 'removed',
    change: path => {
      rmSync(path)
    },
    said: null
  }
]

function replace(path: string, content: string): void {
  writeFileSync(`${path}.new`, content)
  utimesSync(`${path}.new`, THEN, THEN)
  renameSync(`${path}.new`, path)
}

/** Each way to read all of a file, with something that happens on the way. */
const ASYNC: Readonly<Record<string, (file: StillFile, happen: () => void) => Promise<unknown>>> = {
  whole: async (file, happen) => {
    happen()
    return file.whole()
  },
  chunks: async (file, happen) => {
    let happened = false
    for await (const chunk of file.chunks({ chunkSize: 4 })) {
      if (!happened && chunk.length > 0) happen()
      happened = true
    }
  },
  'a slice, then its check': async (file, happen) => {
    await file.slice(0, 4)
    happen()
    await file.assertStill()
  },
  sha256: async (file, happen) => {
    let happened = false
    return file.sha256({
      buffer: Buffer.alloc(4),
      onBytes: () => {
        if (!happened) happen()
        happened = true
      }
    })
  }
}

const SYNC: Readonly<Record<string, (file: StillFileSync, happen: () => void) => unknown>> = {
  'whole at once': (file, happen) =>
    file.whole(length => {
      happen()
      return allocate(length)
    }),
  'sha256 at once': (file, happen) => {
    happen()
    return file.sha256()
  },
  'a part at once, then its check': (file, happen) => {
    file.fill(allocate(4), 2)
    happen()
    file.assertStill()
  }
}

t.test('one rule, whichever way a file is read, in both kinds of words', POSIX_ONLY, async t => {
  const dir = t.testdir({})
  const path = join(dir, 'file')
  const fresh = (): void => {
    rmSync(path, { force: true })
    writeFileSync(path, CONTENT)
    utimesSync(path, THEN, THEN)
  }
  const ways: readonly (readonly [string, (words: StillWords, happen: () => void) => Promise<unknown>])[] = [
    ...Object.entries(ASYNC).map(
      ([name, read]) =>
        [
          name,
          async (words: StillWords, happen: () => void) => {
            const file = await openStill(path, words)
            return read(file, happen).finally(() => file.close())
          }
        ] as const
    ),
    ...Object.entries(SYNC).map(
      ([name, read]) =>
        [
          name,
          async (words: StillWords, happen: () => void) => {
            const file = openStillSync(path, words)
            try {
              return read(file, happen)
            } finally {
              file.close()
            }
          }
        ] as const
    )
  ]
  for (const { what, change, said, cut } of HAPPENINGS) {
    for (const [way, read] of ways) {
      const at = `${what}, ${way}`
      const differs = cut === true && way === 'sha256' ? '4 bytes, then no more' : said?.[1]
      const messages =
        said === null
          ? [
              `npz unreadable file: ENOENT no such file or directory (${path})`,
              `file unreadable: ENOENT no such file or directory, expected a regular file (${path})`
            ]
          : [
              `npz changed while it was read: ${said[0]}, expected a file that stands still (${path})`,
              `npz changed while it was read: ${differs ?? ''}, expected the same file before and after (${path})`
            ]
      for (const [i, words] of [wordsOf('npz'), comparingWords('npz')].entries()) {
        fresh()
        const fault = await faultOf(
          read(words, () => {
            change(path)
          })
        )
        t.equal(fault.message, messages[i], at)
        t.equal(fault.exitCode, said === null ? EXIT.badInput : EXIT.checkFailed, at)
      }
    }
    fresh()
    let happened = false
    const report = await hashFile(path, {
      buffer: Buffer.alloc(4),
      onBytes: () => {
        if (!happened) change(path)
        happened = true
      }
    })
    t.ok(report.changed, `${what}, reported`)
    // The end of a file that grew was never seen.
    t.equal(report.sha256 === null, /^grown/.test(what), `${what}, its hash`)
  }
  for (const [way, read] of ways) {
    fresh()
    const result = await read(comparingWords('npz'), () => undefined)
    if (way.startsWith('whole')) t.equal(Buffer.from(result as Uint8Array).toString(), CONTENT, way)
    if (way.startsWith('sha256')) t.equal(result, sha256(Buffer.from(CONTENT)), way)
  }
})

t.test('a part that is not there', async t => {
  const path = join(t.testdir({ file: CONTENT }), 'file')
  const file = await openStill(path, comparingWords('parquet'))
  t.equal(Buffer.from(await file.slice(3, 6)).toString(), '345')
  t.equal((await file.slice(10, 10)).length, 0)
  truncateSync(path, 5)
  t.equal(Buffer.from(await file.slice(1, 5)).toString(), '1234')
  const fault = await faultOf(file.slice(3, 9))
  t.equal(fault.message, `parquet changed while it was read: 5 bytes, then no more, expected the same file before and after (${path})`)
  await file.close()
})

t.test('a file that never ends growing is left at the size it had', async t => {
  const path = join(t.testdir({ file: CONTENT }), 'file')
  let bytes = 0
  const fault = await faultOf(
    (async () => {
      for await (const chunk of fileChunks(path, { chunkSize: 4 })) {
        bytes += chunk.length
        appendFileSync(path, 'abcdefgh')
      }
    })()
  )
  t.match(fault.message, /^snapshot changed while it was read: 10 bytes, then \d+, expected/)
  t.ok(bytes <= CONTENT.length + 4)
  writeFileSync(path, CONTENT)
  const grown = await hashFile(path, {
    buffer: Buffer.alloc(4),
    onBytes: () => {
      appendFileSync(path, 'abcdefgh')
    }
  })
  t.same([grown.sha256, grown.changed], [null, true])
  t.ok(grown.bytes <= CONTENT.length + 4)
})

t.test('what is no regular file, or not there, is refused before a byte is read', POSIX_ONLY, async t => {
  const dir = t.testdir({ file: CONTENT, folder: {} })
  const at = (name: string): string => join(dir, name)
  execFileSync('mkfifo', [at('pipe')])
  symlinkSync('pipe', at('link-to-pipe'))
  symlinkSync('file', at('link'))
  const cases: readonly (readonly [string, string])[] = [
    [at('folder'), 'a folder'],
    [at('pipe'), 'a named pipe'],
    [at('link-to-pipe'), 'a named pipe'],
    ['/dev/null', 'a device'],
    ['/dev/zero', 'a device']
  ]
  for (const [path, found] of cases) {
    const messages = [
      `npz unreadable file: ${found}, expected a regular file (${path})`,
      `file unreadable: ${found}, expected a regular file (${path})`
    ]
    for (const [i, words] of [wordsOf('npz'), comparingWords('npz')].entries()) {
      t.equal((await faultOf(openStill(path, words))).message, messages[i])
      t.equal((await faultOf((async () => openStillSync(path, words))())).message, messages[i])
    }
    t.equal((await faultOf(collect(fileChunks(path)))).message, messages[1])
    t.equal((await faultOf(hashFile(path))).message, messages[1])
  }
  const absent = at('absent')
  t.equal((await faultOf(openStill(absent, wordsOf('npz')))).message, `npz missing file: nothing, expected a regular file (${absent})`)
  t.equal(
    (await faultOf((async () => readStillSync(absent, 'npz'))())).message,
    `npz missing file: nothing, expected a regular file (${absent})`
  )
  t.equal(
    (await faultOf(hashFile(absent))).message,
    `file unreadable: ENOENT no such file or directory, expected a regular file (${absent})`
  )
  // A link is followed, unless the program has written the file itself.
  t.equal(await readText(at('link')), CONTENT)
  t.equal(
    (await faultOf(readText(at('link'), { links: 'refuse' }))).message,
    `file unreadable: a link, expected a regular file (${at('link')})`
  )
  t.equal((await faultOf((async () => openStillSync(at('link'), wordsOf('output'), { links: 'refuse' }))())).details.found, 'a link')
})

t.test('empty, too large, unreadable', async t => {
  const dir = t.testdir({ empty: '', file: CONTENT })
  const [empty, path] = [join(dir, 'empty'), join(dir, 'file')]
  const file = await openStill(empty)
  t.same(
    [file.size, (await file.whole()).length, (await collect(file.chunks())).length, await file.sha256()],
    [0, 0, 0, sha256(Buffer.alloc(0))]
  )
  await file.close()
  const sync = openStillSync(empty, wordsOf('npz'))
  t.same([sync.size, sync.whole(allocate).length, sync.sha256()], [0, 0, sha256(Buffer.alloc(0))])
  sync.close()
  for (const [words, message] of [
    [wordsOf('npz'), `npz file too large: 10 bytes, expected at most 9 (${path})`],
    [comparingWords('npz'), `file unreadable: 10 bytes, expected at most 9 (${path})`]
  ] as const) {
    const large = await openStill(path, words)
    t.equal((await faultOf(large.whole(9))).message, message)
    t.equal((await large.whole(10)).toString(), CONTENT)
    await large.close()
  }
  // Reading the first byte of it fails, although it can be opened.
  const memory = '/proc/self/mem'
  if (!existsSync(memory)) return
  const message = `file unreadable: EIO i/o error, expected a regular file (${memory})`
  t.equal((await faultOf(collect(fileChunks(memory)))).message, message)
  t.equal((await faultOf(hashFile(memory))).message, message)
  t.equal(
    (await faultOf((async () => openStillSync(memory, wordsOf('npz')).sha256())())).message,
    `npz unreadable file: EIO i/o error (${memory})`
  )
})

t.test('a part at once is all there, or a fault', async t => {
  const path = join(t.testdir({ file: CONTENT }), 'file')
  const file = openStillSync(path, wordsOf('npz'))
  const part = Buffer.from(allocate(4))
  file.fill(part, 6)
  t.equal(part.toString(), CONTENT.slice(6))
  truncateSync(path, 3)
  t.match((await faultOf((async () => file.fill(part, 0))())).message, /^npz changed while it was read: its size changed/)
  file.close()
})

t.test('chunks: any size, valid until the next one, stopped by a signal', async t => {
  const folder = t.testdir({ 'abc.html': 'abc', 'page.html': 'A page of some length. '.repeat(1000) })
  const page = join(folder, 'page.html')
  const whole = readFileSync(page)
  for (const chunkSize of [1000, 4096, whole.length, whole.length + 1, 1 << 20]) {
    const tally = new ByteTally()
    t.ok((await collect(tallied(fileChunks(page, { chunkSize }), tally))).equals(whole), `chunks of ${chunkSize}`)
    t.equal(tally.bytes, whole.length)
    t.equal(tally.sha256(), createHash('sha256').update(whole).digest('hex'))
  }
  const slowly: Buffer[] = []
  for await (const chunk of fileChunks(page, { chunkSize: 9000 })) {
    await new Promise(resolve => setTimeout(resolve, 5))
    slowly.push(Buffer.from(chunk))
  }
  t.ok(Buffer.concat(slowly).equals(whole), 'a chunk stays until the next one is asked for')
  const tally = new ByteTally()
  await collect(tallied(fileChunks(join(folder, 'abc.html'), { chunkSize: 1 }), tally))
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  t.equal(tally.sha256(), abc, 'FIPS 180-2, appendix B.1')
  t.same(readStillSync(join(folder, 'abc.html'), 'npz'), { bytes: new Uint8Array(Buffer.from('abc')), sha256: abc })

  const controller = new AbortController()
  const reason = new Error('stop')
  let chunks = 0
  const reading = async (): Promise<void> => {
    for await (const chunk of fileChunks(page, { chunkSize: 1000, signal: controller.signal })) {
      chunks += Math.sign(chunk.length)
      if (chunks === 3) controller.abort(reason)
    }
  }
  await t.rejects(reading(), reason)
  t.equal(chunks, 3)
})

t.test('a chunk has 1 MiB where nothing else is asked for', async t => {
  const path = join(t.testdir({ file: Buffer.alloc(2 ** 20 + 1) }), 'file')
  const lengths: number[] = []
  for await (const chunk of fileChunks(path)) lengths.push(chunk.length)
  t.strictSame(lengths, [2 ** 20, 1])
})

t.test('a file of 2 GiB is not read whole', async t => {
  const path = join(t.testdir({ file: '' }), 'file')
  // without blocks on the disk
  truncateSync(path, 2 ** 31)
  const said = `npz file too large: 2147483648 bytes, expected at most 2147483647 (${path})`
  const file = await openStill(path, wordsOf('npz'))
  t.equal((await faultOf(file.whole())).message, said)
  await file.close()
  t.equal((await faultOf((async () => readStillSync(path, 'npz', () => new Uint8Array(1)))())).message, said)
})

t.test('every file that was opened is closed', { skip: existsSync('/proc/self/fd') ? false : 'needs /proc' }, async t => {
  const path = join(t.testdir({ file: CONTENT }), 'file')
  const open = (): number => readdirSync('/proc/self/fd').filter(fd => readLink(`/proc/self/fd/${fd}`) === path).length
  const sync = openStillSync(path, comparingWords('file'))
  const file = await openStill(path)
  t.equal(open(), 2)
  sync.close()
  await file.close()
  t.equal(open(), 0)
  await collect(fileChunks(path))
  t.equal(open(), 0, 'chunks')
  for await (const chunk of fileChunks(path, { chunkSize: 1 })) if (chunk.length > 0) break
  t.equal(open(), 0, 'chunks, left early')
  await readText(path)
  t.equal(open(), 0, 'a text')
  await t.rejects(readText(path, { maxBytes: 1 }))
  t.equal(open(), 0, 'a text that is too large')
  await hashFile(path)
  t.equal(open(), 0, 'a hash')
  readStillSync(path, 'npz')
  t.equal(open(), 0, 'a whole file on the calling thread')
})

/** The target of a link; null where it has gone meanwhile. */
function readLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

t.test('what is read is what was verified', async t => {
  const file = { path: 'a', sha256: 'new', bytes: 1 }
  t.equal(requireVerified('/study', file, undefined), file)
  t.equal(requireVerified('/study', file, new Map([['a', 'new']])), file)
  const cases = [
    [new Map([['a', 'old']]), `manifest file changed after it was verified: new, expected old (${join('/study', 'a')})`],
    [new Map<string, string>(), `manifest file not listed: new, expected an entry in the manifest (${join('/study', 'a')})`]
  ] as const
  for (const [verified, message] of cases) {
    const fault = await faultOf((async () => requireVerified('/study', file, verified))())
    t.equal(fault.message, message)
    t.equal(fault.exitCode, EXIT.checkFailed)
    t.equal(verifiedFault('/study', file, verified)?.message, message)
  }
})

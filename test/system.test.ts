/**
 * What the system is asked for: errors in words, files that are opened without waiting, folders, what killed processes left,
 * and the end by a signal. With real named pipes, links, sockets and processes.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:net'
import { constants, hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { describeCause, Fault } from '../src/core/errors.js'
import { outputFault } from '../src/render/outputs/output-fault.js'
import { fileSystemTime, HEARTBEAT_MS, isAlive, isSilent } from '../src/core/system/alive.js'
import { neededToWrite, systemName, systemText } from '../src/core/system/error.js'
import { holds, inTheWay, isInside, makeFolder, realPlace, syncFolder, whyNoFolder } from '../src/core/system/folder.js'
import { lastWords } from '../src/core/system/last-words.js'
import { readText } from '../src/core/still-file.js'
import { openRegular, openRegularSync, type OpenOptions } from '../src/core/system/open.js'
import { makeWorkFolder, sweepWorkFolders } from '../src/core/system/work-folder.js'
import { faultOf } from './support/folders.js'
import { root } from './support/paths.js'

/** As Node 20 throws it: with libuv's name and words, or, where libuv has none, with the number for all three. */
function thrown(number: number, name: string | null): Error {
  const code = name ?? `Unknown system error ${-number}`
  return Object.assign(new Error(`${code}: ${name === null ? code : 'illegal words of libuv'}, open '/a/path'`), {
    code,
    errno: -number,
    syscall: 'open',
    path: '/a/path'
  })
}

t.test('every error of the system has a name and words, on one line, whatever Node calls it', t => {
  const numbers = Object.entries(constants.errno)
  t.ok(numbers.length > 70)
  for (const [name, number] of numbers) {
    for (const error of [thrown(number, name), thrown(number, null)]) {
      const text = systemText(error) ?? ''
      t.match(text, /^E[A-Z0-9]+ [a-z][^\n]+$/, `${name}: ${text}`)
      t.notMatch(text, /Unknown|illegal words|illegal operation|, open|without a word/)
      // Two names may have one number (EAGAIN and EWOULDBLOCK).
      t.equal(constants.errno[text.split(' ')[0] as keyof typeof constants.errno], number, text)
      t.equal(describeCause(error), text)
      const fault = outputFault(error, 'x')
      t.equal(fault.message, `output unwritable: ${text}, expected ${neededToWrite(text.split(' ')[0])} (x)`)
    }
  }
  t.equal(systemText(thrown(9999, null)), 'system error 9999 without a word of its own')
  // Linux, errno(3): what the issue names.
  const words: readonly (readonly [number, string, string])[] = [
    [122, 'EDQUOT disk quota exceeded', 'free space in the disk quota'],
    [28, 'ENOSPC no space left on device', 'free space on the disk'],
    [30, 'EROFS read-only file system', 'a file system that can be written to'],
    [13, 'EACCES permission denied', 'a writable folder'],
    [21, 'EISDIR a folder', 'a file'],
    [24, 'EMFILE too many open files', 'a higher limit of open files'],
    [36, 'ENAMETOOLONG name too long', 'a shorter path'],
    [31, 'EMLINK too many links', 'a file system that takes more folders or links'],
    [5, 'EIO i/o error', 'a disk without errors'],
    [26, 'ETXTBSY text file is busy', 'a file that no program runs from'],
    [116, 'ESTALE the network file system no longer knows it', 'a network file system that keeps the folder']
  ]
  if (process.platform === 'linux') {
    for (const [number, text, needed] of words) {
      t.equal(systemText(thrown(number, null)), text)
      t.equal(neededToWrite(text.split(' ')[0]), needed)
    }
  }
  t.end()
})

t.test('other errors keep their message', t => {
  const zlib = Object.assign(new Error('unexpected end of file'), { code: 'Z_BUF_ERROR', errno: -5 })
  const resolver = Object.assign(new Error('getaddrinfo ENOTFOUND host'), { code: 'ENOTFOUND', errno: -3008 })
  for (const error of [zlib, resolver, new Error('plain'), new SyntaxError('JSON')]) {
    t.equal(systemText(error), null)
    t.equal(describeCause(error), error.message)
  }
  const removed = Object.assign(new Error('Path is a directory: rm returned EISDIR (is a directory) /x'), {
    code: 'ERR_FS_EISDIR',
    errno: 21
  })
  t.equal(systemName(removed), 'EISDIR')
  t.equal(systemText('ENOENT'), null)
  t.end()
})

t.test('what is opened is a regular file, and nothing waits', async t => {
  const dir = t.testdir({ file: 'text', folder: {} })
  const at = (name: string): string => join(dir, name)
  execFileSync('mkfifo', [at('pipe')])
  symlinkSync('file', at('link'))
  symlinkSync('pipe', at('link-to-pipe'))
  symlinkSync('nowhere', at('dangling'))
  symlinkSync('ring', at('ring'))
  const server = createServer()
  // A socket's path has at most 107 bytes.
  const short = mkdtempSync(join(tmpdir(), 'ct-'))
  t.teardown(() => rmSync(short, { recursive: true }))
  const socket = join(short, 'socket')
  server.listen(socket)
  await once(server, 'listening')
  const cases: readonly (readonly [string, OpenOptions, string])[] = [
    [at('folder'), {}, 'a folder'],
    [at('pipe'), {}, 'a named pipe'],
    [at('link-to-pipe'), {}, 'a named pipe'],
    [socket, {}, 'ENXIO a socket, or a device that is not there'],
    ['/dev/null', {}, 'a device'],
    ['/dev/zero', {}, 'a device'],
    [at('dangling'), {}, 'ENOENT no such file or directory'],
    [at('ring'), {}, 'ELOOP too many symbolic links encountered'],
    [at('link'), { links: 'refuse' }, 'a link'],
    [at('dangling'), { links: 'refuse', create: true }, 'a link'],
    [at('pipe'), { create: true }, 'a named pipe'],
    [at('folder'), { create: true }, 'EISDIR a folder'],
    [at('nowhere'), {}, 'ENOENT no such file or directory']
  ]
  const descriptors = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0)
  await faultOf(openRegular(at('folder')))
  const opened = descriptors()
  for (const [path, options, found] of cases) {
    const expected = `file unreadable: ${found}, expected a regular file (${path})`
    t.equal((await faultOf(openRegular(path, options))).message, expected)
    t.equal((await faultOf((async () => openRegularSync(path, options))())).message, expected)
    t.equal(descriptors(), opened, `${found}: what was opened is closed`)
  }
  server.close()
  for (const name of ['file', 'link']) {
    const { handle, stat } = await openRegular(at(name))
    t.equal(stat.size, 4n)
    await handle.close()
    closeSync(openRegularSync(at(name)).fd)
    t.equal(await readText(at(name)), 'text')
  }
  t.match((await faultOf(readText(at('file'), { maxBytes: 3 }))).message, /^file unreadable: 4 bytes, expected at most 3 /)
  const { handle } = await openRegular(at('made'), { create: true, links: 'refuse' })
  await handle.close()
  t.ok(existsSync(at('made')))
  t.notOk(existsSync(at('nowhere')))
})

t.test('folders: one level at a time, and where a path leads', async t => {
  const dir = realpathSync(t.testdir({ a: { b: {} }, file: '' }))
  t.same(
    await makeFolder(join(dir, 'x/y/z')),
    ['x/y/z', 'x/y', 'x'].map(path => join(dir, path)),
    'deepest first'
  )
  t.same(await makeFolder(join(dir, 'x/y')), [])
  await t.rejects(makeFolder(join(dir, 'file')), { code: 'EEXIST' })
  symlinkSync('gone', join(dir, 'dangling'))
  await t.rejects(makeFolder(join(dir, 'dangling')), { code: 'EEXIST' })
  // mkdir's own recursive mode never ends there (Node 20).
  if (existsSync('/proc/self')) await t.rejects(makeFolder('/proc/x/y'), { code: 'ENOENT' })

  symlinkSync('a', join(dir, 'l'))
  symlinkSync('l/new', join(dir, 'to-come'))
  symlinkSync('ring', join(dir, 'ring'))
  const places: readonly (readonly [string, string])[] = [
    ['a', 'a'],
    ['l', 'a'],
    ['l/b', 'a/b'],
    ['l/b/c/d', 'a/b/c/d'],
    ['to-come', 'a/new'],
    ['to-come/deeper', 'a/new/deeper'],
    ['l/../file', 'file'],
    ['ring', 'ring'],
    ['file/below', 'file/below']
  ]
  for (const [path, place] of places) t.equal(realPlace(join(dir, path)), join(dir, place), path)
  t.ok(isInside('/a', '/a') && isInside('/a', '/a/b') && isInside('/', '/a') && isInside('/a', '/a/..b'))
  t.notOk(isInside('/a', '/ab') || isInside('/a/b', '/a') || isInside('/a', '/b'))
  t.notOk(isInside('/a/b', '/a/c/b') || isInside('/a/b', '/'))

  // Two names of one inode, as a folder has that is mounted twice.
  linkSync(join(dir, 'file'), join(dir, 'a/other-name'))
  writeFileSync(join(dir, 'a/file'), '')
  const held: readonly (readonly [string, string, boolean])[] = [
    ['a', 'a', true],
    ['a', 'l/b', true],
    ['a/b', 'a', false],
    ['file', 'a/other-name', true],
    ['file', 'a/file', false],
    ['nowhere', 'nowhere/below', true],
    ['nowhere', 'a', false],
    ['a', 'nowhere', false]
  ]
  for (const [outer, inner, expected] of held) t.equal(holds(join(dir, outer), join(dir, inner)), expected, `${outer} holds ${inner}`)

  await syncFolder(join(dir, 'a'))
  await t.rejects(syncFolder(join(dir, 'file')), { code: 'ENOTDIR' })
  // A folder of /proc cannot be synced: EINVAL.
  if (existsSync('/proc/self')) await t.resolves(syncFolder('/proc/self'))

  symlinkSync('file', join(dir, 'to-file'))
  const inTheWays: readonly (readonly [string, string, string])[] = [
    ['file', 'file', 'a file'],
    ['file/x/y', 'file', 'a file'],
    ['to-file/x', 'to-file', 'a file'],
    ['dangling/x', 'dangling', 'a link to nothing'],
    ['ring', 'ring', 'a link that leads back to itself'],
    ['ring/x', 'ring', 'a link that leads back to itself']
  ]
  for (const [path, at, found] of inTheWays) t.same(await inTheWay(join(dir, path)), { path: join(dir, at), found }, path)
  for (const path of ['a', 'a/new/deeper', 'l/new', '']) t.equal(await inTheWay(join(dir, path)), null, path)
  t.equal(await whyNoFolder(join(dir, 'a')), null)
  t.equal(await whyNoFolder(join(dir, 'file')), 'a file')
  t.equal(await whyNoFolder(join(dir, 'nowhere')), null)
})

t.test('work folders: what dead processes left goes, at once or after an hour of silence by the clock of the file system', async t => {
  const dir = t.testdir({})
  const host = hostname().replaceAll(/[^\w.-]/g, '_')
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  const dead = child.pid ?? 0
  const now = await fileSystemTime(dir)
  const made: readonly (readonly [string, number, boolean])[] = [
    [`w@${host}@${dead}@aaaaaa`, 0, true],
    [`w@${host}@${process.pid}@bbbbbb`, 86_400, false],
    ['w@other-pod@1@cccccc', 3500, false],
    ['w@other-pod@1@dddddd', 3700, true],
    ['w@other-pod@1@eeeeee', -3600, false],
    ['w@other-pod@1@jjjjjj', -90_000, true],
    ['v@other-pod@1@ffffff', 9999, false],
    ['w@other-pod@x@gggggg', 9999, false]
  ]
  for (const [name, silent] of made) {
    mkdirSync(join(dir, name, 'in'), { recursive: true })
    writeFileSync(join(dir, name, 'in/file'), '')
    utimesSync(join(dir, name), now / 1000 - silent, now / 1000 - silent)
  }
  writeFileSync(join(dir, 'w@other-pod@1@hhhhhh'), 'a file')
  utimesSync(join(dir, 'w@other-pod@1@hhhhhh'), 0, 0)
  symlinkSync(`w@${host}@${process.pid}@bbbbbb`, join(dir, `w@${host}@${dead}@iiiiii`))
  await sweepWorkFolders(dir, 'w')
  const kept = [...made.filter(([, , goes]) => !goes).map(([name]) => name), 'w@other-pod@1@hhhhhh', `w@${host}@${dead}@iiiiii`]
  t.same(readdirSync(dir).sort(), kept.sort())
  const work = await makeWorkFolder(dir, 'w')
  writeFileSync(join(work.path, 'file'), '')
  await sweepWorkFolders(dir, 'w')
  t.ok(existsSync(work.path))
  await work.remove()
  t.same(readdirSync(dir).sort(), kept.sort())
  await sweepWorkFolders(join(dir, 'nowhere'), 'w')
})

t.test('a process is silent an hour after its last sign, or where that lies more than a day ahead', t => {
  const now = 1_800_000_000_000
  for (const [sign, silent] of [
    [0, false],
    [-3_600_000, false],
    [-3_600_001, true],
    [86_400_000, false],
    [86_400_001, true]
  ] as const) {
    t.equal(isSilent(now, now + sign), silent, `${sign} ms`)
  }
  t.equal(HEARTBEAT_MS, 600_000)
  t.equal(isAlive(process.pid), true)
  t.end()
})

t.test('what no command could catch is one line in words too', async t => {
  t.equal(
    await lastWords(Object.assign(thrown(24, 'EMFILE'), { path: '/a/\u0007b' })),
    'critic-traces: run failed: EMFILE too many open files, expected a higher limit of open files (/a/\\u0007b)\n'
  )
  // As Piscina's thread has it.
  const worker = Object.assign(new Error('Worker initialization failure: EMFILE'), { code: 'ERR_WORKER_INIT_FAILED' })
  t.equal(await lastWords(worker), 'critic-traces: run failed: EMFILE too many open files, expected a higher limit of open files\n')
  t.equal(await lastWords(new Error('one\ntwo')), 'critic-traces: run failed: one, expected to finish\n')
  t.equal(await lastWords('text'), 'critic-traces: run failed: text, expected to finish\n')
  const program = join(root, 'dist/run.js')
  let ended = 0
  // Without the test runner's own modules, which it asks every child to load.
  for (const limit of [20, 22, 24]) {
    for (const command of ['verify', 'traces']) {
      const args = [
        '-c',
        `unset NODE_OPTIONS; ulimit -n ${limit}; exec "$0" "$@"`,
        process.execPath,
        program,
        command,
        ...(command === 'verify' ? ['--study', '/nowhere'] : ['/nowhere'])
      ]
      const { status, stderr } = spawnSync('sh', args, { encoding: 'utf8', env: { PATH: process.env['PATH'] }, cwd: t.testdir() })
      // Where Node cannot open the program itself, nothing of it has run.
      if (stderr.includes('run.js') && status !== 3) continue
      ended++
      t.equal(status, 3, stderr)
      t.match(stderr, /^(?:critic-traces: [^\n]+\n)+$/)
      t.notMatch(stderr, /node:internal|initialization/)
    }
  }
  t.ok(ended > 0)
})

t.test('a signal ends whatever does not end by itself; a second one of any kind at once', async t => {
  const MODULE = JSON.stringify(new URL('../src/cli/program.js', import.meta.url).href)
  /** Work that hears nothing of the interruption. @param grace milliseconds that it is given */
  const deaf = async (grace: number, signals: readonly NodeJS.Signals[]): Promise<unknown> => {
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `
      import { endOnSignals } from ${MODULE}
      const interrupt = new AbortController()
      interrupt.signal.addEventListener('abort', () => console.log('interrupted'))
      endOnSignals(interrupt, ${grace})
      setInterval(() => {}, 1000)
      console.log('ready')`
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] }
    )
    const exited = once(child, 'exit')
    for (const signal of signals) {
      await once(child.stdout, 'data')
      child.kill(signal)
    }
    return (await exited)[1]
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) t.equal(await deaf(1, [signal]), signal)
  t.equal(await deaf(1e8, ['SIGINT', 'SIGTERM']), 'SIGTERM')
  t.equal(await deaf(1e8, ['SIGTERM', 'SIGTERM']), 'SIGTERM')
  t.equal(await deaf(1e8, ['SIGHUP', 'SIGINT']), 'SIGINT')
})

t.test('a Fault of opening is worded by whoever asked', async t => {
  const fault = await faultOf(openRegular('/nowhere/at/all'))
  t.ok(fault instanceof Fault && fault.exitCode === 3)
  t.equal(Object(fault.cause).code, 'ENOENT')
})

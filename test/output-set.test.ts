/**
 * How outputs are written: all files of a set or none, on failing disks, in odd folders, under kill -9. Failures come
 * from a file system passed in, and from the real one where it can be made to fail (/dev/full, files for folders).
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import * as nodeFs from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { Fault } from '../src/core/errors.js'
import { ArrowTraceWriter } from '../src/render/outputs/arrow.js'
import { outputFault } from '../src/render/outputs/output-fault.js'
import { nodeOutputFs } from '../src/render/outputs/output-fs.js'
import { OutputSet } from '../src/render/outputs/output-set.js'
import { isLeftOver, parseTempName, sweepLeftOvers, tempName } from '../src/render/outputs/temp-names.js'
import { countingFs, systemError, withHandles } from './support/failing-fs.js'
import { contents, faultOf, sha256, tree } from './support/folders.js'

const OLD = { 'a.txt': 'old a', sub: { 'b.bin': 'old b' } }

/** Writes a.txt, sub/b.bin (both there before) and sub/new.txt (not there before). */
async function replaceThree(dir: string, fs = nodeOutputFs): Promise<void> {
  const set = await OutputSet.open(dir, { fs, folders: ['sub', 'training_data'] })
  const a = await set.file('a.txt')
  const b = await set.file('sub/b.bin')
  await a.write(Buffer.from('new '))
  await b.write([Buffer.from('new'), Buffer.from(' b')])
  await a.write(Buffer.from('a'))
  await a.end()
  await set.write('sub/new.txt', 'new c')
  await set.commit()
}

const BEFORE = { 'a.txt': 'old a', 'sub/b.bin': 'old b' }
const AFTER = { 'a.txt': 'new a', 'sub/b.bin': 'new b', 'sub/new.txt': 'new c' }

t.test('a transaction: all files or none', async t => {
  t.test('nothing is visible before commit, everything after', async t => {
    const dir = t.testdir(OLD)
    const set = await OutputSet.open(dir, { folders: ['sub'] })
    await set.write('a.txt', 'new a')
    const file = await set.file('sub/b.bin', { sha256: true })
    await file.write(Buffer.from('new '))
    t.equal(file.bytes, 4)
    t.equal(readFileSync(join(dir, 'a.txt'), 'utf8'), 'old a')
    await file.write(Buffer.from('b'))
    const [, summary] = await set.commit()
    t.strictSame(summary, { path: 'sub/b.bin', bytes: 5, sha256: sha256(Buffer.from('new b')) })
    t.strictSame(contents(dir), { 'a.txt': 'new a', 'sub/b.bin': 'new b' })
    await set.abort()
    t.strictSame(contents(dir), { 'a.txt': 'new a', 'sub/b.bin': 'new b' }, 'abort after commit does nothing')
    t.equal((await set.commit()).length, 2, 'a second commit answers the same')
    await t.rejects(set.file('c.txt'), { message: `the output set of ${dir} is committed` })
  })

  t.test('abort restores the folder, removes folders that it made, and may be called twice', async t => {
    const dir = t.testdir(OLD)
    const out = join(dir, 'x/y')
    const set = await OutputSet.open(out)
    const file = await set.file('training_data/deep/z.bin')
    await file.write(new Uint8Array(1_000_000))
    const write = faultOf(file.write(new Uint8Array(1_000_000)))
    t.ok(existsSync(join(out, 'training_data/deep')))
    await Promise.all([set.abort(), set.abort()])
    const fault = await write
    t.equal(fault.message, `output given up (${out})`, 'a write that had not begun fails')
    await set.abort()
    t.notOk(existsSync(join(dir, 'x')), 'folders that it created are gone')
    t.strictSame(contents(dir), BEFORE)
    t.equal(await faultOf(file.write(new Uint8Array(1))), fault)
    t.equal(await faultOf(set.commit()), fault)
    t.equal(await faultOf(set.file('other')), fault)
  })

  t.test('abort waits for a file that is being made, and takes its folder away', async t => {
    for (let turns = 0; turns < 12; turns++) {
      const dir = t.testdir({})
      const set = await OutputSet.open(join(dir, 'out'))
      const starting = faultOf(set.file('training_data/z.bin'))
      for (let i = 0; i < turns; i++) await Promise.resolve()
      await set.abort()
      t.equal((await starting).message, `output given up (${join(dir, 'out')})`)
      t.strictSame(readdirSync(dir), [])
    }
  })

  t.test('folders that were there, or hold something, stay after abort', async t => {
    const dir = t.testdir({ sub: {} })
    const set = await OutputSet.open(dir)
    await set.write('sub/a', 'a')
    await set.write('made/a', 'a')
    writeFileSync(join(dir, 'made/foreign'), 'x')
    await set.abort()
    t.strictSame(tree(dir), ['made/foreign'])
    t.ok(existsSync(join(dir, 'sub')))
  })

  t.test('every operation fails once: old files untouched, no temporary file, a Fault with exit code 3', async t => {
    const error = systemError('EIO', 'i/o error', 'test')
    const outcomes = new Map<string, Set<string>>()
    let failAt = 0
    for (; ; failAt++) {
      const dir = t.testdir(OLD)
      const { fs, calls } = countingFs(failAt, error)
      const thrown: unknown = await replaceThree(dir, fs).then(
        () => null,
        e => e
      )
      const failed = calls[failAt]
      if (failed === undefined) {
        t.equal(thrown, null)
        t.strictSame(contents(dir), AFTER, 'without a failure everything is new')
        break
      }
      let outcome = 'old'
      if (thrown === null) {
        outcome = 'new'
        t.strictSame(contents(dir), AFTER, `${failAt} ${failed}`)
      } else if (failed === 'unlink') {
        outcome = 'new, an old copy left'
        t.match(contents(dir), AFTER, `${failAt} ${failed}`)
      } else t.strictSame(contents(dir), BEFORE, `${failAt} ${failed}`)
      if (thrown !== null) {
        if (!(thrown instanceof Fault)) throw thrown
        t.equal(thrown.exitCode, 3)
        t.match(thrown.message, /^output unwritable: EIO i\/o error, expected a disk without errors \(.+\)$/, `${failAt} ${failed}`)
      }
      outcomes.set(failed, (outcomes.get(failed) ?? new Set()).add(outcome))
    }
    t.ok(failAt > 35, `${failAt} operations failed, one at a time`)
    t.strictSame(Object.fromEntries([...outcomes].map(([k, v]) => [k, [...v]]).sort()), {
      checkWritable: ['old'],
      close: ['old'],
      create: ['old'],
      inspect: ['old'],
      link: ['new'], // falls back to a rename
      list: ['old'],
      makeFolder: ['old'],
      realPath: ['old'],
      rename: ['old'],
      sync: ['old'],
      syncFolder: ['old'],
      unlink: ['new, an old copy left'],
      writev: ['old']
    })
  })

  t.test('without hard links the old file is moved aside, and comes back when a later rename fails', async t => {
    const noLinks = { ...nodeOutputFs, link: () => Promise.reject(systemError('EPERM', 'operation not permitted', 'link')) }
    const dir = t.testdir(OLD)
    await replaceThree(dir, noLinks)
    t.strictSame(contents(dir), AFTER)
    for (const failing of ['a.txt', 'b.bin', 'new.txt']) {
      const again = t.testdir(OLD)
      const fs = {
        ...noLinks,
        rename: (from: string, to: string) =>
          from.endsWith('.tmp') && to.endsWith(failing)
            ? Promise.reject(systemError('EACCES', 'permission denied', 'rename'))
            : nodeOutputFs.rename(from, to)
      }
      const fault = await faultOf(replaceThree(again, fs))
      t.match(fault.message, /^output unwritable: EACCES permission denied, expected a writable folder \(.+\)$/)
      t.equal(fault.place.file?.endsWith(failing), true)
      t.strictSame(contents(again), BEFORE, failing)
    }
  })

  t.test('old files that cannot be put back are named', async t => {
    const dir = t.testdir(OLD)
    let commits = 0
    const fs = {
      ...nodeOutputFs,
      rename: (from: string, to: string) => {
        commits += 1
        return commits === 1 ? nodeOutputFs.rename(from, to) : Promise.reject(systemError('EIO', 'i/o error', 'rename'))
      }
    }
    const fault = await faultOf(replaceThree(dir, fs))
    t.match(fault.message, /^output not restored: .*a\.txt \(output unwritable: EIO i\/o error.*expected the earlier files back in place/)
    t.match(Object(fault.cause).message, /output unwritable: EIO/)
  })

  t.test('a file that fails takes its set with it: later calls say the first reason', async t => {
    const dir = t.testdir(OLD)
    const fs = withHandles((real, path) =>
      path.includes('b.bin') ? { ...real, writev: () => Promise.reject(systemError('ENOSPC', 'no space left on device', 'write')) } : real
    )
    const set = await OutputSet.open(dir, { fs })
    const a = await set.file('a.txt')
    const b = await set.file('sub/b.bin')
    await a.write(Buffer.from('x'))
    const full = await faultOf(b.write(Buffer.from('x')))
    const inSub = join(dir, 'sub/b.bin')
    t.equal(full.message, `output unwritable: ENOSPC no space left on device, expected free space on the disk (${inSub})`)
    t.strictSame(contents(dir), BEFORE, 'already gone, before anybody calls abort')
    t.equal(await faultOf(set.commit()), full)
    t.equal(await faultOf(set.file('c')), full)
    t.equal(await faultOf(a.write(Buffer.from('y'))), full)
    await set.abort()
    t.strictSame(contents(dir), BEFORE)
  })

  t.test('/dev/full', async t => {
    const dir = t.testdir(OLD)
    const set = await OutputSet.open(dir, {
      fs: withHandles((real, path) => {
        if (!path.includes('critic-traces.arrow')) return real
        const full = nodeFs.open('/dev/full', 'w')
        return {
          ...real,
          writev: async (chunks, position) => (await (await full).writev([...chunks], position)).bytesWritten,
          datasync: () => real.datasync(),
          sync: () => real.sync(),
          async close() {
            await (await full).close()
            await real.close()
          }
        }
      })
    })
    const origin = { synthetic: false, manifest: null, generator: { name: 'n', version: '1' } }
    const writer = await ArrowTraceWriter.open(set)
    const fault = await faultOf(writer.finish({ ...origin, verified: false, snapshotTime: null }))
    t.match(fault.message, /^output unwritable: ENOSPC no space left on device, expected free space on the disk/)
    t.equal(fault.place.file, join(dir, 'training_data/critic-traces.arrow'))
    t.equal(fault.exitCode, 3)
    t.strictSame(contents(dir), BEFORE)
  })

  t.test('a failure while a file is being made or a commit is running leaves nothing', async t => {
    const dir = t.testdir(OLD)
    const set = await OutputSet.open(dir)
    const making = set.file('sub/late.txt')
    const aborting = set.abort()
    t.equal((await faultOf(making)).message, `output given up (${dir})`)
    await aborting
    t.strictSame(contents(dir), BEFORE)
    const second = await OutputSet.open(dir)
    await second.write('a.txt', 'new a')
    const commit = second.commit()
    await second.abort()
    await commit
    t.strictSame(contents(dir), { ...BEFORE, 'a.txt': 'new a' }, 'abort waits for a commit that has begun')
  })
})

t.test('streams', async t => {
  t.test('short writes are continued; a file that takes nothing is an error', async t => {
    const dir = t.testdir()
    const sizes = [1, 3, 7, 2, 100]
    let turn = 0
    const set = await OutputSet.open(dir, {
      fs: withHandles(real => ({
        ...real,
        writev: (chunks, position) => {
          const limit = sizes[turn++ % sizes.length] ?? 1
          return real.writev([Buffer.concat(chunks).subarray(0, limit)], position)
        }
      }))
    })
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251))
    const file = await set.file('x', { sha256: true })
    await file.write([bytes.subarray(0, 0), bytes.subarray(0, 10), bytes.subarray(10, 11), bytes.subarray(11, 500)])
    await file.write([])
    await file.write(bytes.subarray(500))
    const [summary] = await set.commit()
    t.strictSame(summary, { path: 'x', bytes: 1000, sha256: sha256(bytes) })
    t.ok(readFileSync(join(dir, 'x')).equals(bytes))
    const stuck = await OutputSet.open(dir, { fs: withHandles(real => ({ ...real, writev: () => Promise.resolve(0) })) })
    t.match((await faultOf((await stuck.file('y')).write(bytes))).message, /^output failed: the file took 0 bytes of a write/)
  })

  t.test('writes land in the order of the calls, awaited or not', async t => {
    const dir = t.testdir()
    const set = await OutputSet.open(dir)
    const file = await set.file('x')
    const pieces = Array.from({ length: 200 }, (_, i) => Buffer.from(`${i} `.repeat(1 + ((i * 37) % 50))))
    const writes = pieces.map(piece => file.write(piece))
    t.equal(file.bytes, Buffer.concat(pieces).length)
    await Promise.all([...writes, file.end()])
    await t.rejects(file.write(Buffer.from('x')), { message: 'x has ended' })
    await set.commit()
    t.ok(readFileSync(join(dir, 'x')).equals(Buffer.concat(pieces)))
  })

  t.test('overwrite changes earlier bytes only, and not under a hash', async t => {
    const dir = t.testdir()
    const set = await OutputSet.open(dir)
    const file = await set.file('x')
    await file.write(Buffer.from('0123456789'))
    await file.overwrite(2, Buffer.from('ab'))
    t.throws(() => file.overwrite(9, Buffer.from('ab')), { message: 'x ends before the bytes to write over' })
    await file.write(Buffer.from('!'))
    const hashed = await set.file('y', { sha256: true })
    await hashed.write(Buffer.from('0123456789'))
    t.throws(() => hashed.overwrite(0, Buffer.from('a')), { message: 'y is hashed as it is written and cannot be written over' })
    await set.commit()
    t.equal(readFileSync(join(dir, 'x'), 'utf8'), '01ab456789!')
  })

  t.test('write-back starts early, one at a time; its failure is not lost', async t => {
    const dir = t.testdir()
    const log: string[] = []
    let running = 0
    const fs = withHandles(real => ({
      ...real,
      writev: (chunks, position) => {
        log.push('w')
        return real.writev(chunks, position)
      },
      datasync: async () => {
        log.push('d')
        running += 1
        t.equal(running, 1)
        await real.datasync()
        running -= 1
      },
      sync: async () => {
        log.push('s')
        t.equal(running, 0)
        await real.sync()
      }
    }))
    const set = await OutputSet.open(dir, { fs })
    const file = await set.file('x')
    const megabyte = new Uint8Array(1 << 20)
    for (let i = 0; i < 20; i++) await file.write(megabyte)
    t.equal(log.indexOf('d'), 8, 'after eight of twenty megabytes')
    await set.commit()
    t.equal(log.filter(x => x === 's').length, 1)
    t.equal(log.at(-1), 's')

    let count = 0
    const counting = withHandles(real => ({
      ...real,
      datasync: () => {
        count += 1
        return Promise.resolve()
      }
    }))
    const quick = await OutputSet.open(dir, { fs: counting })
    const often = await quick.file('z')
    for (let i = 0; i < 25; i++) await often.write(megabyte)
    await quick.abort()
    t.equal(count, 3, 'again after every eight megabytes')

    const error = systemError('EIO', 'i/o error', 'fdatasync')
    let synced = 0
    const late = await OutputSet.open(dir, {
      fs: withHandles(real => ({
        ...real,
        datasync: () => new Promise((_, reject) => setTimeout(() => reject(error), 50)),
        // the system reports a failed write-back to one call only
        sync: () => {
          synced += 1
          return real.sync()
        }
      }))
    })
    const tail = await late.file('w')
    for (let i = 0; i < 8; i++) await tail.write(megabyte)
    await tail.end()
    t.match(
      (await faultOf(late.commit())).message,
      /^output unwritable: EIO i\/o error, expected a disk without errors/,
      'a write-back that fails after the last write'
    )
    t.equal(synced, 0)

    const full = systemError('ENOSPC', 'no space left on device', 'fdatasync')
    const lost = await OutputSet.open(dir, {
      fs: withHandles(real => ({ ...real, datasync: () => Promise.reject(full) }))
    })
    const big = await lost.file('y')
    const fault = await faultOf(
      (async () => {
        for (let i = 0; i < 9; i++) await big.write(megabyte)
        await lost.commit()
      })()
    )
    t.match(fault.message, /^output unwritable: ENOSPC no space left on device, expected free space on the disk \(.*y\)$/)
    t.strictSame(tree(dir), ['x'])
  })
})

t.test('where outputs may go', async t => {
  t.test('paths that leave the folder, or are none, are refused', async t => {
    const dir = t.testdir({ out: {} })
    const set = await OutputSet.open(join(dir, 'out'))
    for (const bad of ['', '/etc/x', '../x', 'a/../../x', 'a/..', './x', 'a//b', 'a/', 'a\\b', 'a\0b', '..']) {
      const fault = await faultOf(set.file(bad))
      t.match(fault.message, /^output path refused: .*, expected a relative path inside the output folder$/, JSON.stringify(bad))
    }
    await set.write('ok', 'ok')
    await t.rejects(set.file('ok'), { message: 'ok is already being written' })
    await set.commit()
    t.strictSame(tree(dir), ['out/ok'])
  })

  t.test('a linked output folder is fine; a link inside that leads out is not', async t => {
    const dir = t.testdir({ real: { 'a.txt': 'old' }, outside: {} })
    symlinkSync('real', join(dir, 'link'))
    symlinkSync('../outside', join(dir, 'real/sub'))
    const set = await OutputSet.open(join(dir, 'link'))
    await set.write('a.txt', 'new')
    await set.write('made/b.txt', 'b')
    await set.commit()
    t.equal(readFileSync(join(dir, 'real/a.txt'), 'utf8'), 'new')
    for (const path of ['sub/x', 'sub/deep/x']) {
      const second = await OutputSet.open(join(dir, 'link'))
      const fault = await faultOf(second.file(path))
      t.match(fault.message, /^output unwritable: a link to .*outside, expected a folder inside the output folder \(.*sub\)$/)
    }
    t.strictSame(readdirSync(join(dir, 'outside')), [], 'nothing was created there')
    symlinkSync('../outside/target.txt', join(dir, 'real/linked.txt'))
    const third = await OutputSet.open(join(dir, 'link'))
    await third.write('linked.txt', 'x')
    await third.commit()
    t.strictSame(readdirSync(join(dir, 'outside')), [], 'a linked file is replaced, not written through')
  })

  t.test('a file where a folder should be, a folder where a file should be, no rights', async t => {
    const dir = t.testdir({ file: 'x', out: { 'a.json': {}, sub: 'x' } })
    const opened = async (path: string): Promise<string> => (await faultOf(OutputSet.open(join(dir, path)))).message
    t.equal(await opened('file'), `output unwritable: a file, expected a folder (${join(dir, 'file')})`)
    t.equal(await opened('file/deeper'), `output unwritable: a file, expected a folder (${join(dir, 'file')})`)
    const within = async (path: string): Promise<string> => {
      const set = await OutputSet.open(join(dir, 'out'))
      return (await faultOf(set.file(path))).message
    }
    t.equal(await within('a.json'), `output unwritable: a folder, expected a file (${join(dir, 'out/a.json')})`)
    t.equal(await within('sub/a'), `output unwritable: a file, expected a folder (${join(dir, 'out/sub')})`)
    t.match(await within('n'.repeat(300)), /^output unwritable: ENAMETOOLONG name too long, expected a shorter path/)
    const denied = { ...nodeOutputFs, checkWritable: () => Promise.reject(systemError('EACCES', 'permission denied', 'access')) }
    const fault = await faultOf(OutputSet.open(join(dir, 'new'), { fs: denied }))
    t.equal(fault.message, `output unwritable: EACCES permission denied, expected a writable folder (${join(dir, 'new')})`)
    t.equal(fault.exitCode, 3)
    t.notOk(existsSync(join(dir, 'new')), 'the folder that it had just made is gone')
    mkdirSync(join(dir, 'locked'))
    chmodSync(join(dir, 'locked'), 0o555)
    const locked = OutputSet.open(join(dir, 'locked'))
    if (process.getuid?.() === 0) await (await locked).abort()
    else t.match((await faultOf(locked)).message, /^output unwritable: EACCES/)
    t.strictSame(tree(dir), ['file', 'out/sub'])
  })

  t.test('faults pass through, other errors are wrapped with their cause', async t => {
    const inner = new Fault({ format: 'npz', problem: 'broken' })
    t.equal(outputFault(inner, '/x'), inner)
    const wrapped = outputFault(new TypeError('boom'), '/x')
    t.equal(wrapped.message, 'output failed: boom (/x)')
    t.equal(Object(wrapped.cause).message, 'boom')
    t.equal(outputFault('text', '/x').message, 'output failed: text (/x)')
  })
})

t.test('temporary files of runs that are gone', async t => {
  const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
  const dead = await (async () => {
    const child = spawn(process.execPath, ['-e', ''])
    await once(child, 'exit')
    return child.pid ?? 0
  })()

  t.test('names', async t => {
    const name = tempName('critic-traces.arrow', 'tmp')
    t.match(name, new RegExp(`^\\.critic-traces\\.arrow\\.ct${process.pid}-${host}-[0-9a-f]{8}\\.tmp$`))
    t.not(tempName('x', 'tmp'), tempName('x', 'tmp'))
    t.strictSame(parseTempName(name), { name: 'critic-traces.arrow', pid: process.pid, host, kind: 'tmp' })
    const others = [
      'x.tmp',
      '.x.tmp',
      '.x.ct12-0123abcd.tmp',
      `.x.ct0-${host}-00000000.tmp`,
      `x.ct12-${host}-00000000.tmp`,
      `.x.ct12-${host}-00000000.tmp2`,
      `.x.ct12-${host}-0000000g.tmp`,
      `.x.12-${host}-00000000.tmp`
    ]
    for (const other of others) t.equal(parseTempName(other), null, other)
    const of = (pid: number, h = host) => ({ name: 'x', pid, host: h, kind: 'tmp' as const })
    t.equal(isLeftOver(of(dead), Date.now()), true)
    t.equal(isLeftOver(of(dead, '00000000'), 0), false, 'another host')
    t.equal(isLeftOver(of(process.ppid), 0), false, 'a process that lives')
    t.equal(isLeftOver(of(1), 0), false, 'a process of somebody else')
    t.equal(isLeftOver(of(process.pid), Date.now()), false, 'this process')
    t.equal(isLeftOver(of(process.pid), Date.now() - process.uptime() * 1000 - 60_000), true, 'an earlier process with this number')
  })

  t.test('what another sweep took first is done; any other failure is told', async t => {
    const dir = t.testdir({ [`.gone.ct${dead}-${host}-00000001.bak`]: 'old copy', [`.a.ct${dead}-${host}-00000002.tmp`]: 'left over' })
    const failing = (code: string): typeof nodeOutputFs => ({
      ...nodeOutputFs,
      rename: () => Promise.reject(systemError(code, 'sweep', dir)),
      unlink: () => Promise.reject(systemError(code, 'sweep', dir))
    })
    await sweepLeftOvers(failing('ENOENT'), dir)
    await t.rejects(sweepLeftOvers(failing('EACCES'), dir), { code: 'EACCES' })
  })

  t.test('exactly those go', async t => {
    const dir = t.testdir({
      [`.a.ct${dead}-${host}-00000001.tmp`]: 'left over',
      [`.a.ct${dead}-${host}-00000002.bak`]: 'old copy, the file is there',
      a: 'a',
      [`.gone.ct${dead}-${host}-00000003.bak`]: 'old copy, the file is not there',
      [`.a.ct${process.pid}-${host}-00000004.tmp`]: 'this process',
      [`.a.ct${process.ppid}-${host}-00000005.tmp`]: 'another live process',
      [`.a.ct${dead}-00000000-00000006.tmp`]: 'another host',
      [`.dir.ct${dead}-${host}-00000007.tmp`]: { inside: 'a folder of that name' },
      '.somebody.tmp': 'x',
      'b.tmp': 'x',
      training_data: { [`.b.ct${dead}-${host}-00000008.tmp`]: 'left over' },
      other: { [`.c.ct${dead}-${host}-00000009.tmp`]: 'left over', keep: 'x' }
    })
    symlinkSync('a', join(dir, `.l.ct${dead}-${host}-0000000a.tmp`))
    utimesSync(join(dir, `.a.ct${process.pid}-${host}-00000004.tmp`), 1, 1)
    const set = await OutputSet.open(dir)
    const kept = [
      `.a.ct${process.pid}-${host}-00000004.tmp`,
      `.a.ct${process.ppid}-${host}-00000005.tmp`,
      `.a.ct${dead}-00000000-00000006.tmp`,
      `.dir.ct${dead}-${host}-00000007.tmp/inside`,
      `.l.ct${dead}-${host}-0000000a.tmp`,
      '.somebody.tmp',
      'a',
      'b.tmp',
      'gone',
      'other/keep'
    ]
    t.strictSame(tree(dir), [...kept, `other/.c.ct${dead}-${host}-00000009.tmp`].sort())
    t.equal(readFileSync(join(dir, 'gone'), 'utf8'), 'old copy, the file is not there')
    await (await set.file('other/d')).end()
    await set.abort()
    t.strictSame(tree(dir), kept.sort(), 'another folder is cleaned when it is first used')
  })

  t.test('of another host: what has been silent for an hour, by the clock of the file system', async t => {
    const foreign = '00000000'
    const of = (name: string, kind = 'tmp'): string => `.${name}.ct7-${foreign}-00000000.${kind}`
    const dir = t.testdir({
      [of('silent')]: '',
      [of('alive')]: '',
      [of('future')]: '',
      [of('far')]: '',
      [of('back', 'bak')]: 'the old content',
      [of('there', 'bak')]: 'a copy',
      there: 'new'
    })
    const now = await nodeOutputFs.now(dir)
    const silentFor = (name: string, seconds: number): void => utimesSync(join(dir, name), now / 1000 - seconds, now / 1000 - seconds)
    silentFor(of('silent'), 3700)
    silentFor(of('alive'), 3500)
    silentFor(of('future'), -7200)
    silentFor(of('far'), -90_000)
    // Of a copy the content is as old as it may be: when its name came is what counts.
    silentFor(of('back', 'bak'), 86_400)
    silentFor(of('there', 'bak'), 86_400)
    await (await OutputSet.open(dir)).abort()
    t.strictSame(tree(dir), [of('alive'), of('back', 'bak'), of('future'), of('there', 'bak'), 'there'].sort())
    // The clock of this process does not matter, that of the file system does.
    await sweepLeftOvers({ ...nodeOutputFs, now: async folder => (await nodeOutputFs.now(folder)) + 3_700_000 }, dir)
    t.strictSame(contents(dir), { [of('future')]: '', back: 'the old content', there: 'new' })
    t.equal(readdirSync(dir).filter(name => name.startsWith('.critic-traces-now')).length, 0)
  })

  t.test('a run says that it lives: every temporary file is touched, whatever the clock of its host', async t => {
    const dir = t.testdir({})
    const touched: Array<readonly [string, number]> = []
    const fs = {
      ...nodeOutputFs,
      now: async () => 5_000_000_000_000,
      touch: async (path: string, time: number) => {
        touched.push([path, time])
      }
    }
    const set = await OutputSet.open(dir, { fs })
    await set.file('a')
    await set.file('wandb/b')
    await set.beat()
    t.strictSame(
      touched.map(([path, time]) => [path.replace(/\.ct\d+-[^/]*$/, '.'), time]),
      [
        [join(dir, '.a.'), 5_000_000_000_000],
        [join(dir, 'wandb/.b.'), 5_000_000_000_000]
      ]
    )
    await set.abort()

    const real = await OutputSet.open(dir)
    await real.file('c')
    const [temp = ''] = readdirSync(dir)
    utimesSync(join(dir, temp), 1, 1)
    await real.beat()
    t.ok(statSync(join(dir, temp)).mtimeMs >= (await nodeOutputFs.now(dir)) - 60_000)
    const full = { ...nodeOutputFs, now: () => Promise.reject(systemError('ENOSPC', 'no space left on device', 'mkdtemp')) }
    const other = await OutputSet.open(dir, { fs: full })
    await other.beat()
    await other.abort()
    await real.commit()
    t.strictSame(contents(dir), { c: '' })
  })

  t.test('in every folder that a run can write to, and in those of a batch', async t => {
    const left = `.x.ct${dead}-${host}-00000000.tmp`
    const folders = ['training_data', 'wandb', 'figures', 'materials', 'preview']
    const all = (): Record<string, Record<string, string>> => Object.fromEntries(folders.map(folder => [folder, { [left]: '', keep: '' }]))
    const dir = t.testdir({
      ...all(),
      [left]: '',
      snap: { [left]: '', ...all() },
      done: { 'run.json': '{}', [left]: '' },
      mine: { [left]: '' }
    })
    symlinkSync(join(dir, 'mine'), join(dir, 'link'))
    const set = await OutputSet.open(dir)
    const kept = folders.map(folder => `${folder}/keep`)
    const inSnap = ['', ...folders.map(folder => `${folder}/`)].map(folder => `snap/${folder}${left}`)
    t.strictSame(
      tree(dir),
      [...kept, ...kept.map(path => `snap/${path}`), ...inSnap, 'done/run.json', `done/${left}`, `mine/${left}`, 'link'].sort()
    )
    await set.sweepSnapshots()
    await set.abort()
    t.strictSame(
      tree(dir),
      [...kept, ...kept.map(path => `snap/${path}`), 'done/run.json', `mine/${left}`, 'link'].sort(),
      'a folder that has no outputs is not looked into'
    )
  })

  const MODULE = new URL('../src/render/outputs/output-set.js', import.meta.url).href

  /** Runs `code` (with `dir`, `OutputSet`, `nodeOutputFs`) in a process of its own until it says `ready`, then kills it. */
  async function killedRun(dir: string, code: string, whileAlive?: () => Promise<void>): Promise<void> {
    const program = `import { OutputSet, nodeOutputFs } from ${JSON.stringify(MODULE)}
      const dir = ${JSON.stringify(dir)}
      const ready = () => { process.stdout.write('ready\\n'); return new Promise(() => setInterval(() => {}, 1000)) }
      ${code}`
    const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const exited = once(child, 'exit')
    if (child.stdout === null) throw new Error('no output')
    const said = await Promise.race([once(child.stdout, 'data'), exited])
    if (String(said[0]) !== 'ready\n') throw new Error(`the child said ${String(said[0])}`)
    await whileAlive?.()
    child.kill('SIGKILL')
    await exited
  }

  t.test('killed while writing: old files intact, the next open cleans', async t => {
    const dir = t.testdir({ ...OLD, training_data: {} })
    await killedRun(
      dir,
      `
      const set = await OutputSet.open(dir)
      const a = await set.file('a.txt')
      const b = await set.file('training_data/b.bin')
      await Promise.all([a.write(new Uint8Array(3e6)), b.write(new Uint8Array(10))])
      await ready()`,
      async () => {
        t.equal(tree(dir).length, 4)
        await (await OutputSet.open(dir)).abort()
        t.equal(tree(dir).length, 4, 'while the process lives its files stay')
      }
    )
    t.equal(tree(dir).length, 4, 'two temporary files are left')
    t.match(contents(dir), BEFORE)
    await replaceThree(dir)
    t.strictSame(contents(dir), AFTER)
  })

  t.test('killed between two renames: every file whole, in the order of creation', async t => {
    const dir = t.testdir(OLD)
    await killedRun(
      dir,
      `
      let renames = 0
      const set = await OutputSet.open(dir, { fs: { ...nodeOutputFs,
        rename: (a, b) => ++renames === 2 ? ready() : nodeOutputFs.rename(a, b) } })
      await set.write('a.txt', 'new a')
      await set.write('sub/b.bin', 'new b')
      await set.commit()`
    )
    t.match(contents(dir), { 'a.txt': 'new a', 'sub/b.bin': 'old b' })
    t.equal(tree(dir).length, 5)
    await (await OutputSet.open(dir, { folders: ['sub'] })).abort()
    t.strictSame(contents(dir), { 'a.txt': 'new a', 'sub/b.bin': 'old b' })
  })

  t.test('killed while an old file is moved aside: the next open puts it back', async t => {
    const dir = t.testdir(OLD)
    await killedRun(
      dir,
      `
      const set = await OutputSet.open(dir, { fs: { ...nodeOutputFs,
        link: () => Promise.reject(Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })),
        rename: (a, b) => a.endsWith('.tmp') ? ready() : nodeOutputFs.rename(a, b) } })
      await set.write('a.txt', 'new a')
      await set.commit()`
    )
    t.notOk(existsSync(join(dir, 'a.txt')))
    await (await OutputSet.open(dir)).abort()
    t.strictSame(contents(dir), BEFORE)
  })
})

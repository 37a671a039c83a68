/** The source manifest (the tables in `fixtures/manifest`) and the inventory of snapshots that a command line names. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, renameSync, utimesSync, writeFileSync, writeSync } from 'node:fs'
import { link, mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { Fault } from '../src/core/errors.js'
import { formatSha256sum, readManifest, verifyManifest, type ManifestReport, type VerifyOptions } from '../src/study/manifest.js'
import { stepFromName } from '../src/core/file-names.js'
import { excludedNpz, findSnapshots, resolveBeside } from '../src/study/inventory.js'
import { mapLimited } from '../src/core/limited.js'
import { hashFile } from '../src/core/still-file.js'
import { snapshotNames } from '../src/core/file-names.js'
import { openDump } from '../src/ingest/dumps/formats.js'
import { sampleKeys } from '../src/schema/sample-keys.js'
import { checkStudy } from '../src/study/study.js'
import { caseOf, casesOf, type Case } from './support/cases.js'
import { npzFile, parquetFile, torchFile } from './support/dump-files.js'
import { faultsOf } from './support/run.js'
import { zip } from './support/torch-files.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const POSIX_ONLY = { skip: process.platform === 'win32' ? 'needs POSIX file names and named pipes' : false }
const COREUTILS = spawnSync('sha256sum', ['--version'], { encoding: 'utf8' })
const HAS_COREUTILS = COREUTILS.status === 0 && COREUTILS.stdout.includes('GNU coreutils')
const CHECKED_BY_COREUTILS = { skip: HAS_COREUTILS ? false : 'GNU sha256sum is not installed' }
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error: unknown = await promise.then(
    () => null,
    (e: unknown) => e
  )
  if (!(error instanceof Fault)) throw new Error(`expected a Fault, got ${String(error)}`)
  return error
}

/** Writes the files and a manifest that lists them all, then verifies. */
async function writeStudy(dir: string, files: { readonly [path: string]: string | Buffer }): Promise<string> {
  const listed: object[] = []
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), content)
    listed.push({ path, sha256: createHash('sha256').update(content).digest('hex'), bytes: Buffer.from(content).length, role: 'r' })
  }
  const manifest = join(dir, 'source_manifest.json')
  await writeFile(manifest, JSON.stringify({ snapshot: '2026-10-07', files: listed }))
  return manifest
}

async function verify(dir: string, options: VerifyOptions = {}): Promise<ManifestReport> {
  return verifyManifest(dir, await readManifest(join(dir, 'source_manifest.json')), options)
}

function statuses(report: ManifestReport): string[] {
  return report.files.map(f => `${f.status} ${f.path}${f.reason === null ? '' : ` (${f.reason})`}`)
}

/** A case of the table: its input is the manifest, `files` are the other files of the study, as texts. */
interface StudyFolder {
  readonly files: { readonly [path: string]: string }
  readonly expected: unknown
}

/** Writes the study folder of a case; returns the manifest's path. */
async function writeFolder(dir: string, { bytes, files }: Case & StudyFolder): Promise<string> {
  for (const [path, content] of Object.entries({ ...files, 'source_manifest.json': bytes })) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), content)
  }
  return join(dir, 'source_manifest.json')
}

t.test('every study folder in fixtures/manifest/valid.jsonl verifies as expected', async t => {
  const cases = casesOf<StudyFolder>('manifest/valid')
  t.ok(cases.length >= 1)
  for (const one of cases) {
    const { name, bytes, expected } = one
    const dir = t.testdir()
    const manifestPath = await writeFolder(dir, one)
    for (const concurrency of [1, 2, 16]) {
      const report = await verify(dir, { concurrency })
      t.same(report.files, expected, `${name} with ${concurrency} at once`)
      t.equal(report.manifest, manifestPath)
      t.equal(report.manifest_sha256, createHash('sha256').update(bytes).digest('hex'))
    }
  }
})

t.test('counts and verdict', async t => {
  const dir = t.testdir({ every: {}, own: {} })
  const every = await readManifest(await writeFolder(join(dir, 'every'), caseOf('manifest/valid', 'every-status')))
  const report = await verifyManifest(join(dir, 'every'), every)
  t.same(report.counts, { ok: 3, mismatch: 2, missing: 1, unlisted: 2 })
  t.equal(report.ok, false)
  const own = join(dir, 'own')
  await writeStudy(own, { a: '1', b: '' })
  t.equal((await verify(own)).ok, true)
  await writeFile(join(own, 'extra'), '')
  const withExtra = await verify(own)
  t.same([withExtra.ok, withExtra.counts.unlisted], [true, 1], 'an unlisted file alone does not fail')
  t.equal(every.snapshot, '2026-10-07T06:20:32.937056+00:00', 'verbatim')
  t.same(every.revisions, { trainer: { commit: '0123abcd' } })
})

t.test('every manifest in fixtures/manifest/invalid.jsonl is refused with its message', async t => {
  const folder = t.testdir()
  const path = join(folder, 'source_manifest.json')
  const cases = casesOf<{ readonly message: string }>('manifest/invalid')
  t.ok(cases.length >= 30)
  for (const { name, bytes, message } of cases) {
    await writeFile(path, bytes)
    const faults = await faultsOf(readManifest(path))
    t.equal(faults.map(fault => fault.message.replace(path, 'FILE')).join('\n'), message, name)
    t.ok(faults.every(fault => fault.exitCode === 3))
  }
  t.match((await faultOf(readManifest(join(folder, 'nowhere')))).message, 'manifest missing file: nothing, expected a readable JSON file')
})

t.test('the example manifest of docs/study.md reads', async t => {
  const doc = await readFile(join(ROOT, 'docs/study.md'), 'utf8')
  const example = /```json\n(\{\n {2}"snapshot"[\s\S]*?)```/.exec(doc)
  const file = join(t.testdir({}), 'm.json')
  await writeFile(file, example === null ? '' : example[1])
  t.equal((await readManifest(file)).files.length, 1, 'the example of docs/study.md reads')
})

t.test('any one changed, added or removed byte of a listed file is found', async t => {
  const dir = t.testdir({})
  const content = randomBytes(300)
  await writeStudy(dir, { data: content })
  let found = 0
  for (let i = 0; i < 300; i++) {
    const changed = Buffer.from(content)
    changed[i] ^= 1 << (i % 8)
    await writeFile(join(dir, 'data'), changed)
    const { files } = await verify(dir)
    if (files[0].status === 'mismatch' && files[0].reason === 'other content') found++
  }
  t.equal(found, 300)
  for (const other of [content.subarray(1), content.subarray(0, 299), Buffer.concat([content, Buffer.of(0)])]) {
    await writeFile(join(dir, 'data'), other)
    const { files } = await verify(dir)
    t.same(
      [files[0].status, files[0].reason, files[0].found],
      ['mismatch', `${other.length} bytes, expected 300`, { bytes: other.length, sha256: createHash('sha256').update(other).digest('hex') }]
    )
  }
})

t.test('files at and around the chunk size, hashed by coreutils', CHECKED_BY_COREUTILS, async t => {
  const dir = t.testdir({})
  for (const size of [0, 1, 1024 * 1024 - 1, 1024 * 1024, 1024 * 1024 + 1, 3 * 1024 * 1024]) {
    const path = join(dir, String(size))
    await writeFile(path, randomBytes(size))
    const expected = execFileSync('sha256sum', [path], { encoding: 'utf8' }).slice(0, 64)
    t.same(await hashFile(path), { sha256: expected, bytes: size, changed: false })
    t.same(await hashFile(path, { buffer: Buffer.alloc(65521) }), { sha256: expected, bytes: size, changed: false })
  }
})

t.test(
  'sha256sum -c accepts and refuses what verify does, with any name',
  { ...CHECKED_BY_COREUTILS, ...(POSIX_ONLY.skip === false ? {} : POSIX_ONLY) },
  async t => {
    const dir = t.testdir({})
    const names = [
      'plain',
      'with space',
      ' leading',
      'trailing ',
      'new\nline',
      '\n',
      'carriage\rreturn',
      'ends in cr\r',
      '-',
      '--check',
      '*star',
      '#hash',
      'ünï/訓練/😀',
      '\u001b[31mred',
      'tab\t',
      '\ud7ff\uffee',
      'e\u0301',
      'nl\n/inside'
    ]
    await writeStudy(dir, Object.fromEntries(names.map((name, i) => [name, `content ${i}`])))
    const check = (lines: string): { status: number | null; failed: string[] } => {
      const { status, stdout } = spawnSync('sha256sum', ['--check', '--strict', '--quiet', '-'], {
        cwd: dir,
        input: lines,
        encoding: 'utf8',
        env: { ...process.env, LC_ALL: 'C' }
      })
      return { status, failed: stdout.split('\n').filter(line => line.includes('FAILED')) }
    }
    const good = await verify(dir)
    t.equal(good.counts.ok, names.length)
    t.same(check(formatSha256sum(good)), { status: 0, failed: [] })
    t.equal(formatSha256sum(good).split('\n').length, names.length + 1, 'one line each')
    // coreutils writes the same lines, but for the file named "-".
    const theirs = execFileSync('sha256sum', ['--', ...good.files.map(f => (f.path === '-' ? './-' : f.path))], {
      cwd: dir,
      encoding: 'utf8'
    })
    t.equal(formatSha256sum(good), theirs)

    await writeFile(join(dir, 'new\nline'), 'other')
    await writeFile(join(dir, '-'), 'other')
    const bad = await verify(dir)
    t.same(bad.counts, { ok: names.length - 2, mismatch: 2, missing: 0, unlisted: 0 })
    const refused = check(formatSha256sum(bad))
    t.equal(refused.status, 1)
    t.equal(refused.failed.length, 2)

    await writeFile(join(dir, 'unlisted'), '')
    t.equal(formatSha256sum(await verify(dir)), formatSha256sum(bad), 'an unlisted file has no line')
  }
)

t.test('lines escape a backslash as coreutils does', async t => {
  const file = { role: 'r', status: 'ok', expected: { sha256: EMPTY, bytes: 0 }, found: null, reason: null } as const
  const report = {
    manifest: '',
    manifest_sha256: '',
    revisions: {},
    counts: { ok: 2, mismatch: 0, missing: 0, unlisted: 0 },
    ok: true,
    files: [
      { ...file, path: 'a\\n\n' },
      { ...file, path: '-' }
    ]
  }
  t.equal(formatSha256sum(report), `\\${EMPTY}  a\\\\n\\n\n${EMPTY}  ./-\n`)
})

t.test('links: inside they are followed, out of the study refused before anything is read', async t => {
  const dir = t.testdir({ outside: { secret: 'x' }, 'study-2': { near: 'x' }, study: {} })
  const study = join(dir, 'study')
  await writeStudy(study, { 'real/data': '1', other: '2' })
  const manifest = await readManifest(join(study, 'source_manifest.json'))
  const data = manifest.files[0]
  const list = (...paths: string[]): Promise<ManifestReport> =>
    verifyManifest(study, { ...manifest, files: [...manifest.files, ...paths.map(path => ({ ...data, path }))] })
  await symlink('real', join(study, 'folder'))
  await symlink('real/data', join(study, 'file'))
  await symlink('nowhere', join(study, 'dangling'))
  await symlink('loop', join(study, 'loop'))
  t.same(statuses(await list('folder/data', 'file', 'dangling', 'loop', 'other/below', 'x'.repeat(300))), [
    'missing dangling (no such file)',
    'ok file',
    'ok folder/data',
    'mismatch loop (cannot be read: ELOOP)',
    'ok other',
    'missing other/below (no such file)',
    'ok real/data',
    `missing ${'x'.repeat(300)} (no such file)`
  ])
  // A file that is listed under a link's name only is not unlisted under its own.
  const onlyLink = await verifyManifest(study, { ...manifest, files: [{ ...data, path: 'folder/data' }] })
  t.same(statuses(onlyLink), ['ok folder/data', 'unlisted other (not in the manifest)'])

  await symlink('../outside', join(study, 'out'))
  await symlink(join(dir, 'study-2'), join(study, 'sibling'))
  for (const path of ['out/secret', 'sibling/near']) {
    const progress: unknown[] = []
    const fault = await faultOf(
      verifyManifest(study, { ...manifest, files: [...manifest.files, { ...data, path }] }, { onProgress: p => progress.push(p) })
    )
    t.equal(
      fault.message,
      `manifest unsafe path: "${path}", a link that leads out of the study, expected a file inside the study (${manifest.path})`
    )
    t.same(progress, [])
  }
  t.same(statuses(await list()), ['ok other', 'ok real/data'], 'unlisted links are neither followed nor reported')
})

t.test('folders and special files in place of a listed file', POSIX_ONLY, async t => {
  const dir = t.testdir({ folder: {} })
  const manifest = await writeStudy(dir, { a: '' })
  execFileSync('mkfifo', [join(dir, 'pipe')])
  await symlink('pipe', join(dir, 'pipe-link'))
  const files = ['folder', 'pipe', 'pipe-link', 'a'].map(path => ({ path, sha256: EMPTY, bytes: 0, role: 'r' }))
  await writeFile(manifest, JSON.stringify({ snapshot: '2026-10-07', files }))
  t.same(statuses(await verify(dir)), [
    'ok a',
    'mismatch folder (is a folder)',
    'mismatch pipe (is a named pipe)',
    'mismatch pipe-link (is a named pipe)'
  ])
})

t.test('unlisted: hidden and temporary files count; the manifest, .git, .DS_Store and named folders do not', async t => {
  const dir = t.testdir({
    '.git': { config: '' },
    '.DS_Store': '',
    '.hidden': '1',
    'a.tmp': '22',
    deep: { '.git': { config: '' }, er: { file: '333', '.DS_Store': '' } },
    out: { figure: '' },
    'out-2': { figure: '' }
  })
  const manifest = await writeStudy(dir, { listed: 'x' })
  await link(join(dir, 'listed'), join(dir, 'hard-link'))
  const report = await verify(dir, { except: ['./out/'] })
  t.same(
    report.files.filter(f => f.status === 'unlisted').map(f => [f.path, f.found?.bytes]),
    [
      ['.hidden', 1],
      ['a.tmp', 2],
      ['deep/.git/config', 0],
      ['deep/er/file', 3],
      ['hard-link', 1],
      ['out-2/figure', 0]
    ]
  )
  // A manifest of another name, and one outside the study.
  renameSync(manifest, join(dir, 'deep/m.json'))
  const inside = await verifyManifest(dir, await readManifest(join(dir, 'deep/m.json')))
  t.notOk(inside.files.some(f => f.path === 'deep/m.json'))
  t.ok(inside.files.some(f => f.path === 'out/figure'))
})

t.test('paths are ordered by code point', async t => {
  const dir = t.testdir({})
  await writeStudy(dir, { 'a\uff5e': '', 'a\u{1f600}': '', 'a/b': '', 'a.b': '', 'a-b': '', B: '' })
  // python 3.11: sorted(['a\uff5e', 'a\U0001f600', 'a/b', 'a.b', 'a-b', 'B'])
  t.same(
    (await verify(dir)).files.map(f => f.path),
    ['B', 'a-b', 'a.b', 'a/b', 'a\uff5e', 'a\u{1f600}']
  )
})

t.test('a file that changes while it is hashed is said to have changed', async t => {
  const dir = t.testdir({})
  const path = join(dir, 'big')
  const size = 4 * 1024 * 1024
  const content = Buffer.alloc(size, 1)
  const changes: [string, string, () => void][] = [
    ['appended', 'changed while it was read', () => appendFileSync(path, 'x')],
    ['truncated', 'changed while it was read', () => writeFileSync(path, 'x')],
    [
      'replaced by the same content',
      'changed while it was read',
      () => {
        writeFileSync(`${path}.new`, content)
        renameSync(`${path}.new`, path)
      }
    ],
    [
      'overwritten in place with the old times set again',
      'changed while it was read',
      () => {
        const fd = openSync(path, 'r+')
        writeSync(fd, Buffer.of(2), 0, 1, size - 1)
        closeSync(fd)
        utimesSync(path, 1_700_000_000, 1_700_000_000)
      }
    ]
  ]
  for (const [what, reason, change] of changes) {
    await writeStudy(dir, { big: content })
    // Whole seconds, so that a change can set exactly these again; then long enough for the clock of the file system to move on.
    utimesSync(path, 1_700_000_000, 1_700_000_000)
    await new Promise(resolve => setTimeout(resolve, 30))
    let done = false
    const report = await verify(dir, {
      onProgress: ({ bytesDone }) => {
        if (done || bytesDone === 0) return
        done = true
        change()
      }
    })
    const big = report.files.find(f => f.path === 'big')
    t.same([big?.status, big?.reason], ['mismatch', reason], what)
  }
  // The file itself is untouched, but its path leads to another one now.
  await mkdir(join(dir, 'folder'))
  await writeFile(join(dir, 'folder/data'), content)
  const moved = await hashFile(join(dir, 'folder/data'), {
    onBytes: () => {
      if (existsSync(join(dir, 'moved'))) return
      renameSync(join(dir, 'folder'), join(dir, 'moved'))
      mkdirSync(join(dir, 'folder'))
      writeFileSync(join(dir, 'folder/data'), content)
    }
  })
  t.same([moved.bytes, moved.changed], [size, true])
})

t.test('removed between the plan and the reading: missing', async t => {
  const dir = t.testdir({})
  await writeStudy(dir, { a: Buffer.alloc(10), b: 'x' })
  let gone = false
  const report = await verify(dir, {
    concurrency: 1,
    onProgress: () => {
      if (!gone) renameSync(join(dir, 'b'), join(dir, 'c'))
      gone = true
    }
  })
  t.same(statuses(report), ['ok a', 'missing b (removed before it was read)'])
})

t.test('progress adds up; an abort ends the run with its reason', async t => {
  const dir = t.testdir({})
  await writeStudy(dir, Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`f${i}`, Buffer.alloc(300_000 * i)])))
  const seen: { bytesDone: number; bytesTotal: number; filesDone: number; filesTotal: number }[] = []
  await verify(dir, { onProgress: p => seen.push(p) })
  t.same(seen.at(-1), { bytesDone: 13_500_000, bytesTotal: 13_500_000, filesDone: 10, filesTotal: 10 })
  t.ok(seen.every((p, i) => i === 0 || (p.bytesDone >= seen[i - 1].bytesDone && p.filesDone >= seen[i - 1].filesDone)))

  const controller = new AbortController()
  const reason = new Fault({ format: 'run', problem: 'interrupted', exitCode: 130 })
  let calls = 0
  const aborted = verify(dir, {
    signal: controller.signal,
    onProgress: () => {
      calls++
      controller.abort(reason)
    }
  })
  t.equal(await faultOf(aborted), reason)
  const after = calls
  await new Promise(resolve => setTimeout(resolve, 50))
  t.equal(calls, after, "nothing goes on behind the caller's back")
})

t.test('mapLimited keeps order and limit, waits for what is under way, throws the earliest failure', async t => {
  let running = 0
  let most = 0
  const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
  const results = await mapLimited([5, 1, 3, 2, 4], 2, async (n, i) => {
    most = Math.max(most, ++running)
    await sleep(n)
    running--
    return n * 10 + i
  })
  t.same(results, [50, 11, 32, 23, 44])
  t.equal(most, 2)
  let begun = 0
  const failing = mapLimited([20, 1, 1, 1], 2, async (ms, i) => {
    begun++
    await sleep(ms)
    running = i
    throw new Error(`item ${i}`)
  })
  await t.rejects(failing, { message: 'item 0' })
  t.same([begun, running], [2, 0], 'the slow one was waited for, no third was begun')
  t.same(await mapLimited([], 4, async () => 1), [])
})

t.test('findSnapshots: pages, folders, NPZ folders, folders of many', async t => {
  const dir = t.testdir({
    one: { 'index.html': '', 'b.npz': '', 'a.NPZ': '', '.c.npz': '', 'x.npz.tmp': '', sub: { 'index.html': '' }, 'dir.npz': {} },
    zipped: { 'index.html.gz': '' },
    bare: { 'step_2.npz': '', 'step_10.npz': '', 'notes.txt': '' },
    many: {
      b: { critic_traces: { 'index.html': '' } },
      a: { critic_traces: { 'index.html': '' } },
      '.cache': { 'index.html': '' },
      empty: {}
    },
    page: { 'first.html': '', 'second.HTM': '', 'third.htm.gz': '', 'x.npz': '' }
  })
  const at = (path: string): string => join(dir, path)
  t.same(await findSnapshots([at('one')]), [
    {
      kind: 'html',
      folder: at('one'),
      html: at('one/index.html'),
      npzFiles: ['a.NPZ', 'b.npz'],
      dumpFiles: [],
      source: 'one/index.html',
      name: 'one'
    }
  ])
  t.same(await findSnapshots([at('bare')]), [
    {
      kind: 'npz-folder',
      folder: at('bare'),
      html: null,
      npzFiles: ['step_10.npz', 'step_2.npz'],
      dumpFiles: [],
      source: 'bare',
      name: 'bare'
    }
  ])
  t.same(
    (await findSnapshots([at('many')])).map(p => [p.html, p.name]),
    [
      [at('many/a/critic_traces/index.html'), 'a--critic_traces'],
      [at('many/b/critic_traces/index.html'), 'b--critic_traces']
    ]
  )
  t.same(
    (await findSnapshots([at('zipped'), at('page/third.htm.gz'), at('page/first.html'), at('page/second.HTM')])).map(p => p.name),
    ['zipped', 'third', 'first', 'second'],
    'in the order of the paths'
  )
  const single = join(dir, 'alone')
  await mkdir(single)
  await writeFile(join(single, 'first.html'), '')
  t.same((await faultOf(findSnapshots([single]))).message.split(',')[0], 'snapshot not found: a folder without any')

  // The same snapshot named twice, in other words and by a link.
  await symlink('one', at('alias'))
  t.same(
    (await findSnapshots([at('one/index.html'), at('one'), at('alias'), join(at('alias'), 'index.html')])).map(p => p.html),
    [at('one/index.html')]
  )
  t.same(
    (await findSnapshots([at('alias'), at('one')])).map(p => [p.html, p.name]),
    [[at('alias/index.html'), 'one']],
    'the first spelling stays'
  )
  // A search does not follow links to folders.
  await symlink('../one', at('many/link'))
  t.equal((await findSnapshots([at('many')])).length, 2)
})

t.test('findSnapshots: a path that leads to nothing is a Fault; the rest goes on', POSIX_ONLY, async t => {
  const dir = t.testdir({
    both: { 'index.html': '', 'index.html.gz': '' },
    unclear: { 'trace.html': '', 'a.npz': '' },
    empty: { deeper: {} },
    'file.txt': '',
    'a.npz': '',
    good: { 'index.html': '' },
    mixed: { bad: { 'index.html': '', 'index.html.gz': '' }, good: { 'index.html': '' } },
    folderpage: { 'index.html': {} },
    dangling: {}
  })
  const at = (path: string): string => join(dir, path)
  execFileSync('mkfifo', [at('pipe.html')])
  await symlink('nowhere', at('dangling/index.html'))
  const expected = "expected an HTML page, a trainer's dump, a folder with index.html, dumps or NPZ files, or a folder of such folders"
  const cases: [path: string, problem: string, place?: string, expected?: string][] = [
    ['nowhere', 'not found: ENOENT no such file or directory'],
    ['empty', 'not found: a folder without any'],
    ['folderpage', 'not found: a folder without any'],
    ['file.txt', 'not recognised: "file.txt"'],
    ['pipe.html', 'wrong kind of file: a named pipe'],
    ['both', 'stated twice: index.html and index.html.gz', 'both', 'expected one of them, or the page itself as the path'],
    [
      'unclear',
      'unclear page: NPZ files beside trace.html, none named index.html',
      'unclear',
      'expected the page itself as the path, or a page named index.html'
    ],
    ['dangling', 'unreadable path: ENOENT no such file or directory', 'dangling/index.html'],
    ['file.txt/x.html', 'unreadable path: ENOTDIR not a directory']
  ]
  for (const [path, problem, place = path, wanted = expected] of cases) {
    const fault = await faultOf(findSnapshots([at('good'), at(path)]))
    t.equal(fault.message, `snapshot ${problem}, ${wanted} (${at(place)})`)
    t.equal(fault.exitCode, 3)
    const faults: Fault[] = []
    const plans = await findSnapshots([at(path), at('good')], f => faults.push(f))
    t.same([plans.map(p => p.name), faults.map(f => f.message)], [['good'], [fault.message]])
  }
  const faults: Fault[] = []
  t.same(
    (await findSnapshots([at('mixed')], f => faults.push(f))).map(p => p.html),
    [at('mixed/good/index.html')]
  )
  t.equal(faults.length, 1)
  // A named NPZ file is one trace.
  t.same(
    (await findSnapshots([at('a.npz')])).map(p => [p.kind, p.folder, p.npzFiles]),
    [['npz-folder', dir, ['a.npz']]]
  )
  // Each of the two, named, is a snapshot of its own.
  const two = await findSnapshots([at('both/index.html'), at('both/index.html.gz')])
  t.equal(two.length, 2)
  t.ok(two.every(p => /^both-[0-9a-f]{8}$/.test(p.name)) && two[0].name !== two[1].name)
})

t.test('findSnapshots: a damaged dump is never passed over', async t => {
  const dump = await npzFile({
    values: { dtype: 'float32', shape: [1, 2], data: [1, 2] },
    returns: { dtype: 'float32', shape: [1, 2], data: [1, 2] }
  })
  const torch = torchFile({ samples: [{ values: { dtype: 'float32', shape: [2], data: [1, 2] } }] })
  const parquet = parquetFile([{ values: [1, 2] }], { values: 'FLOAT' })
  const half = (bytes: Uint8Array): Buffer => Buffer.from(bytes.subarray(0, bytes.length >> 1))
  const damaged: readonly (readonly [name: string, bytes: Buffer, message: RegExp])[] = [
    ['1.pt', half(torch), /^zip truncated: no end of central directory/],
    ['1.pt', Buffer.alloc(0), /^torch truncated: 0 bytes/],
    ['1.bin', half(torch), /^zip truncated/],
    ['1.pth', Buffer.from('8002', 'hex'), /^torch not recognised: bytes 8002/],
    ['1.pt', Buffer.from(zip([['a/b', Buffer.from('x')]])), /^torch not recognised: a ZIP archive without a pickle/],
    ['1.npz', half(dump), /^zip truncated/],
    ['1.npz', Buffer.alloc(0), /^npz truncated: 0 bytes/],
    ['1.parquet', half(parquet), /^parquet /],
    ['1', half(parquet), /^parquet /],
    ['1', Buffer.from('\x40\0\0\0\0\0\0\0{"values":'), /^safetensors impossible header length: 64 bytes/],
    ['1.safetensors', Buffer.from('abc'), /^safetensors not recognised/],
    ['1.jsonl', Buffer.from('{"step": 1, "val'), /^jsonl malformed: a first line that is no JSON/],
    ['1.jsonl', Buffer.alloc(0), /^jsonl truncated: 0 bytes/]
  ]
  for (const [name, bytes, message] of damaged) {
    const dir = t.testdir({ '0.npz': Buffer.from(dump), [name]: bytes, 'README.txt': 'x', 'log.jsonl': '{"loss": 1}\n' })
    const [plan] = await findSnapshots([dir])
    t.same([plan.kind, plan.dumpFiles, plan.passedOver], ['dump', ['0.npz', name], 2], name)
    const opened = openDump(plan.folder, plan.dumpFiles, { keys: sampleKeys(), skipBad: false })
    t.match((await faultOf(opened)).message, message)
    if (!name.endsWith('.npz')) {
      t.match((await faultOf(findSnapshots([join(dir, name)]))).message, message, `${name}, given alone`)
      const alone = t.testdir({ [name]: bytes })
      t.match((await faultOf(findSnapshots([alone]))).message, message, `${name}, alone in a folder`)
    }
  }
  const dir = t.testdir({ '0.npz': Buffer.from(dump), 'README.txt': 'x', '.hidden.pt': '' })
  const [plan] = await findSnapshots([dir])
  t.same([plan.dumpFiles, plan.passedOver], [['0.npz'], 1])
  const read = await openDump(plan.folder, plan.dumpFiles, { keys: sampleKeys(), skipBad: false, passedOver: plan.passedOver })
  t.ok(read.facts.notes.includes('1 other file in the folder is passed over'))
  await read.close()
})

t.test('output names: unique without regard to case, in any order, safe everywhere', async t => {
  const names = (...paths: string[]): string[] => snapshotNames(paths.map(p => ({ real: p, segments: p.split('/').filter(s => s !== '') })))
  t.same(names('/r/a/ct', '/r/b/ct', '/r/c'), ['a--ct', 'b--ct', 'c'])
  t.same(names('/r/b/ct', '/r/c', '/r/a/ct'), ['b--ct', 'c', 'a--ct'], 'a name does not depend on the order')
  t.same(names('/x/a/ct', '/y/a/ct'), ['x--a--ct', 'y--a--ct'])
  t.same(names('/ct', '/a/ct'), ['ct', 'a--ct'], 'a path without parents keeps its name')
  t.same(names('/r/CT', '/s/ct'), ['r--CT', 's--ct'], 'folders of macOS and Windows do not tell case')
  t.same(names('/r/é', '/s/e\u0301'), ['r--é', 's--é'], 'nor do they tell Unicode forms')
  t.same(names('/'), ['snapshot'])
  t.same(names('/..hidden..', '/a b:c*?"<>|\u001b', '/-rf', '/訓練 ١', '/nul', '/COM1.x', '/con-x'), [
    'hidden',
    'a-b-c',
    'rf',
    '訓練-١',
    'snapshot-nul',
    'snapshot-COM1.x',
    'con-x'
  ])
  const wrong: string[] = []
  for (let point = 0; point < 0x3000; point++) {
    const segment = `a${String.fromCodePoint(point)}b`
    const [name] = snapshotNames([{ real: '/', segments: [segment] }])
    if (name !== segment.normalize('NFC').replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')) wrong.push(segment)
  }
  t.same(wrong, [], 'letters, marks and digits are those of Unicode')
  // Paths that no number of parents tells apart once they are safe.
  const hashed = names('/r/a b', '/r/a?b', '/r/a-b')
  t.equal(new Set(hashed).size, 3)
  t.ok(hashed.every(n => /^a-b-[0-9a-f]{8}$/.test(n)))
  t.same(names('/r/a-b', '/r/a?b', '/r/a b'), [...hashed].reverse())
  // A folder that bears the hashed name of another.
  const hostile = names('/r/a b', '/r/a?b', `/r/${hashed[0]}`)
  t.equal(new Set(hostile).size, 3)
  const long = names(`/${'訓'.repeat(200)}`, `/${'訓'.repeat(199)}練`, `/x/${'😀a'.repeat(100)}`)
  t.ok(long.every(n => Buffer.byteLength(n) <= 120) && new Set(long).size === 3)
  t.ok(names(...Array.from({ length: 2000 }, (_, i) => `/runs/${i}/critic_traces`)).includes('1999--critic_traces'))
})

t.test('stepFromName', async t => {
  const cases: [string, number | null][] = [
    ['step_132_success.npz', 132],
    ['trace-step132.npz', 132],
    ['global_step=000132.npz', 132],
    ['STEP-7', 7],
    ['step 12 of 20', 12],
    ['a_step_1_step_2', 1],
    ['step_0.npz', 0],
    ['132.npz', null],
    ['steps_132', null],
    ['step_x132', null],
    ['step', null],
    ['', null],
    ['step_999999999999999', 999999999999999],
    ['step_9999999999999999', null],
    ['steps_3/step_4.npz', 4],
    ['step_5/x.npz', null],
    ['timestep12', 12]
  ]
  for (const [name, step] of cases) t.equal(stepFromName(name), step, name)
  t.equal(stepFromName('\u017ftep é7, step→٣12'), null, 'a long s is an s; a letter or digit of any script is none between')
  t.equal(stepFromName('schritt…\u017ftep→132'), 132)
  const wrong: string[] = []
  for (let point = 0; point < 0x3000; point++) {
    const c = String.fromCodePoint(point)
    for (const name of [`step${c}7`, `${c}tep7`, `STEP_${c}_7${c}`]) {
      const match = /step[^\p{L}\p{N}]*(\d{1,15})(?!\d)/iu.exec(basename(name))
      if (stepFromName(name) !== (match === null ? null : Number(match[1]))) wrong.push(name)
    }
  }
  t.same(wrong, [], 'any character is what Unicode says that it is')
  const plan = { kind: 'html', folder: '.', html: 'index.html', npzFiles: ['step_131.npz', 'step_132.npz', 'x.npz'], name: 'n' } as const
  t.same(excludedNpz(plan, new Set(['./step_131.npz'])), [
    { path: 'step_132.npz', step: 132 },
    { path: 'x.npz', step: null }
  ])
})

t.test('resolveBeside: the npz field never leaves the folder', POSIX_ONLY, async t => {
  const dir = t.testdir({
    outside: { 'secret.npz': '' },
    folder: { 'a.npz': '', sub: { 'b.npz': '' }, 'é 訓.npz': '' },
    'folder-2': { 'c.npz': '' }
  })
  const folder = join(dir, 'folder')
  const real = await realpath(folder)
  t.equal(resolveBeside(folder, 'a.npz'), join(real, 'a.npz'))
  t.equal(resolveBeside(folder, './sub/b.npz'), join(real, 'sub/b.npz'))
  t.equal(resolveBeside(folder, 'é 訓.npz'), join(real, 'é 訓.npz'))
  await symlink('sub/b.npz', join(folder, 'inner.npz'))
  t.equal(resolveBeside(folder, 'inner.npz'), join(real, 'sub/b.npz'), 'links are resolved')
  await symlink('../outside/secret.npz', join(folder, 'outer.npz'))
  await symlink('../outside', join(folder, 'outdir'))
  await symlink('nowhere', join(folder, 'dangling.npz'))
  await symlink('loop.npz', join(folder, 'loop.npz'))
  execFileSync('mkfifo', [join(folder, 'pipe.npz')])

  await symlink('folder', join(dir, 'linked'))
  t.equal(await realpath(resolveBeside(join(dir, 'linked'), 'a.npz')), join(real, 'a.npz'), 'a link may lead to the folder')
  t.match((await faultOf((async () => resolveBeside(join(dir, 'linked'), 'outer.npz'))())).message, 'a link that leads out of the folder')

  const unsafe = [
    '../outside/secret.npz',
    '..',
    'sub/../a.npz',
    '/etc/passwd',
    join(folder, 'a.npz'),
    '..\\secret.npz',
    'sub\\b.npz',
    'C:a.npz',
    'a.npz\0',
    '',
    'a\ud800.npz',
    '../folder-2/c.npz',
    'x'.repeat(5000)
  ]
  for (const name of unsafe) {
    const fault = await faultOf((async () => resolveBeside(folder, name))())
    t.match(fault.message, 'snapshot unsafe npz path: ')
    t.match(fault.message, ', expected the name of a file beside the page')
    t.notMatch(fault.message, /[\u0000-\u001f]/)
    t.equal(fault.exitCode, 3)
  }
  const others: [string, string][] = [
    ['outer.npz', 'unsafe npz path: "outer.npz", a link that leads out of the folder'],
    ['outdir/secret.npz', 'unsafe npz path: "outdir/secret.npz", a link that leads out of the folder'],
    ['none.npz', 'missing npz: "none.npz"'],
    ['dangling.npz', 'missing npz: "dangling.npz"'],
    ['a.npz/b', 'missing npz: "a.npz/b"'],
    ['loop.npz', 'unreadable npz: "loop.npz" (ELOOP)'],
    ['sub', 'unreadable npz: "sub", a folder'],
    ['.', 'unreadable npz: ".", a folder'],
    ['pipe.npz', 'unreadable npz: "pipe.npz", a named pipe']
  ]
  for (const [name, message] of others) {
    t.equal(
      (await faultOf((async () => resolveBeside(folder, name))())).message,
      `snapshot ${message}, expected the name of a file beside the page`
    )
  }
  t.match((await faultOf((async () => resolveBeside(join(dir, 'gone'), 'a.npz'))())).message, 'snapshot unreadable folder: ENOENT')
  const placed = (await faultOf((async () => resolveBeside(folder, '..'))())).at({ file: 'index.html', trace: 3 })
  t.match(placed.message, '(index.html, trace 3)', 'the caller adds the place')
})

t.test('a study whose snapshot is a page or a folder leads to a plan', async t => {
  const dir = t.testdir({ snap: { 'index.html': '', 'step_1.npz': '' } })
  for (const snapshot of ['snap', 'snap/index.html', './snap/']) {
    const study = checkStudy({ schema_version: 1, name: 'n', critic_traces: { snapshot } }, { format: 'study', place: {}, paths: [] })
    const [plan] = await findSnapshots([join(dir, study.critic_traces?.snapshot ?? '')])
    t.same([plan.html, plan.npzFiles], [join(dir, 'snap/index.html'), ['step_1.npz']])
  }
})

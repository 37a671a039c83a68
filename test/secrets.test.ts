/**
 * No secret leaves: canaries under a hundred names and in fifty-four shapes, planted in every kind of input that is no text of a
 * trace, and looked for in every byte of the outputs, in standard output and in messages.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parquetWriteBuffer } from 'hyparquet-writer'
import t from 'tap'
import { Random } from '../src/replica/random.js'
import { main } from '../src/cli/cli.js'
import { cellValue } from '../src/compute/evidence/cell-values.js'
import { TextSearch } from '../src/compute/evidence/match.js'
import { slideValue } from '../src/compute/evidence/slide-values.js'
import { Fault, isRefusal, printable, printableId } from '../src/core/errors.js'
import { checkClaims } from '../src/study/claims.js'
import { checkRuns } from '../src/ingest/histories/runs.js'
import { readManifest } from '../src/study/manifest.js'
import { encodeNpyText } from '../src/ingest/npz/write.js'
import { checkStudy } from '../src/study/study.js'
import { CERTIFICATE_KIND } from '../src/ingest/certificate/fields.js'
import { RowExporter } from '../src/ingest/certificate/row.js'
import { BATCH_INDEX } from '../src/render/outputs/output-names.js'
import { jsonText } from '../src/render/outputs/json-text.js'
import { refuseSecrets } from '../src/core/secret-guard.js'
import { isIdentityName, isSecretName, isSecretText, isSecretValue, withoutSecrets } from '../src/core/secrets.js'
import { ALL, NAMES, SHAPES, shownBelow, shownIn, UNDER_NAMES } from './support/canaries.js'
import { caseOf } from './support/cases.js'
import { dataset, EVIDENCE, workbook, writeEvidenceStudy } from './support/evidence-folder.js'
import { STUDY as HISTORIES, RUNS, writeManifest } from './support/history-folder.js'
import { deck, pack, shape, slide } from './support/office-files.js'
import { strFromU8, strToU8, unzipSync } from 'fflate'
import { randomTraces, writeSnapshot } from './support/snapshot.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-secrets-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

const named = (): { [name: string]: Json } => Object.fromEntries(NAMES.map((name, i) => [name, UNDER_NAMES[i].text]))
const shaped = (): { [name: string]: Json } => Object.fromEntries(SHAPES.map(({ text }, i) => [`setting${i}`, text]))
/** All of them, at three depths. */
const nested = (): Json => ({
  ...named(),
  ...shaped(),
  inner: { ...named(), deeper: [{ ...named(), ...shaped() }, Object.values(shaped())] }
})

interface Said {
  readonly code: number
  readonly text: string
}

/** The command line in this process. */
async function run(...argv: readonly string[]): Promise<Said> {
  let text = ''
  const stream = {
    write: (part: string) => {
      text += part
      return true
    }
  }
  const io = { stdout: stream, stderr: stream, env: {}, now: () => performance.now(), signal: new AbortController().signal }
  return { code: await main(argv, io), text }
}

/** The message of the fault that is thrown, or what came out. */
function message(work: () => unknown): string {
  try {
    return JSON.stringify(work()) ?? ''
  } catch (error) {
    if (!isRefusal(error)) throw error
    return `Fault ${error.message} ${JSON.stringify(error instanceof Fault ? (error.serialize().cause ?? '') : '')}`
  }
}

t.test('fifty-four shapes and a hundred names are known, and withheld from messages', t => {
  t.equal(SHAPES.length, 54)
  t.ok(NAMES.length >= 100, String(NAMES.length))
  for (const name of NAMES) t.ok(isSecretName(name), name)
  for (const { what, text } of SHAPES) {
    for (const around of [text, `see ${text}`, `"${text}"`, `x\n${text}\ny`, JSON.stringify(text), JSON.stringify({ a: text })]) {
      t.ok(isSecretText(around), what)
      t.ok(isSecretValue(around), what)
      for (const max of [8, 40, 120, 400]) t.same(shownIn(printable(around, max)), [], `${what}, ${max}`)
    }
    for (const at of [0, 60, 110, 119, 500]) t.same(shownIn(printable(`${'. '.repeat(at / 2)}${text}`)), [], `${what} behind ${at}`)
    const fault = new Fault({
      format: 'x',
      problem: 'y',
      found: printable(text),
      place: { file: printable(text), member: text, uid: `u ${text}` }
    })
    if (what !== 'W&B, forty digits') t.same(shownIn(fault.message), [], what)
  }
  t.end()
})

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const HONEST_NAMES = [
  'sk-step-by-step-reasoning-v2',
  'val/sk-step-by-step-reasoning-v2/acc',
  'hf_rolloutcheckpointfinal',
  'hf_RolloutCheckpointFinal',
  'task-sk-something-long-name-here',
  'sk-learn-random-forest-baseline',
  'swe:django@v2.1/rollout_3',
  'mix:swe2024@eval',
  'secret_santa_task_with_many_words_v3',
  'xai-grok-step-by-step-reasoning',
  'sk-math-7b-r1-v2-lr1e6-bs256-n8'
]

t.test('what is no secret stays', t => {
  const forty = '0123456789abcdef01234'.repeat(2).slice(1, 41)
  for (const text of [
    `commit ${forty}`,
    `models/x/snapshots/${forty}/config.json`,
    'a'.repeat(64),
    'max_tokens=4096',
    'pass@1: 0.62',
    'keyboard: qwerty',
    "key: the metric's key",
    'metric key=critic/score/mean',
    'django__django-11099',
    'val-core/unknown/reward/mean@1',
    'image:tag@sha256:abcdef',
    'git@github.com:org/repo.git',
    'joe@example.org',
    'https://wandb.example/e/p/runs/abcd1234',
    'timing_per_token_ms/gen',
    'GAE_WHITEN_ADVANTAGES=True',
    'password: required',
    'export HF_TOKEN=$HF_TOKEN',
    '2026-09-25T06:20:32.937056+00:00',
    'Basic understanding of reinforcement-learning',
    '"key": "GAE_WHITEN_ADVANTAGES"'
  ]) {
    t.notOk(isSecretText(text), text)
    t.equal(withoutSecrets(text), text)
  }
  for (const name of ['uid', 'run', 'run_id', 'sha256', 'revisions.verl', 'commit']) t.notOk(isSecretValue(forty, name), name)
  for (const name of ['', 'title', 'api_key', 'note']) t.ok(isSecretValue(forty, name), name)
  for (const text of [
    ...HONEST_NAMES,
    `verl @ ${forty}`,
    `verl at ${forty}`,
    `verl (${forty})`,
    `parquet-mr version 1.8.1 (build ${forty})`,
    `git checkout ${forty}`,
    `git reset --hard ${forty}`,
    `HEAD is now at ${forty}`,
    `${forty}\trefs/heads/main`,
    `| verl | ${forty} |`,
    `verl \`${forty}\``,
    '1234567890'.repeat(4),
    'Token throughput-per-second-2024',
    'Basic configuration2024',
    'https://x.example/y?key=step',
    'https://x.example/?token=all',
    'https://x.example/y?code=python',
    base64('swe-bench:django__django-11001'),
    base64('task:12345'),
    base64('math:algebra:00012'),
    'mailto:joe99@example.org',
    'arXiv:2402.03300@v1/x',
    '中文标题：训练曲线（密钥无）',
    'docker run -u 1000:1000 image',
    'https://x.example/a%20b?c=d%3De',
    'https://joe@example.org/x'
  ])
    t.notOk(isSecretText(text, 'note'), text)
  for (const text of [
    '密码：pw',
    '口令：pw',
    '密钥：pw',
    'curl -u user:pw https://x',
    'user:pw@db.example.com',
    'admin:pw@localhost',
    'Bearer c4n-do-not-copy-me',
    `key (${forty})`,
    `| W&B key | ${forty} |`,
    `login \`${forty}\``,
    `wandb login ${forty}`
  ])
    t.ok(isSecretText(text), text)
  for (const name of ['uid', 'id', 'display_name', 'label', 'name', 'key', 'path', 'source']) {
    for (const text of [
      ...HONEST_NAMES,
      `eval_${forty}`,
      `sao-${forty}`,
      `verl ${forty}`,
      'env:gsm8k@test/1',
      'env:aime2024@test/1',
      `dump-${forty}`,
      `step_${forty}.npz`,
      base64(`rollout:${SHAPES[0].needle}`)
    ])
      t.notOk(isSecretText(text, name), `${name}: ${text}`)
    for (const { what, text } of SHAPES) if (what !== 'W&B, forty digits') t.ok(isSecretText(text, name), `${name}: ${what}`)
  }
  for (const name of [
    'data.prompt_key',
    'reward_fn_key',
    'num_key_value_heads',
    'eos_token_id',
    'pad_token',
    'token_level_loss',
    'token_type_ids',
    'critic/token_entropy',
    'response_length/token_mean',
    'session_id'
  ])
    t.notOk(isSecretName(name), name)
  for (const name of ['prompt_api_key', 'reward_secret_key', 'HF_TOKEN_COUNT', 'access_token_type']) t.ok(isSecretName(name), name)
  t.equal(printableId(forty), forty)
  t.equal(new Fault({ format: 'x', problem: 'y', place: { uid: forty } }).message, `x y (uid ${forty})`)
  for (const name of ['max_tokens', 'high_tokens', 'through_tokens', 'success_tokens', 'pin_memory', 'val/pass@1', 'n_keys'])
    t.notOk(isSecretName(name), name)
  t.end()
})

t.test('the filter takes linear time', t => {
  // No clock: of two million characters quadratic time is hours, which the runner ends.
  for (const piece of [
    'a',
    'eyJ-',
    '$',
    '--a',
    'x://',
    ' ',
    '-----BEGIN PRIVATE KEY-----',
    'key="',
    'a:b@',
    'machine a ',
    'a.',
    'hf_',
    '--key ',
    'token: ',
    '\\',
    'key\\"',
    'key=`',
    'AAAA/',
    '0',
    'curl ',
    'a%3A',
    '%',
    '密码：',
    '密',
    'bearer ',
    'sk-',
    'root:',
    'https:/',
    'a@',
    '?key=',
    'authorization: bearer ',
    '`',
    'aB3dE5gH',
    "['a']"
  ]) {
    isSecretValue(piece.repeat((2 * 1024 * 1024) / piece.length))
  }
  t.pass('read to its end')
  t.end()
})

/** Every place of a JSON value, as the value with that place changed. */
function* places(value: Json, change: (inner: Json, at: string) => Json | undefined, at = ''): Generator<Json> {
  const changed = change(value, at)
  if (changed !== undefined) yield changed
  if (Array.isArray(value)) {
    for (const [i, inner] of value.entries()) for (const other of places(inner, change, `${at}[${i}]`)) yield value.with(i, other)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value))
      for (const other of places(inner, change, `${at}.${name}`)) yield { ...value, [name]: other }
  }
}

const context = (format: string) => ({ format, place: { file: 'f.json' }, paths: [] })
const json = (table: string, name: string): Json => JSON.parse(Buffer.from(caseOf(table, name).bytes).toString()) as Json
const study = { ...HISTORIES, evidence: EVIDENCE, fetch: (json('study/valid', 'fetch') as { fetch: Json }).fetch } as unknown as Json
const list: Json = [
  {
    id: 'r',
    displayName: 'target',
    createdAt: '2026-01-01T00:00:00Z',
    label: 'l',
    entity: 'e',
    project: 'p',
    state: 's',
    url: 'u',
    fetchedAt: 'f',
    config: { lr: 1, a: { b: ['x'] } }
  }
]
const certificate: Json = {
  schema: 'history-certificate',
  schema_version: 1,
  synthetic: false,
  server: 'https://wandb.example',
  run: { id: 'r', entity: 'e', project: 'p', display_name: 'd', label: 'l', created_at: '2026-01-01T00:00:00Z', state: 's' },
  fetched_at: '2026-01-01T00:00:00Z',
  snapshot: { last_step: 1, history_line_count: 2, heartbeat_at: 'h', growing: false },
  requests: { steps: 100, samples: 1000, intervals: [{ from: 0, to: 1, rows: 2 }], reordered: 0 },
  left_out: { texts: 0, flags: 0, objects: 0, lists: 0 },
  history: { path: 'wandb/history/l/r.jsonl', bytes: 1, sha256: 'a'.repeat(64) },
  steps: { rows: 2, first_step: 0, last_step: 1, holes: [], repeated: [] },
  checks: [{ name: 'order', status: 'passed', detail: 'd' }],
  complete: true
}

t.test(
  'a field that looks like a secret is refused by name, wherever it stands; where something else is expected it is not repeated',
  async t => {
    const manifestOf = (value: Json): string => {
      const path = join(work, 'manifest.json')
      writeFileSync(path, JSON.stringify(value))
      return path
    }
    const manifest: Json = {
      snapshot: '2026-01-01',
      files: [{ path: 'a/b.json', sha256: 'a'.repeat(64), bytes: 1, role: 'input' }],
      revisions: { verl: 'main', more: { x: ['y'] } }
    }
    const kinds: ReadonlyArray<readonly [string, Json, (value: Json) => unknown]> = [
      ['study', study, value => checkStudy(value, context('study'))],
      ['claims', json('claims/valid', 'every-form'), value => checkClaims(value, context('claims'))],
      ['runs', list, value => checkRuns(value, 1, 'runs.json').map(({ config: _allowlisted, ...rest }) => rest)],
      ['certificate', certificate, value => CERTIFICATE_KIND.read(value, '', context('certificate'))]
    ]
    let tried = 0
    let n = 0
    /** Forty digits in a field of ids or hashes are no key. */
    const next = (at: string): string => {
      const { what, text } = SHAPES[n++ % SHAPES.length]
      return what === 'W&B, forty digits' && isIdentityName(at) ? SHAPES[0].text : text
    }
    const leaks: string[] = []
    const judge = (kind: string, said: string): void => {
      tried++
      const shown = shownIn(said)
      if (shown.length > 0) leaks.push(`${kind}: ${shown.join()} ${said.slice(0, 300)}`)
    }
    for (const [kind, value, read] of kinds) {
      const plain = message(() => read(value))
      if (kind !== 'study') t.notMatch(plain, /^Fault/, `${kind} is read without canaries: ${plain.slice(0, 300)}`)
      for (let turn = 0; turn < 3; turn++) {
        n = turn * 7
        for (const changed of places(value, (inner, at) => (typeof inner === 'object' && inner !== null ? undefined : next(at))))
          judge(
            kind,
            message(() => read(changed))
          )
      }
      n = 0
      for (const changed of places(value, inner =>
        typeof inner === 'object' && inner !== null && !Array.isArray(inner)
          ? { ...inner, [SHAPES[n++ % SHAPES.length].text]: 1 }
          : undefined
      )) {
        judge(
          kind,
          message(() => read(changed))
        )
      }
    }
    for (const changed of places(manifest, (inner, at) => (typeof inner === 'object' && inner !== null ? undefined : next(at)))) {
      judge(
        'manifest',
        await readManifest(manifestOf(changed)).then(
          () => '',
          (error: unknown) => (error as Error).message
        )
      )
    }
    t.same(leaks, [])
    t.ok(tried > 1000, `${tried} documents`)
    const title = SHAPES[0].text
    t.equal(
      message(() => checkStudy({ ...HISTORIES, name: `of ${title}` }, context('study'))).replace(/ ""$/, ''),
      'Fault study secret refused: name holds what looks like a secret, expected a text without one (f.json)'
    )
    t.strictSame(
      checkRuns([{ ...((list as Json[])[0] as object), url: SHAPES[19].text, state: title }], 1, 'r').map(({ url, state, leftOut }) => [
        url,
        state,
        leftOut
      ]),
      [[null, null, { unnamed: 0, withheld: 2 }]]
    )
  }
)

t.test('a cell, a slide, a row, a document and an output that hold one are refused by name', t => {
  const request = {
    name: 'v',
    as: 'text',
    pattern: null,
    multiply: 1,
    unit: '',
    title: 'T',
    published: true,
    excluded: null,
    labels: []
  } as const
  const file = { path: 'f', sha256: 'a', bytes: 1 }
  for (const { what, text } of SHAPES) {
    for (const as of ['text', 'number'] as const) {
      const cell = { ref: 'A1', kind: 'text', value: text, covered: false }
      const sheet = { cells: new Map([['A1', cell]]) } as unknown as Parameters<typeof cellValue>[2]
      const said = [
        message(() => cellValue({ ...request, as, sheet: 'S', cell: 'A1' }, 'at', sheet, file, new TextSearch())),
        message(() =>
          slideValue(
            { ...request, as, slide: 1, table: { index: 1, row: 1, column: 1 } },
            'at',
            {
              slides: [{ texts: [], tables: [{ rows: [[text]], spans: [] }] }]
            } as unknown as Parameters<typeof slideValue>[2],
            [],
            file,
            new TextSearch()
          )
        )
      ]
      for (const line of said) {
        t.match(line, /^Fault .*what looks like a secret/, what)
        t.same(shownIn(line), [], what)
      }
    }
    const others = [
      message(() => new RowExporter({ texts: 0, flags: 0, objects: 0, lists: 0 }).read(JSON.stringify({ _step: 1, [text]: 2 }))),
      message(() => refuseSecrets(`one\n\n${text}\nthree`, 'template', { file: 'a.md' })),
      message(() => refuseSecrets(`${'words and words\n'.repeat(20_000)}${text}`, 'template', { file: 'a.md' })),
      message(() => jsonText({ a: [{ b: text }] })),
      message(() => jsonText({ a: { [text]: 1 } }))
    ]
    // Forty digits are a name of a member, as a uid or a run id may be.
    for (const line of what === 'W&B, forty digits' ? others.slice(0, -1) : others) {
      t.match(line, /^Fault .*secret/, what)
      t.same(shownIn(line), [], what)
    }
  }
  t.match(
    message(() => refuseSecrets(`one\n\n${SHAPES[0].text}`, 'template', { file: 'a.md' })),
    'Fault template secret refused: the file holds what looks like a secret, expected a text without one (a.md, line 3)'
  )
  t.end()
})

/** A folder in which everything that no study names holds canaries, and whose allowlists name secrets under harmless names. */
async function plantedStudy(dir: string): Promise<void> {
  const settings = SHAPES.map((_, i) => ({ name: `s${i}`, key: `setting${i}`, title: 'A setting.' }))
  const secrets = NAMES.map((name, i) => ({ name: `n${i}`, key: name, title: 'A setting.' }))
  const evidence = {
    ...EVIDENCE,
    configs: [
      ...EVIDENCE.configs,
      { name: 'planted', path: 'configs/planted.json', values: [...settings, ...secrets].map(v => ({ ...v, name: `j.${v.name}` })) },
      { name: 'env', path: 'configs/planted.env', values: settings.map(v => ({ ...v, name: `e.${v.name}` })) }
    ],
    datasets: [...EVIDENCE.datasets, { name: 'planted', path: 'data/planted.parquet', title: 'Planted.' }]
  }
  writeEvidenceStudy(dir, evidence)
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  const everything = ALL.map(({ what, text }) => `${what} ${text}`)
  const allowed = ['lr', 'nested', ...settings.map(({ key }) => key)]
  write(
    'study.json',
    JSON.stringify({
      ...HISTORIES,
      '// note': everything,
      histories: { ...HISTORIES.histories, config: allowed },
      evidence,
      critic_traces: { snapshot: 'snap' }
    })
  )
  write(
    'wandb/runs.json',
    JSON.stringify(
      RUNS.map(({ id, displayName, createdAt }, i) => ({
        id,
        displayName,
        createdAt,
        entity: 'e',
        project: 'p',
        state: SHAPES[i].text,
        url: SHAPES[19].text,
        fetchedAt: SHAPES[i + 5].text,
        label: 'runs',
        config: { lr: 1e-6, nested: nested(), ...named(), ...shaped() },
        more: nested(),
        ...named()
      }))
    )
  )
  for (const { id, lines } of RUNS) {
    if (lines === null) continue
    const more = `${JSON.stringify({ ...named(), deep: nested(), ...Object.fromEntries(SHAPES.map(({ text }) => [text, 1])) }).slice(1, -1)}}`
    write(`wandb/history/runs/${id}.jsonl`, lines.map(line => `${line.slice(0, -1)}, ${more}\n`).join(''))
  }
  write('configs/planted-parent.json', JSON.stringify({ ...named(), other: nested() }))
  write(
    'configs/planted.json',
    JSON.stringify({
      inherits: 'planted-parent.json',
      ...shaped(),
      other: nested(),
      ...Object.fromEntries(NAMES.map((name, i) => [name, UNDER_NAMES[i].text]))
    })
  )
  const quoted = (text: string): string => `'${text.replaceAll('\n', ' ')}'`
  write(
    'configs/planted.env',
    [...Object.entries(shaped()), ...NAMES.map((name, i) => [name.replace(/\W/g, '_'), UNDER_NAMES[i].text])]
      .map(([k, v]) => `${k}=${quoted(String(v))}\n`)
      .join('')
  )
  const parts = unzipSync(workbook())
  const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  write(
    'sources/scores.xlsx',
    pack({
      ...parts,
      'xl/workbook.xml': strFromU8(parts['xl/workbook.xml']).replace(
        '</sheets>',
        `<sheet name="${SHAPES[0].text.slice(0, 31)}" sheetId="3" r:id="a"/></sheets>`
      ),
      'xl/sharedStrings.xml': strFromU8(parts['xl/sharedStrings.xml']).replace(
        '</sst>',
        `${everything.map(text => `<si><t>${escaped(text)}</t></si>`).join('')}</sst>`
      ),
      'xl/worksheets/sheet1.xml': strToU8(
        strFromU8(parts['xl/worksheets/sheet1.xml']).replace(
          '</row>',
          `<c r="B1" t="inlineStr"><is><t>${escaped(everything.join(' '))}</t></is></c></row>`
        )
      )
    })
  )
  const slides = unzipSync(readFileSync(join(dir, 'sources/slides.pptx')))
  write(
    'sources/slides.pptx',
    pack({
      ...slides,
      'ppt/slides/slide1.xml': slide(shape(...everything.map(escaped))),
      'docProps/core.xml': everything.map(escaped).join(' ')
    })
  )
  const text = [{ name: 'text', data: everything }]
  const buffer = parquetWriteBuffer({
    columnData: text.map(column => ({ ...column, type: 'STRING' as const })),
    createdBy: SHAPES[3].text,
    kvMetadata: everything.map((value, i) => ({ key: NAMES[i % NAMES.length], value }))
  })
  if (buffer instanceof Promise) throw new Error('the writer is synchronous')
  write('data/planted.parquet', new Uint8Array(buffer))
  write('data/train.parquet', dataset())
  const members = [...named2()].map(([name, value]) => [name, encodeNpyText(value)] as const)
  await writeSnapshot(
    join(dir, 'snap'),
    randomTraces(new Random('secrets'), 2, i => 40 + i),
    {
      members,
      editJson: page =>
        `{"extra":${JSON.stringify(nested())},${page.slice(1).replaceAll('"uid":', `"more":${JSON.stringify(nested())},"uid":`)}`,
      page: body =>
        `<!doctype html><html><head><title>${escaped(everything[0])}</title><!-- ${escaped(everything[2])} --></head><body><p>${escaped(everything.join(' '))}</p><script id="data">${body.replaceAll('</', '<\\/')}</script></body></html>`
    }
  )
  writeManifest(dir)
  const manifest = JSON.parse(readFileSync(join(dir, 'source_manifest.json'), 'utf8')) as object
  write('source_manifest.json', JSON.stringify({ ...manifest, ...named(), unknown: nested() }))
}

/** Members of an archive: names that a file can have. */
function* named2(): Generator<readonly [string, string]> {
  for (const [i, { text }] of SHAPES.entries()) yield [`member${i}`, text]
  for (const [i, name] of NAMES.entries()) yield [`${i}_${name.replace(/\W/g, '_')}`, UNDER_NAMES[i].text]
}

t.test(
  'every kind of input at once, through the command line: no byte of the outputs shows a canary, and what stayed is counted',
  async t => {
    const dir = join(work, 'planted')
    const out = join(work, 'out')
    await plantedStudy(dir)
    const first = await run('all', '--study', dir, '--out', out, '--threads', '1', '--formats', 'png,svg,pdf', '--verbose')
    t.equal(first.code, 0, first.text.slice(0, 2000))
    t.same(shownIn(first.text), [], 'standard output and error')
    t.same(shownBelow(out), [], 'outputs')
    t.match(
      first.text,
      /selection target: 54 settings|settings of its runs not copied, which neither histories\.config nor fetch\.config names/
    )
    const statistics = JSON.parse(readFileSync(join(out, 'wandb/both.json'), 'utf8')) as {
      selections: { target: { sessions: Array<{ config: object; left_out: { not_named: number; withheld: number } }> } }
    }
    const [session] = statistics.selections.target.sessions
    t.strictSame(session.config, { lr: 1e-6 })
    // 54 allowed settings in a secret's shape, `nested` (an object); state, url and fetchedAt
    t.equal(session.left_out.withheld, 58)
    t.equal(session.left_out.not_named, NAMES.length)
    for (const argv of [
      ['all', '--study', dir, '--out', out, '--threads', '1', '--json', '--no-figures'],
      ['audit', '--study', dir, '--verbose'],
      ['verify', '--study', dir],
      ['verify', '--study', dir, '--json'],
      ['verify', '--study', dir, '--format', 'sha256sum'],
      ['manifest', '--study', dir],
      ['manifest', '--study', dir, '--json'],
      ['traces', join(dir, 'snap'), '--out', join(work, 'traces'), '--json', '--threads', '1']
    ]) {
      const said = await run(...argv)
      t.same(shownIn(said.text), [], argv[0])
    }
    const draft = join(work, 'draft.json')
    const init = await run('study', 'init', dir, '--out', draft, '--json')
    t.same(shownIn(init.text), [], 'study init')
    t.same(shownIn(init.code === 0 ? readFileSync(draft, 'utf8') : ''), [], 'the draft')
    t.same(shownBelow(join(work, 'traces')), [])
    t.same(shownBelow(out), [])
  }
)

t.test('inputs that are broken beside a canary: the message says where, and shows none', async t => {
  const { text } = SHAPES[0]
  const breaks: ReadonlyArray<readonly [string, (old: Buffer) => string | Uint8Array]> = [
    ['study.json', old => old.toString().replace('"name":', `"${text}":"${text}","name":`)],
    ['study.json', old => `${old.toString().slice(0, -1)},"x":"${text}`],
    ['study.json', old => old.toString().replace('"name":"by hand"', `"name":{"${SHAPES[12].text}":1}`)],
    ['wandb/runs.json', old => old.toString().replace('"displayName":"target"', `"displayName":"${text}"`)],
    ['wandb/runs.json', () => `[${text}]`],
    ['wandb/runs.json', () => `[{"${text}":1,"${text}":2}]`],
    ['wandb/runs.json', old => old.toString().replace('"2026-01-01T02:00:00"', `"${text}"`)],
    ['wandb/history/runs/first.jsonl', old => `${old}{"_step": "${text}"}\n`],
    ['wandb/history/runs/first.jsonl', old => `${old}{"${text}": 1, "${text}": 2}\n`],
    ['wandb/history/runs/first.jsonl', old => `${old}{"_step": 9, "reward": ${text}}\n`],
    ['wandb/history/runs/first.jsonl', old => `${old}${text}\n`],
    ['configs/run.env', old => `${old}export ${text}\nLR='${text}\n`],
    ['configs/run.env', old => `source "https://joe:${SHAPES[0].needle}@h.example/x.env"\n${old}`],
    ['configs/run.env', old => `source ${text}.env\n${old}`],
    ['configs/mix.json', old => `${old.toString().trim().slice(0, -1)}, "batch": "${text}" "`],
    ['configs/mix.json', () => `{"inherits": "${text}"}`],
    ['sources/scores.xlsx', () => text],
    ['sources/scores.xlsx', old => swap(old, 'xl/worksheets/sheet2.xml', xml => xml.replace('t="b"', `t="${text}"`))],
    ['sources/scores.xlsx', old => swap(old, 'xl/worksheets/sheet2.xml', xml => xml.replace('<v>0.704</v>', `<v>${text}</v>`))],
    ['sources/scores.xlsx', old => swap(old, 'xl/worksheets/sheet2.xml', xml => xml.replace('<t>0.57</t>', `<t>${text}</t>`))],
    ['sources/scores.xlsx', old => swap(old, 'xl/worksheets/sheet2.xml', xml => xml.replace('</sheetData>', `</${text}>`))],
    ['sources/scores.xlsx', old => swap(old, 'xl/workbook.xml', xml => xml.replace('name="Notes"', `name="${text.slice(0, 31)}"`))],
    ['sources/slides.pptx', () => deck([['ppt/slides/a.xml', slide(shape(text, text))]])],
    ['sources/slides.pptx', old => swap(old, 'ppt/slides/slide2.xml', xml => xml.replace('57.6', text))],
    ['data/train.parquet', () => `PAR1${text}PAR1`],
    ['source_manifest.json', old => old.toString().replace('"input"', `"${text}"`)],
    ['source_manifest.json', () => `{"${text}`]
  ]
  const leaks: string[] = []
  for (const [i, [path, change]] of breaks.entries()) {
    const dir = join(work, `broken${i}`)
    const out = join(work, `broken-out${i}`)
    writeEvidenceStudy(dir)
    writeFileSync(join(dir, path), change(readFileSync(join(dir, path))))
    if (path !== 'source_manifest.json') writeManifest(dir)
    const said = await run('all', '--study', dir, '--out', out, '--threads', '1', '--no-figures', i % 2 === 0 ? '--verbose' : '--json')
    t.not(said.code, 0, `${path} ${i} fails: ${said.text.slice(0, 200)}`)
    if (shownIn(said.text).length > 0) leaks.push(`${i} ${path}: ${said.text.slice(0, 500)}`)
    const init = await run('study', 'init', dir, '--out', join(work, `draft${i}.json`), '--json')
    if (shownIn(init.text).length > 0) leaks.push(`init ${i} ${path}: ${init.text.slice(0, 500)}`)
  }
  t.same(leaks, [])
})

t.test(
  'snapshots whose names read like a key, and one whose name is one: the others are measured, and nothing of it is written',
  async t => {
    const dir = join(work, 'names')
    const out = join(work, 'names-out')
    const hex = '0123456789abcdef01234'.repeat(2).slice(1, 41)
    const { text, needle } = SHAPES[0]
    for (const name of [hex, `dump-${hex}`, 'sk-step-by-step-reasoning-v2', text])
      await writeSnapshot(
        join(dir, name),
        randomTraces(new Random(name), 1, () => 20),
        {}
      )
    const said = await run('traces', dir, '--out', out, '--threads', '1')
    t.equal(said.code, 3, said.text)
    t.match(said.text, 'snapshot secret refused: the name of a folder or page holds what looks like a secret, expected a text without one')
    t.notMatch(said.text, needle)
    t.same(shownBelow(out), [])
    const index = JSON.parse(readFileSync(join(out, BATCH_INDEX), 'utf8')) as { snapshots: Array<{ name: string | null; status: string }> }
    t.strictSame(
      index.snapshots.map(({ name, status }) => [name, status]),
      [
        [hex, 'ok'],
        [`dump-${hex}`, 'ok'],
        [null, 'failed'],
        ['sk-step-by-step-reasoning-v2', 'ok']
      ]
    )
  }
)

t.test('an address whose path was put in order is withheld', async t => {
  const url = `https://joe:${SHAPES[0].needle}@h.example/x`
  for (const argv of [
    ['verify', '--study', url],
    ['traces', url],
    ['all', '--study', url]
  ]) {
    const said = await run(...argv)
    t.not(said.code, 0)
    t.match(said.text, '[withheld]')
    t.notMatch(said.text, SHAPES[0].needle.slice(0, 10))
  }
})

function swap(archive: Buffer, part: string, change: (xml: string) => string): Uint8Array {
  const parts = unzipSync(archive)
  return pack({ ...parts, [part]: change(strFromU8(parts[part])) })
}

/**
 * Configuration files: quoting as bash 5.2.15 reads it (the lines sourced, each variable printed by `declare -p`; only the
 * carriage return of R is dropped here and kept there), inheritance, and a canary that no result and no message may hold.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { EXIT } from '../src/core/errors.js'
import { resolveConfig, type ResolvedConfig } from '../src/ingest/config/resolve.js'
import { isSecretName, isSecretValue } from '../src/core/secrets.js'
import { cpuMs } from './support/cpu.js'
import { faultOf } from './support/folders.js'

const CANARY = 'c4n4ry-do-not-copy-me'

/** A study of the given files. */
function study(t: Test, files: Readonly<Record<string, string>>): (path: string, ...allow: string[]) => Promise<ResolvedConfig> {
  const dir = t.testdir()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  return (path, ...allow) => resolveConfig(dir, path, { allow })
}

function plain(config: ResolvedConfig): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config.values).map(([key, { value }]) => [key, value]))
}

t.test('quoting, as bash reads it', async t => {
  const lines = [
    'A=plain',
    'B="two words"',
    'C=\'single $HOME "x"\'',
    'D=a"b c"\'d e\'f',
    'export E=exported # comment',
    'F=with#hash',
    'G=',
    'H="line one',
    'line two"',
    'I="a \\"quoted\\" \\\\ back"',
    'J=back\\ slash',
    'K="joined \\',
    'up"',
    '  L=indented',
    'readonly M=m',
    'N=one',
    'N+=two',
    'O=gone',
    'unset O',
    'declare -x P=p',
    'Q="é ü"',
    'R=cr\r',
    'set -a',
    '# comment',
    'export A',
    'echo done'
  ]
  const resolve = study(t, { 'q.env': `\ufeff${lines.join('\n')}` })
  const config = await resolve('q.env', ...'ABCDEFGHIJKLMNOPQR')
  t.same(plain(config), {
    A: 'plain',
    B: 'two words',
    C: 'single $HOME "x"',
    D: 'ab cd ef',
    E: 'exported',
    F: 'with#hash',
    G: '',
    H: 'line one\nline two',
    I: 'a "quoted" \\ back',
    J: 'back slash',
    K: 'joined up',
    L: 'indented',
    M: 'm',
    N: 'onetwo',
    P: 'p',
    Q: 'é ü',
    R: 'cr'
  })
  t.same(config.absent, ['O'])
  t.same(
    ['H', 'I', 'K', 'L', 'N'].map(key => config.values[key].line),
    [8, 10, 12, 14, 17],
    'lines of the file'
  )
})

t.test('types, with the text beside them', async t => {
  const resolve = study(t, {
    'a.env': 'T=True\nF=false\nI=128\nN=-3\nX=1e-6\nP=.5\nZ=007\nB=12345678901234567890\nV=1.2.3\nS=10:1\nE="64"\nU=1e999\n'
  })
  const { values } = await resolve('a.env', ...'TFINXPZBVSEU')
  t.same(plain({ values } as ResolvedConfig), {
    T: true,
    F: false,
    I: 128,
    N: -3,
    X: 1e-6,
    P: 0.5,
    Z: '007',
    B: '12345678901234567890',
    V: '1.2.3',
    S: '10:1',
    E: 64,
    U: '1e999'
  })
  t.same([values.X.text, values.T.text, values.P.text], ['1e-6', 'True', '.5'])
})

t.test('references stay as written', async t => {
  const resolve = study(t, { 'a.env': 'ROOT=/data\nA=$ROOT/x\nB="${ROOT:-/tmp}/y z"\nC=$(date +%s)\nD=${A/$ROOT/"q q"}\n' })
  t.same(plain(await resolve('a.env', 'A', 'B', 'C', 'D')), {
    A: '$ROOT/x',
    B: '${ROOT:-/tmp}/y z',
    C: '$(date +%s)',
    D: '${A/$ROOT/"q q"}'
  })
})

t.test('a chain of .env files', async t => {
  const files = {
    'configs/mix.env': '# inherits: single.env\nBATCH=128\nMIX=1\n',
    'configs/single.env':
      '#!/bin/bash\nsource "$(dirname "${BASH_SOURCE[0]}")/../base/model.env" # parent\nBATCH=64\nWARMUP=2\n. ./late.env\n',
    'configs/late.env': 'WARMUP=10\n',
    'base/model.env': 'INHERIT=root.env\nMODEL=qwen\nBATCH=1\nWARMUP=0\n',
    'base/root.env': 'WHITENING=True\nMODEL=none\n'
  }
  const resolve = study(t, files)
  const config = await resolve('./configs/mix.env', 'BATCH', 'WARMUP', 'MODEL', 'WHITENING', 'INHERIT', 'OTHER')
  t.same(
    config.chain,
    ['base/root.env', 'base/model.env', 'configs/late.env', 'configs/single.env', 'configs/mix.env'].map(path => {
      const text = files[path as keyof typeof files]
      return { path, sha256: createHash('sha256').update(text).digest('hex'), bytes: text.length }
    })
  )
  t.same(config.values, {
    BATCH: { value: 128, text: '128', from: 'configs/mix.env', line: 2 },
    WARMUP: { value: 10, text: '10', from: 'configs/late.env', line: 1 },
    MODEL: { value: 'qwen', text: 'qwen', from: 'base/model.env', line: 2 },
    WHITENING: { value: true, text: 'True', from: 'base/root.env', line: 1 }
  })
  t.same([config.withheld, config.absent], [0, ['INHERIT', 'OTHER']])
  for (const source of [
    'source single.env',
    '. "single.env"',
    "source './single.env'",
    'source "${BASH_SOURCE%/*}/single.env"',
    'source "$(dirname "$0")"/single.env',
    'source "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/single.env"',
    'INHERITS_FROM="single.env"',
    '# extends single.env'
  ]) {
    const resolve = study(t, { 'a.env': `${source}\nA=1\n`, 'single.env': 'B=2\n' })
    t.same(plain(await resolve('a.env', 'A', 'B')), { A: 1, B: 2 }, source)
  }
})

t.test('JSON', async t => {
  const resolve = study(t, {
    'run.json':
      '{\n "extends": ["base.json", "env/extra.env"],\n "algorithm": {"lr": 1e-06, "gae": true},\n "weights": {"b": 1},\n "stages": [{"name": "x"}],\n "none": null, "empty": [], "a.b": "dot", "__proto__": {"x": 1}\n}\n',
    'base.json': '{"algorithm": {"lr": 5, "clip": 10, "name": "gae\\u00e9"}, "weights": {"a": 1}, "stages": [1, 2, 3], "empty": {"k": 1}}',
    'env/extra.env': 'HARNESS=openhands_sdk\n'
  })
  const config = await resolve('run.json', 'algorithm', 'weights', 'stages', 'none', 'empty', 'a.b', 'HARNESS', '__proto__', 'extends')
  t.same(
    config.chain.map(({ path }) => path),
    ['base.json', 'env/extra.env', 'run.json']
  )
  t.same(
    Object.entries(config.values).map(([key, { value, text, from, line }]) => [key, value, text, from, line]),
    [
      ['algorithm.clip', 10, '10', 'base.json', 1],
      ['algorithm.name', 'gaeé', 'gaeé', 'base.json', 1],
      ['algorithm.lr', 1e-6, '1e-06', 'run.json', 3],
      ['algorithm.gae', true, 'true', 'run.json', 3],
      ['weights.a', 1, '1', 'base.json', 1],
      ['weights.b', 1, '1', 'run.json', 4],
      ['stages.0.name', 'x', 'x', 'run.json', 5],
      ['none', null, 'null', 'run.json', 6],
      ['empty', null, '[]', 'run.json', 6],
      ['a.b', 'dot', 'dot', 'run.json', 6],
      ['HARNESS', 'openhands_sdk', 'openhands_sdk', 'env/extra.env', 1],
      ['__proto__.x', 1, '1', 'run.json', 6]
    ]
  )
  t.same(config.absent, ['extends'])
})

t.test('a secret is in no result and no message', async t => {
  const shapes = [
    `hf_${'a1'.repeat(10)}`,
    `sk-${'b2'.repeat(12)}`,
    `ghp_${'C3'.repeat(18)}`,
    'd4'.repeat(20),
    'AKIAIOSFODNN7EXAMPLE',
    `https://user:${CANARY}@host/x`,
    `\${HF_TOKEN:-${CANARY}}`,
    `"--api-key ${CANARY}"`,
    `"password=${CANARY}"`,
    `"Bearer ${CANARY}"`
  ]
  const names = [
    'WANDB_API_KEY',
    'HF_TOKEN',
    'DB_PASSWORD',
    'CLIENT_SECRET',
    'AWS_CREDENTIALS',
    'OPENAIKEY',
    'APIKEY',
    'GITHUB_TOKENS',
    'MY_PWD'
  ]
  const lines = ['SAFE=1', ...names.map(name => `${name}=${CANARY}`), ...shapes.map((shape, i) => `V${i}=${shape}`), `NOTED=${CANARY}`]
  const json = JSON.stringify({
    safe: 1,
    auth: { user: CANARY },
    api: { key: CANARY },
    deep: [{ token: CANARY }],
    url: `x://a:${CANARY}@b`
  })
  const resolve = study(t, { 'a.env': `${lines.join('\n')}\n`, 'a.json': json })
  const config = await resolve('a.env', 'SAFE', ...names, ...shapes.map((_, i) => `V${i}`))
  t.same(plain(config), { SAFE: 1 }, 'allowlisted, and withheld')
  t.equal(config.withheld, names.length + shapes.length)
  t.same(config.absent, [])
  const fromJson = await resolve('a.json', 'safe', 'auth', 'api', 'deep', 'url')
  t.same([plain(fromJson), fromJson.withheld], [{ safe: 1 }, 4])
  for (const result of [config, fromJson]) t.notMatch(JSON.stringify(result), CANARY)

  const broken: Record<string, string> = {
    'quote.env': `A="${CANARY}`,
    'single.env': `A='${CANARY}\n`,
    'expansion.env': `A=\${${CANARY}`,
    'space.env': `A=x ${CANARY}`,
    'array.env': `A=(${CANARY})`,
    'operator.env': `A=x;${CANARY}`,
    'command.env': `${CANARY} --run`,
    'if.env': `if [ ${CANARY} ]; then`,
    'source.env': `source $${CANARY}/x.env`,
    'outside.env': `source ../../${CANARY}.env`,
    'assigns.env': `A=\${B:=${CANARY}}`,
    'echo.env': `echo x; A=${CANARY}`,
    'comma.json': `{"a": "${CANARY}",}`,
    'bare.json': `{"a": ${CANARY}}`,
    'twice.json': `{"${CANARY}": 1, "${CANARY}": 2}`,
    'list.json': `["${CANARY}"]`,
    'open.json': `{"a": "${CANARY}`,
    'binary.env': `A=${CANARY}\0`,
    'deep.json': `${'['.repeat(80)}"${CANARY}"`,
    'escape.json': `{"a": "\\x${CANARY}"}`
  }
  const failing = study(t, broken)
  for (const name of Object.keys(broken)) {
    const fault = await faultOf(failing(name, 'A', 'a'))
    t.equal(fault.exitCode, EXIT.badInput, fault.message)
    t.match(fault.message, /^config .*, expected .*\(/)
    t.equal(fault.place.file, name)
    const everything = `${fault.message}${fault.stack}${JSON.stringify(fault.serialize())}${String(fault.cause)}`
    t.notOk(everything.includes(CANARY), `${name}: no canary`)
  }
  t.match(
    (await faultOf(failing('single.env', 'A'))).message,
    'config unclosed quote: a single quote without an end in line 1, expected the closing quote (single.env)'
  )
  t.match(
    (await faultOf(failing('comma.json', 'a'))).message,
    'config malformed JSON: unexpected text in line 1, expected RFC 8259, each field once (comma.json)'
  )
})

t.test('a value that only a shell can tell matters only where it is wanted', async t => {
  const resolve = study(t, { 'a.env': 'A=two words\nB=(1 2)\nC=3\nA2="x" # fine\n' })
  t.same(plain(await resolve('a.env', 'C', 'A2')), { C: 3, A2: 'x' })
  t.match(
    (await faultOf(resolve('a.env', 'A'))).message,
    'config unreadable value of A: unquoted space in line 1, expected a value that needs no shell (a.env)'
  )
  t.match((await faultOf(resolve('a.env', 'B'))).message, 'config unreadable value of B: an array in line 2')
})

t.test('chains that do not end, or leave the study', async t => {
  const files: Record<string, string> = {
    'self.env': 'source self.env\n',
    'x.env': 'source y.env\n',
    'y.env': 'A=1\nsource ./x.env\n',
    'loop.json': '{"base": "x/../loop.json"}',
    'abs.env': 'source /etc/passwd\n',
    'up.env': 'source ../outside.env\n',
    'absent.env': 'source nothing.env\n',
    'link.env': 'source out.env\n',
    'folder.env': 'source sub\n',
    'back.json': '{"parent": "sub\\\\x.json"}',
    'sub/in.env': 'source ../ok.env\n',
    'ok.env': 'A=1\n',
    'wide.env': `${'source ok.env\n'.repeat(70)}`,
    'big.env': `A=${'x'.repeat(1 << 20)}`,
    'long.env': `A=${'x'.repeat(20_000)}`
  }
  for (let i = 0; i < 20; i++) files[`d${i}.env`] = `source d${i + 1}.env\n`
  const dir = t.testdir()
  mkdirSync(join(dir, 'study/sub'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, 'study', name), text)
  writeFileSync(join(dir, 'outside.env'), `A=${CANARY}\n`)
  symlinkSync('../outside.env', join(dir, 'study/out.env'))
  const message = async (path: string): Promise<string> =>
    (await faultOf(resolveConfig(join(dir, 'study'), path, { allow: ['A'] }))).message
  t.equal(await message('self.env'), 'config cycle: self.env -> self.env, expected no file above itself (self.env)')
  t.match(await message('x.env'), 'config cycle: x.env -> y.env -> x.env')
  t.match(await message('loop.json'), 'config cycle: loop.json -> loop.json')
  t.match(await message('d0.env'), 'config chain too deep: more than 16 files')
  t.match(await message('wide.env'), 'config chain too long: more than 64 files')
  for (const name of ['abs.env', 'up.env', 'back.json'])
    t.match(
      await message(name),
      `config parent outside the study: a path that leaves it in line 1, expected a path inside the study (${name})`
    )
  t.match(await message('absent.env'), 'config unreadable file: nothing, expected a readable file in the study (nothing.env)')
  t.match(await message('link.env'), 'config unreadable file: a link that leaves the study')
  t.match(await message('folder.env'), 'config unreadable file: a folder')
  t.match(await message('../outside.env'), 'config unsafe path')
  t.match(await message('big.env'), 'config file too large: 1048578 bytes')
  t.match(await message('long.env'), 'config value of A too long: 20000 characters')
  t.same(plain(await resolveConfig(join(dir, 'study'), 'sub/in.env', { allow: ['A'] })), { A: 1 })
})

t.test('what looks like a secret', async t => {
  for (const name of [
    'API_KEY',
    'wandbApiKey',
    'x.token',
    'SECRET',
    'db-password',
    'PASSWD',
    'service_credentials',
    'HFTOKEN',
    'private_key_path',
    'PGPASS',
    'DB_PASS',
    'dbPass',
    'mysqlpass',
    'pass',
    'PASS_PROD',
    'smtp.pass',
    'DB_PASS_1'
  ])
    t.ok(isSecretName(name), name)
  for (const name of [
    'MAX_TOKENS',
    'tokenizer',
    'max_response_tokens',
    'KEYBOARD',
    'monkey',
    'author',
    'keys',
    'actor.lr',
    'bypass',
    'bypass_mode',
    'bypassMode',
    'compass',
    'passes',
    'passed',
    'pass_at_k',
    'val/pass@1',
    'pass_rate',
    'forward_pass',
    'passage'
  ])
    t.notOk(isSecretName(name), name)
  for (const text of ['--pass abc', 'user=a pass=b', '${PGPASS}']) t.ok(isSecretValue(text), text)
  for (const text of [
    '/mnt/public/models/Qwen3.5-35B-A3B',
    'openhands_sdk',
    '1:1:1',
    'https://host/path',
    '$ROOT/x',
    'a'.repeat(64),
    '--tokenizer x',
    'sk-short',
    'lr: 5'
  ])
    t.notOk(isSecretValue(text), text.slice(0, 40))
  const started = process.cpuUsage()
  for (const hostile of [
    'a'.repeat(16384),
    'eyJ-'.repeat(4096),
    'a-'.repeat(8192),
    '$'.repeat(16384),
    '--a'.repeat(5000),
    'x://'.repeat(4096),
    ' '.repeat(16384),
    'a '.repeat(8192)
  ])
    isSecretValue(hostile)
  t.ok(cpuMs(started) < 5000, 'in time')
})

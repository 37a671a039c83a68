/** The way to a server: proxies, W&B's own settings file, and one fetch at a time. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { Fault } from '../../src/core/errors.js'
import { lockFolder } from '../../src/render/outputs/folder-lock.js'
import { findProxy } from '../../src/fetch/proxy.js'
import { readWandbSettings } from '../../src/fetch/settings.js'
import { runCli } from '../support/cli.js'
import { faultOf } from '../support/folders.js'
import { KEY } from '../support/wandb-session.js'
import { certificate, tlsKey } from '../support/wandb-tls.js'
import { fine, leaks, openServer } from '../support/wandb-server.js'
import { start } from '../support/wandb/emulator.js'
import { CANARY, fetchInto, run, upTo, writeStudy } from '../support/wandb/study.js'

t.test('which requests go through a proxy', t => {
  const url = new URL('https://api.wandb.ai/graphql')
  const through = (env: Record<string, string>, of = url): string | null => findProxy(env, of)?.host ?? null
  t.equal(through({}), null)
  t.equal(through({ HTTPS_PROXY: 'http://user:secret@proxy:3128' }), 'proxy:3128', 'without its password')
  t.equal(through({ https_proxy: 'small:1', HTTPS_PROXY: 'large:2' }), 'small:1', 'small letters first, the scheme may be missing')
  t.equal(through({ ALL_PROXY: 'https://proxy' }), 'proxy')
  t.equal(through({ HTTP_PROXY: 'http://proxy:3128' }), null, 'of another scheme')
  const excepted = (list: string, of = 'https://api.wandb.ai/graphql'): boolean =>
    through({ HTTPS_PROXY: 'p:1', NO_PROXY: list }, new URL(of)) === null
  // As curl 7.88 and Python's urllib and requests take NO_PROXY.
  for (const list of [
    '*',
    'api.wandb.ai',
    'wandb.ai',
    '.wandb.ai',
    'other.org, wandb.ai',
    'other.org wandb.ai',
    'API.WANDB.AI',
    'wandb.ai:443'
  ]) {
    t.ok(excepted(list), list)
  }
  for (const list of ['', 'andb.ai', 'wandb.ai:8443', 'api.wandb.ai.org', 'wandb.com', ',']) t.notOk(excepted(list), list)
  t.ok(excepted('*.wandb.ai'))
  t.ok(excepted('localhost:8080', 'https://localhost:8080'))
  t.ok(excepted('::1', 'https://[::1]'))
  t.ok(excepted('[::1]:8443', 'https://[::1]:8443'))
  t.notOk(excepted('[::1]:8443', 'https://[::1]'))
  t.equal(through({ HTTPS_PROXY: 'p:1' }, new URL('http://127.0.0.1:9/graphql')), null, 'http is for this machine alone')
  for (const [proxy, found] of [
    ['socks5://proxy:1', 'HTTPS_PROXY has the scheme socks5'],
    ['http://', 'HTTPS_PROXY is no address'],
    ['http://proxy:99999', 'HTTPS_PROXY is no address']
  ] as const) {
    const fault = thrownBy(() => findProxy({ HTTPS_PROXY: proxy }, url))
    t.equal(fault.message, `wandb wrong proxy: ${found}, expected http://host:port or https://host:port`)
    t.equal(fault.exitCode, 2)
  }
  t.end()
})

function thrownBy(work: () => unknown): Fault {
  try {
    work()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

interface ProxyServer {
  readonly url: string
  /** `host:port` of each tunnel that was asked for, and the credentials */
  readonly asked: ReadonlyArray<{ readonly to: string; readonly authorization: string | undefined }>
  /** what went through, as the proxy sees it */
  readonly seen: () => string
}

/** Answers with these statuses in turn, the last one for good; with 200 it opens a tunnel, with 0 it hangs up. */
async function openProxy(test: Test, statuses: readonly number[]): Promise<ProxyServer> {
  const asked: { to: string; authorization: string | undefined }[] = []
  const chunks: Buffer[] = []
  const server = createServer((_, response) => {
    response.writeHead(500).end()
  })
  server.on('connect', (request: IncomingMessage, socket: import('node:net').Socket) => {
    const status = statuses[Math.min(asked.length, statuses.length - 1)]
    asked.push({ to: request.url ?? '', authorization: request.headers['proxy-authorization'] })
    socket.on('error', () => socket.destroy())
    if (status === 0) {
      socket.destroy()
      return
    }
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 2\r\n\r\nno`)
      return
    }
    const [host, port] = (request.url ?? '').split(':')
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.on('data', chunk => {
        chunks.push(chunk)
        upstream.write(chunk)
      })
      upstream.pipe(socket)
      socket.on('end', () => upstream.end())
    })
    upstream.on('error', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://me:proxypass@127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    seen: () => Buffer.concat(chunks).toString('latin1')
  }
}

interface Child {
  readonly output: { readonly data?: unknown; readonly fault?: string }
  readonly everything: string
}

function runChild(url: string, env: Record<string, string>): Promise<Child> {
  const script = fileURLToPath(new URL('../support/wandb-child.js', import.meta.url))
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [script, url, 'close'],
      { env: { PATH: process.env['PATH'], WANDB_API_KEY: KEY, ...env } },
      (error, stdout, stderr) => {
        if (error !== null) reject(error)
        else resolve({ output: JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Child['output'], everything: stdout + stderr })
      }
    )
  })
}

t.test('requests go through a tunnel that hides them, and the certificate is checked in it', async t => {
  const authority = join(t.testdir(), 'authority.pem')
  writeFileSync(authority, certificate)
  const server = await openServer([fine], { key: tlsKey, cert: certificate })
  t.teardown(() => server.close())
  const trusting = { NODE_EXTRA_CA_CERTS: authority }
  const port = new URL(server.url).port

  const proxy = await openProxy(t, [200])
  const tunnelled = await runChild(server.url, { ...trusting, HTTPS_PROXY: proxy.url })
  t.same(tunnelled.output, { data: { viewer: { id: 'v' } } })
  t.same(proxy.asked, [{ to: `localhost:${port}`, authorization: `Basic ${Buffer.from('me:proxypass').toString('base64')}` }])
  t.ok(proxy.seen().length > 100, 'it went through')
  t.same(leaks(proxy.seen(), KEY), [], 'the key is not seen by the proxy')
  t.notMatch(proxy.seen(), /POST|graphql/)

  const direct = await runChild(server.url, { ...trusting, HTTPS_PROXY: proxy.url, NO_PROXY: 'localhost' })
  t.same(direct.output, { data: { viewer: { id: 'v' } } })
  t.equal(proxy.asked.length, 1, 'NO_PROXY')

  const untrusted = await runChild(server.url, { HTTPS_PROXY: proxy.url, NODE_TLS_REJECT_UNAUTHORIZED: '0' })
  t.match(untrusted.output.fault, /^wandb certificate refused: self-signed .* through the proxy 127\.0\.0\.1:\d+, the viewer\)$/)
  t.equal(server.received.length, 2, 'and nothing was sent')

  const refusing = await openProxy(t, [407])
  const refused = await runChild(server.url, { ...trusting, HTTPS_PROXY: refusing.url })
  t.match(
    refused.output.fault,
    /^wandb proxy refused: HTTP 407 of the proxy, expected a user and password that it takes, in the address of the proxy \(.* through the proxy 127\.0\.0\.1:\d+, the viewer\)$/
  )
  t.match(
    (await runChild(server.url, { ...trusting, HTTPS_PROXY: (await openProxy(t, [403])).url })).output.fault,
    /proxy refused: HTTP 403 of the proxy, expected a tunnel/
  )
  for (const { everything } of [tunnelled, untrusted, refused]) {
    t.same(leaks(everything, KEY), [])
    t.notMatch(everything, 'proxypass')
  }
})

t.test('a proxy that fails for a while is tried again', async t => {
  const authority = join(t.testdir(), 'authority.pem')
  writeFileSync(authority, certificate)
  const server = await openServer([fine], { key: tlsKey, cert: certificate })
  t.teardown(() => server.close())
  const proxy = await openProxy(t, [502, 0, 200])
  const { output } = await runChild(server.url, { NODE_EXTRA_CA_CERTS: authority, HTTPS_PROXY: proxy.url })
  t.same(output, { data: { viewer: { id: 'v' } } })
  t.equal(proxy.asked.length, 3)
})

t.test("the base URL of W&B's own settings", async t => {
  const dir = t.testdir({
    home: { '.config': { wandb: { settings: '[default]\nbase_url = https://wandb.example.org\nentity = team\n' } } },
    bare: {},
    config: { settings: '; comment\n[default]\nbase_url=https://other.example.org\n\n[x]\nbase_url=https://no.example.org\n' },
    folder: { wandb: { settings: '[default]\nbase_url = https://evil.example.org\n' } },
    odd: { '.config': { wandb: { settings: { 'a folder': '' } } } }
  })
  const at = (name: string): string => join(dir, name)
  t.match(await readWandbSettings({ HOME: at('home') }, at('bare')), { baseUrl: 'https://wandb.example.org', ofFolder: null })
  t.match(await readWandbSettings({ HOME: at('bare') }, at('bare')), { baseUrl: null, ofFolder: null })
  t.match(await readWandbSettings({ HOME: at('home'), WANDB_CONFIG_DIR: at('config') }, at('bare')), {
    baseUrl: 'https://other.example.org'
  })
  t.match(await readWandbSettings({ HOME: at('home') }, at('folder')), {
    baseUrl: 'https://wandb.example.org',
    ofFolder: { baseUrl: 'https://evil.example.org' }
  })
  const fault = await faultOf(readWandbSettings({ HOME: at('odd') }, at('bare')))
  t.match(fault, { exitCode: 2, message: /^wandb unreadable settings: .*, expected a readable file, or --base-url/ })

  const emulator = await start({ key: CANARY, runs: [run('r1', 'main', upTo(3))] })
  t.teardown(() => emulator.close())
  const study = join(dir, 'study')
  writeStudy(study)
  writeFileSync(join(at('home'), '.config/wandb/settings'), `[default]\nbase_url = ${emulator.url}\n`)
  const env = { WANDB_API_KEY: CANARY, HOME: at('home'), WANDB_BASE_URL: '' }
  const fetched = await runCli(['fetch', '--study', study], { env, cwd: at('folder') })
  t.equal(fetched.code, 0, fetched.stderr)
  t.match(fetched.stderr, `fetching from ${emulator.url} with the key of WANDB_API_KEY`)
  t.match(
    fetched.stderr,
    /wandb\/settings states base_url https:\/\/evil\.example\.org, which is not followed: a folder does not say where your key goes/
  )
})

t.test('one fetch at a time; what a killed one left is taken over', async t => {
  const dir = t.testdir()
  const lock = join(dir, '.critic-traces-fetch.lock')
  const first = await lockFolder(dir, 'fetch')
  const second = await faultOf(lockFolder(dir, 'fetch'))
  t.equal(
    second.message,
    `fetch locked: process ${process.pid} on ${hostname()} is fetching into this study, expected one fetch at a time; wait for its end (${lock})`
  )
  t.equal(second.exitCode, 2)
  await first.release()
  t.same(readdirSync(dir), [], 'nothing stays')

  // A process that is gone.
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'close')
  mkdirSync(join(lock, `${hostname()}@${child.pid ?? 0}`), { recursive: true })
  const taken = await lockFolder(dir, 'fetch')
  t.same(readdirSync(lock), [`${hostname()}@${process.pid}`])
  await taken.release()

  // One that was killed before it wrote its name.
  mkdirSync(lock)
  await (await lockFolder(dir, 'fetch')).release()

  // Another host says by its time that it is alive.
  mkdirSync(join(lock, 'elsewhere@17'), { recursive: true })
  t.match((await faultOf(lockFolder(dir, 'fetch'))).message, /^fetch locked: process 17 on elsewhere is fetching/)

  const both = join(dir, 'both')
  mkdirSync(both)
  const outcomes = await Promise.allSettled([lockFolder(both, 'fetch'), lockFolder(both, 'fetch'), lockFolder(both, 'fetch')])
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1, 'of several at once one goes on')
})

t.test('two fetches into one study: the second says which process is at it, and changes nothing', async t => {
  const emulator = await start({ key: CANARY, runs: [run('r1', 'main', upTo(300))] })
  t.teardown(() => emulator.close())
  const dir = join(t.testdir(), 'study')
  writeStudy(dir)
  const lock = await lockFolder(dir, 'fetch')
  const refused = await fetchInto(dir, emulator.url)
  t.match(refused, { code: 2, fault: { message: /^fetch locked: process \d+ on / } })
  t.equal(emulator.requests.length, 0, 'no request was sent')
  await lock.release()
  t.match(await fetchInto(dir, emulator.url), { code: 0 })
  t.notOk(readdirSync(dir).some(name => name.includes('lock')))
})

t.test('a run that is being preempted may still log', async t => {
  const emulator = await start({ key: CANARY, runs: [run('r1', 'main', upTo(3), { state: 'preempting' })] })
  t.teardown(() => emulator.close())
  const dir = join(t.testdir(), 'study')
  writeStudy(dir)
  t.match(await fetchInto(dir, emulator.url), {
    code: 0,
    stdout: /^still growing: r1, taken up to step 3;/m,
    report: { runs: [{ growing: true }] }
  })
})

t.test('HTTP 404 says that the project was not found, and which', async t => {
  const emulator = await start({ key: CANARY, runs: [], script: [{ then: { kind: 'status', status: 404 } }] })
  t.teardown(() => emulator.close())
  const dir = join(t.testdir(), 'study')
  writeStudy(dir)
  t.match((await fetchInto(dir, emulator.url)).fault?.message, /^wandb project not found: HTTP 404 .* \(http:.*, runs of team\/project\)$/)
})

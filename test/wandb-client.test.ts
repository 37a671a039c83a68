/** The address, the API key and the client of a W&B server, over real HTTP on this machine; the clock does not wait. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { Fault } from '../src/core/errors.js'
import { parseAddress } from '../src/ingest/certificate/address.js'
import { WandbClient } from '../src/fetch/client.js'
import { ApiKey, findApiKey } from '../src/fetch/key.js'
import { netrcPassword } from '../src/fetch/netrc.js'
import { retryAfterMs } from '../src/fetch/retry.js'
import { cpuMs } from './support/cpu.js'
import { faultOf } from './support/folders.js'
import { fixture } from './support/paths.js'
import { AUTHORIZATION, CUT, HALF, KEY, NOON, ask, partial, session } from './support/wandb-session.js'
import { certificate, expiredCertificate, tlsKey } from './support/wandb-tls.js'
import { TestClock, answer, fine, json, leaks, openServer, type Reply } from './support/wandb-server.js'

const folder = mkdtempSync(join(tmpdir(), 'critic-traces-wandb-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

function thrownBy(work: () => unknown): Fault {
  try {
    work()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

t.test('addresses', t => {
  const accepted = {
    'https://api.wandb.ai': ['https://api.wandb.ai/graphql', 'api.wandb.ai', 'https://wandb.ai'],
    'https://api.wandb.ai/': ['https://api.wandb.ai/graphql', 'api.wandb.ai', 'https://wandb.ai'],
    'https://Wandb.Example:8443': ['https://wandb.example:8443/graphql', 'wandb.example:8443', 'https://wandb.example:8443'],
    'https://example.org:443/tools/wandb//': ['https://example.org/tools/wandb/graphql', 'example.org', 'https://example.org/tools/wandb'],
    'http://localhost:8080': ['http://localhost:8080/graphql', 'localhost:8080', 'http://localhost:8080'],
    'http://127.8.9.1': ['http://127.8.9.1/graphql', '127.8.9.1', 'http://127.8.9.1'],
    'http://[::1]:9': ['http://[::1]:9/graphql', '[::1]:9', 'http://[::1]:9']
  }
  for (const [text, [endpoint, host, site]] of Object.entries(accepted)) {
    const address = parseAddress(text)
    t.same([address.endpoint.href, address.host, address.site], [endpoint, host, site], text)
  }
  const refused: Readonly<Record<string, RegExp>> = {
    '': /no address/,
    s3cretkey: /no address/,
    'api.wandb.ai': /no address/,
    'https://': /no address/,
    'https:/s3cret.example': /no address/,
    'https:\\\\s3cret.example': /no address/,
    ' https://s3cret.example': /no address/,
    'https://s3cret.example/\n': /no address/,
    'https://s3cret example': /no address/,
    'https://[::1': /no address/,
    'ftp://s3cret.example': /scheme ftp/,
    'https://api:s3cret@api.wandb.ai': /credentials in it/,
    'https://s3cret@api.wandb.ai': /credentials in it/,
    'https://api.wandb.ai?key=s3cret': /a query or a fragment in it/,
    'https://api.wandb.ai/#s3cret': /a query or a fragment in it/,
    'http://api.wandb.ai/s3cret': /http to api\.wandb\.ai, expected https/,
    'http://localhost.example/s3cret': /http to localhost\.example/,
    'http://127.0.0.1.example/s3cret': /http to 127\.0\.0\.1\.example/,
    'http://0.0.0.0': /http to 0\.0\.0\.0/,
    'https://wandb.ai': /wandb\.ai, the site for people, expected https:\/\/api\.wandb\.ai/
  }
  for (const [text, message] of Object.entries(refused)) {
    const error = thrownBy(() => parseAddress(text))
    t.match(error.message, message, JSON.stringify(text))
    t.match(error.message, /^wandb wrong base URL: /)
    t.equal(error.exitCode, 2)
    t.notMatch(inspect(error, { depth: Infinity, showHidden: true }).split('\n')[0], /s3cret/)
  }
  t.end()
})

interface NetrcCase {
  readonly name: string
  readonly text: string
  /** of the entry `h`; as Python gives it, where `python` does not say otherwise */
  readonly password: string | null
  readonly python?: string
  readonly error_line?: number
}

t.test('netrc files give what Python 3.11.7 and 3.13.0 give, but for comments', t => {
  const cases = JSON.parse(readFileSync(fixture('netrc/cases.json'), 'utf8')) as readonly NetrcCase[]
  t.ok(cases.length >= 31)
  t.equal(cases.filter(c => c.python !== undefined).length, 3)
  for (const { name, text, password, error_line } of cases) {
    if (error_line === undefined) {
      t.equal(netrcPassword(text, 'h', {}), password, name)
      continue
    }
    const error = thrownBy(() => netrcPassword(text, 'h', { file: 'n' }))
    t.match(error, { exitCode: 2, place: { file: 'n' } }, name)
    t.notMatch(inspect(error, { depth: Infinity, showHidden: true }), /secret/, `${name}: nothing quoted`)
  }
  t.match(
    thrownBy(() => netrcPassword('machine h\n password x\n\nsecret3 y', 'h', { file: 'n' })).message,
    /^netrc malformed: an unknown word, expected login, .* \(n, line 4\)$/
  )
  t.end()
})

t.test('keys are found where W&B looks for them, and never shown', async t => {
  const home = join(folder, 'home')
  mkdirSync(home)
  const [api, local] = [parseAddress('https://api.wandb.ai'), parseAddress('http://localhost:8080')]
  const other = 'f'.repeat(40)
  const header = async (env: Record<string, string>, address = api): Promise<string> => {
    const key = await findApiKey({ HOME: home, USERPROFILE: home, ...env }, address)
    return `${key.source} ${Buffer.from(key.authorization().slice(6), 'base64').toString()}`
  }
  const refusal = async (env: Record<string, string>, address = api): Promise<string> => {
    const error = await faultOf(findApiKey({ HOME: home, USERPROFILE: home, ...env }, address))
    t.equal(error.exitCode, 2)
    for (const value of [KEY, other, env['WANDB_API_KEY'] ?? '']) {
      if (value.length >= 8) t.same(leaks(error, value), [])
    }
    return error.message
  }
  t.match(await refusal({}), /^wandb no API key: WANDB_API_KEY is not set and there is no .*home\/\.netrc, expected one of them/)
  t.equal(await header({ WANDB_API_KEY: KEY }), `WANDB_API_KEY api:${KEY}`)

  writeFileSync(join(home, '_netrc'), `machine api.wandb.ai login user password ${KEY}\n`)
  t.equal(await header({}), `netrc api:${KEY}`, '~/_netrc')
  t.equal(await header({ WANDB_API_KEY: '' }), `netrc api:${KEY}`, 'an empty variable is none')
  t.match(await refusal({}, local), /_netrc has no entry for localhost:8080/)

  writeFileSync(join(home, '.netrc'), `machine localhost:8080 password ${other}\nmachine localhost password ${KEY}\n`)
  t.equal(await header({}, local), `netrc api:${other}`, 'the port is part of the name')
  t.match(await refusal({}), /\.netrc has no entry for api\.wandb\.ai/, '~/.netrc hides ~/_netrc')
  t.equal(await header({ WANDB_API_KEY: KEY }, local), `WANDB_API_KEY api:${KEY}`, 'the variable comes first')

  writeFileSync(join(home, 'named'), `default password ${other}\n`)
  t.equal(await header({ NETRC: join(home, 'named') }), `netrc api:${other}`, 'default counts')
  t.equal(await header({ NETRC: '~/named' }), `netrc api:${other}`)
  t.match(await refusal({ NETRC: '~someone/named' }), /home folder of another user/)
  t.match(await refusal({ NETRC: join(home, 'absent') }), /there is no .*absent/)
  t.match(await refusal({ NETRC: home }), /unreadable netrc: a folder/)
  writeFileSync(join(home, 'named'), `machine api.wandb.ai login ${KEY}\n`)
  t.match(await refusal({ NETRC: '~/named' }), /has an entry without a password for api\.wandb\.ai/)
  writeFileSync(join(home, 'named'), `machine api.wandb.ai password ${KEY} ${other}\n`)
  t.match(await refusal({ NETRC: '~/named' }), /netrc malformed: an unknown word, expected .*named, line 1/)
  writeFileSync(join(home, 'named'), Buffer.concat([Buffer.from(`machine x password ${KEY}`), Buffer.from([0xff])]))
  t.match(await refusal({ NETRC: '~/named' }), /unreadable netrc: bytes that are not UTF-8/)
  writeFileSync(join(home, 'named'), `machine x password ${KEY}\n`.repeat(20_000))
  t.match(await refusal({ NETRC: '~/named' }), /unreadable netrc: more than 1048576 bytes/)

  const wrong = [
    `${KEY}\n`,
    `${KEY}\r\nHost: evil`,
    ` ${KEY}`,
    `${KEY} x`,
    `api:${KEY}`,
    `${KEY}é`,
    `${KEY}\u2028`,
    `${KEY}\0`,
    'short',
    'x'.repeat(513)
  ]
  for (const key of wrong) {
    t.match(
      await refusal({ WANDB_API_KEY: key }),
      /^wandb wrong key: \d+ characters in WANDB_API_KEY, expected 8 to 512 of printable ASCII without white space and colon$/,
      encodeURIComponent(key)
    )
  }
  writeFileSync(join(home, 'named'), `default password "${KEY}\nx"\n`)
  t.match(await refusal({ NETRC: '~/named' }), /wrong key: 42 characters in netrc/)
  t.match(await refusal({ WANDB_API_KEY: KEY }, parseAddress(`https://wandb.example/${KEY}`)), /the API key in it/)
  t.match(await refusal({ WANDB_API_KEY: KEY }, parseAddress(`https://${KEY}.example`)), /the API key in it/)
})

t.test('the key is recognised in every spelling', t => {
  // Spelt by Python 3.11: base64, json.dumps, urllib.parse.quote, html.escape, and '%02x' of every character.
  const canary = 'Canary-"\\/+<&>%.0123456789abcdef?~z'
  const key = new ApiKey(canary, 'netrc')
  const spelt = [
    canary,
    'YXBpOkNhbmFyeS0iXC8rPCY+JS4wMTIzNDU2Nzg5YWJjZGVmP356',
    'YXBpOkNhbmFyeS0iXC8rPCY-JS4wMTIzNDU2Nzg5YWJjZGVmP356',
    'YXBpOkNhbmFyeS0iXC8rPCY\\u002BJS4wMTIzNDU2Nzg5YWJjZGVmP356',
    'YXBpOkNhbmFyeS0iXC8rPCY%2BJS4wMTIzNDU2Nzg5YWJjZGVmP356',
    'Q2FuYXJ5LSJcLys8Jj4lLjAxMjM0NTY3ODlhYmNkZWY/fno=',
    'Q2FuYXJ5LSJcLys8Jj4lLjAxMjM0NTY3ODlhYmNkZWY\\/fno=',
    'eCBBdXRob3JpemF0aW9uOiBhcGk6Q2FuYXJ5LSJcLys8Jj4lLjAxMjM0NTY3ODlhYmNkZWY/fnogbW9yZQ==',
    'eHlDYW5hcnktIlwvKzwmPiUuMDEyMzQ1Njc4OWFiY2RlZj9+eiBtb3Jl',
    '"Canary-\\"\\\\/+<&>%.0123456789abcdef?~z"',
    '"\\"Canary-\\\\\\"\\\\\\\\/+<&>%.0123456789abcdef?~z\\""',
    '"\\"\\\\\\"Canary-\\\\\\\\\\\\\\"\\\\\\\\\\\\\\\\/+<&>%.0123456789abcdef?~z\\\\\\"\\""',
    '\\u0043\\u0061\\u006e\\u0061\\u0072\\u0079\\u002d\\u0022\\u005c\\u002f\\u002b\\u003c\\u0026\\u003e\\u0025\\u002e\\u0030\\u0031\\u0032\\u0033\\u0034\\u0035\\u0036\\u0037\\u0038\\u0039\\u0061\\u0062\\u0063\\u0064\\u0065\\u0066\\u003f\\u007e\\u007a',
    '"\\\\u0043anary-\\\\u0022\\\\u005C\\\\u002F\\\\u002B\\\\u003C\\\\u0026\\\\u003E%.0123456789abcdef?~\\\\u007A"',
    'Canary-%22%5C%2F%2B%3C%26%3E%25.0123456789abcdef%3F~z',
    'Canary-%2522%255C%252F%252B%253C%2526%253E%2525.0123456789abcdef%253F~z',
    '%43%61%6e%61%72%79%2d%22%5c%2f%2b%3c%26%3e%25%2e%30%31%32%33%34%35%36%37%38%39%61%62%63%64%65%66%3f%7e%7a',
    'Canary-&quot;\\/+&lt;&amp;&gt;%.0123456789abcdef?~z',
    '&#67;&#97;&#110;ary-&#34;&#92;&#47;&#43;&#60;&#38;&#62;&#37;.0123456789abcdef&#63;&#126;&#122;',
    'Canary-&#x22;&#x5C;&#x2F;&#x2B;&#x3C;&#x26;&#x3E;&#x25;&#x2E;0123456789abcdef?~&#x7A;',
    'CANARY-"\\/+<&>%.0123456789ABCDEF?~Z',
    // json.dumps twice, the backslashes of the inner text escaped: a reader that decodes twice has the key
    '\\u005cu005cu0043anary-"\\/+<&>%.0123456789abcdef?~z',
    '"\\u005cu0043anary-\\u005c\\u0022\\u005c\\u005C/+<&>%.0123456789abcdef?~\\u005Cu007a"'
  ]
  for (const text of spelt) t.ok(key.occursIn(`{"x":"…${text}…"}`), text)
  for (const text of ['', 'Canary', canary.slice(1), canary.slice(0, -1), canary.replace('0', '1')]) t.notOk(key.occursIn(text), text)
  const plain = new ApiKey(KEY, 'netrc')
  t.ok(plain.occursIn(`x ${AUTHORIZATION} x`))
  t.ok(plain.occursIn(`"${KEY.replace('c', '\\u0063')}"`))
  t.ok(plain.occursIn(KEY.replace('c', '&#99;')))
  t.ok(plain.occursIn(KEY.replace('c', '%63')))
  t.notOk(plain.occursIn(JSON.stringify([JSON.stringify({ _step: 1, x: 0.5, sha: KEY.slice(1) })])))

  t.equal(inspect([key], { depth: Infinity, showHidden: true }), '[ [key], [length]: 1 ]')
  t.equal(`${key} ${JSON.stringify({ key })}`, '[key] {"key":"[key]"}')
  t.same(leaks(key, canary), [])
  t.ok(leaks({ at: { headers: [`Bearer ${canary}`] } }, canary).length > 0, 'the search finds a planted key')
  t.ok(leaks(new Error('x', { cause: { packet: Buffer.from(canary) } }), canary).length > 0, 'also in a buffer')
  t.end()
})

t.test('no text makes the search for the key slow', t => {
  const key = new ApiKey(KEY, 'netrc')
  for (const piece of ['\\', '%25', '&amp;', KEY.slice(0, -1), `&#${'0'.repeat(40)}`, '\\u003', '\\u005c', '\\u005cu005c']) {
    // the letter at the end makes an escape of the last backslash
    const text = `${piece.repeat(Math.ceil(2 ** 20 / piece.length))}n`
    const start = process.cpuUsage()
    t.notOk(key.occursIn(text))
    // a megabyte takes some 10 to 50 ms; a search that tries every length of a run would take minutes
    t.ok(cpuMs(start) < 5000, piece)
  }
  t.end()
})

/** The message of the Fault that a query ends with; nothing of the key is in anything that was thrown. */
async function refusal(t: Test, client: WandbClient): Promise<string> {
  const error = await faultOf(ask(client))
  t.equal(error.exitCode, 3)
  t.same(leaks(error, KEY), [], `no key: ${error.message}`)
  return error.message
}

t.test('a query is one POST', async t => {
  const { server, client, retries } = await session(t, [json({ data: { viewer: { id: 'Zürich' } }, errors: [] })])
  t.same(await ask(client), { viewer: { id: 'Zürich' } })
  const [{ method, url, headers, body }] = server.received
  t.same([method, url], ['POST', '/graphql'])
  t.same(JSON.parse(body), { query: 'query Viewer { viewer { id } }', variables: { a: [1, 'é'] } })
  t.match(headers, {
    authorization: AUTHORIZATION,
    'content-type': 'application/json',
    'accept-encoding': 'gzip',
    accept: 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'critic-traces'
  })
  t.same(retries, [])
})

t.test('a gzipped answer, an address below a path', async t => {
  const { server, client } = await session(t, [answer(200, gzipSync('{"data":{"é":1}}'), { 'Content-Encoding': 'GZIP' })])
  t.same(await ask(client), { é: 1 })
  const below = new WandbClient({ address: parseAddress(`${server.url}/tools/wandb/`), key: new ApiKey(KEY, 'netrc'), deadlineMs: 9000 })
  t.same(await ask(below), { é: 1 })
  below.close()
  t.equal(server.received[1].url, '/tools/wandb/graphql')
})

t.test('an IPv6 address', async t => {
  const server = await openServer([fine], undefined, '::1').catch((error: unknown) => String(error))
  if (typeof server === 'string') {
    t.comment(`skipped, no IPv6 on this machine: ${server}`)
    return
  }
  t.teardown(() => server.close())
  const client = new WandbClient({ address: parseAddress(server.url), key: new ApiKey(KEY, 'netrc'), deadlineMs: 9000 })
  t.same(await ask(client), { viewer: { id: 'v' } })
  t.equal(server.received[0].headers.host, new URL(server.url).host)
  client.close()
})

t.test('what is tried again waits 2 s, 4 s … 60 s, and a quarter more at most', async t => {
  const statuses = [408, 429, 500, 502, 503, 504, 599]
  const { server, client, clock, retries } = await session(t, [...statuses.map(s => json({ error: `say ${s}` }, s)), fine])
  t.same(await ask(client), { viewer: { id: 'v' } })
  t.equal(server.received.length, 8)
  t.same(clock.waits, [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  t.match(retries[0], { reason: 'HTTP 408 "say 408"', attempt: 1, waitMs: 2000 })
  t.same(
    retries.map(r => r.attempt),
    [1, 2, 3, 4, 5, 6, 7]
  )
  t.ok(server.received.every(({ headers, body }) => headers.authorization === AUTHORIZATION && body === server.received[0].body))

  const jittered = await session(t, [answer(503, ''), answer(503, ''), fine], { random: () => 0.5 })
  await ask(jittered.client)
  t.same(jittered.clock.waits, [2250, 4500])
})

t.test('what is not tried again', async t => {
  const about = {
    400: 'request failed: HTTP 400 "no", expected HTTP 200 (URL, the viewer)',
    401: 'refused: HTTP 401 "no", expected an API key that the server knows (URL, the viewer, key of netrc)',
    402: 'request failed: HTTP 402 "no", expected HTTP 200 (URL, the viewer)',
    403: 'refused: HTTP 403 "no", expected an API key that may read this (URL, the viewer, key of netrc)',
    404: 'project not found: HTTP 404 "no", expected a project of this name on this server, or a W&B server at this address (URL, the viewer)',
    409: 'request failed: HTTP 409 "no", expected HTTP 200 (URL, the viewer)',
    410: 'request failed: HTTP 410 "no", expected HTTP 200 (URL, the viewer)',
    413: 'request failed: HTTP 413 "no", expected HTTP 200 (URL, the viewer)',
    422: 'request failed: HTTP 422 "no", expected HTTP 200 (URL, the viewer)',
    501: 'request failed: HTTP 501 "no", expected HTTP 200 (URL, the viewer)',
    600: 'request failed: HTTP 600 "no", expected HTTP 200 (URL, the viewer)',
    999: 'request failed: HTTP 999 "no", expected HTTP 200 (URL, the viewer)',
    101: 'request failed: HTTP 101, expected HTTP 200 (URL, the viewer)',
    204: 'request failed: HTTP 204, expected HTTP 200 (URL, the viewer)'
  }
  for (const [status, message] of Object.entries(about)) {
    const reply: Reply =
      status === '101'
        ? response => response.socket?.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')
        : json({ errors: [{ message: 'no' }] }, Number(status), { 'Retry-After': '1' })
    const { server, client } = await session(t, [reply])
    t.equal(await refusal(t, client), `wandb ${message.replace('URL', server.url)}`)
    t.equal(server.received.length, 1)
  }
})

t.test('messages of errors are capped and escaped; without one the status stands alone', async t => {
  const message = async (reply: Reply): Promise<string> => refusal(t, (await session(t, [reply])).client)
  t.match(await message(json({ message: 'plain' }, 400)), /HTTP 400 "plain",/)
  t.match(
    await message(json({ errors: ['a\u001b[31m\n\u202e', { message: 'b' }, { code: 1 }, 'd', 'e'] }, 400)),
    /HTTP 400 "a\\u001b\[31m\\u000a\\u202e"; "b"; an error without a message and 2 more,/
  )
  t.match(await message(json({ error: { message: 'x'.repeat(5000) } }, 400)), /HTTP 400 "x{120}… \(5000 characters\)",/)
  for (const reply of [
    answer(400, '<html>login</html>'),
    answer(400, '"text"'),
    answer(400, Buffer.from([0xff])),
    json({ message: 3 }, 400),
    answer(400, 'not gzip', { 'Content-Encoding': 'gzip' }),
    answer(400, 'x', { 'Content-Encoding': 'br' }),
    answer(400, JSON.stringify({ message: 'y'.repeat(2 ** 20) })),
    partial(400, '{"message":"cut', CUT, socket => socket.end()),
    answer(400, gzipSync(JSON.stringify({ message: 'z'.repeat(2 ** 20) })), { 'Content-Encoding': 'gzip' })
  ])
    t.match(await message(reply), /^wandb request failed: HTTP 400, expected/)
})

t.test('an error whose body does not end is an error without a message', async t => {
  const { client, retries } = await session(
    t,
    [
      response => {
        response.writeHead(429, { 'Retry-After': '7' })
        const timer = setInterval(() => response.write(' '), 50)
        response.on('close', () => clearInterval(timer))
      },
      fine
    ],
    { errorMs: 200 }
  )
  t.same(await ask(client), { viewer: { id: 'v' } })
  t.match(retries, [{ reason: 'HTTP 429', waitMs: 7000 }])
})

t.test('Retry-After is obeyed', async t => {
  const dates = ['Wed, 07 Oct 2026 12:01:30 GMT', 'Wednesday, 07-Oct-26 12:01:30 GMT', 'Wed Oct  7 12:01:30 2026']
  const waits: Readonly<Record<string, number>> = {
    1: 1000,
    7: 7000,
    120: 120_000,
    ...Object.fromEntries(dates.map(d => [d, 90_000])),
    // nothing is asked for, so the ordinary wait
    0: 2000,
    'Wed, 07 Oct 2026 11:59:00 GMT': 2000
  }
  for (const [header, wait] of Object.entries(waits)) {
    const { client, clock, retries } = await session(t, [answer(429, '', { 'Retry-After': header }), fine])
    await ask(client)
    t.same(clock.waits, [wait], header)
    t.equal(retries[0].reason, 'HTTP 429')
  }
  for (const header of [
    'soon',
    '-5',
    '1.5',
    '0x10',
    '2026-10-07T12:01:30Z',
    'Wed, 99 Oct 2026 12:01:30 GMT',
    'Wed, 07 Foo 2026 12:01:30 GMT'
  ]) {
    const { client, clock, retries } = await session(t, [answer(503, '', { 'Retry-After': header }), fine])
    await ask(client)
    t.same(clock.waits, [2000], header)
    t.equal(retries[0].reason, 'HTTP 503, Retry-After not understood')
  }
  // An HTTP date is GMT, wherever the machine stands.
  const { TZ } = process.env
  t.teardown(() => {
    if (TZ === undefined) delete process.env['TZ']
    else process.env['TZ'] = TZ
  })
  process.env['TZ'] = 'America/New_York'
  t.equal(new Date(NOON).getHours(), 8)
  // Python 3.11: calendar.timegm(email.utils.parsedate(…)), the example of RFC 9110
  for (const date of ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994']) {
    t.equal(retryAfterMs(date, 784_111_000_000), 777_000)
  }
  for (const header of ['1800', '99999999999999999999999', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT']) {
    const { client, clock } = await session(t, [answer(429, '', { 'Retry-After': header })])
    t.match(
      await refusal(t, client),
      /^wandb deadline passed: HTTP 429 after 1 try, the next would be in \d+ s, expected an answer within 1800 s/
    )
    t.same(clock.waits, [], 'at once')
  }
})

t.test('the deadline ends the tries and says what the last one was', async t => {
  const { client, clock, server } = await session(t, [answer(500, ''), answer(502, '')], { deadlineMs: 100_000 })
  t.equal(
    await refusal(t, client),
    'wandb deadline passed: HTTP 502 after 6 tries, the next would be in 60 s, ' +
      `expected an answer within 100 s (${server.url}, the viewer)`
  )
  t.same(clock.waits, [2000, 4000, 8000, 16_000, 32_000])
  await clock.sleep(60_000)
  t.match(await refusal(t, client), /deadline passed: no answer to those before, expected/, 'the deadline is one for all requests')
  t.equal(server.received.length, 6)
  for (const deadlineMs of [0, -1, NaN, Infinity, 2 ** 31]) {
    t.throws(() => new WandbClient({ address: parseAddress(server.url), key: new ApiKey(KEY, 'netrc'), deadlineMs }), RangeError)
  }
})

t.test('the deadline ends a request that is under way, and the queue', async t => {
  const { client, server } = await session(t, [() => undefined], { deadlineMs: 1000 })
  const messages = await Promise.all(Array.from({ length: 5 }, () => refusal(t, client)))
  t.match(messages[0], /deadline passed: no answer yet, expected an answer within 1 s/)
  t.match(messages[4], /deadline passed: no answer to those before, expected an answer within 1 s/)
  t.equal(server.received.length, 4)
})

t.test('broken connections are tried again', async t => {
  const zipped = gzipSync(JSON.stringify({ data: { x: 'y'.repeat(1000) } }))
  const broken: Readonly<Record<string, Reply>> = {
    'connection reset (ECONNRESET)': response => response.socket?.resetAndDestroy(),
    'answer cut short': partial(200, HALF, CUT, socket => socket.end()),
    'answer cut short ': partial(200, HALF, CUT, socket => socket.resetAndDestroy()),
    'answer cut short  ': partial(200, HALF, { 'Transfer-Encoding': 'chunked' }, socket => socket.end()),
    'answer cut short   ': answer(200, zipped.subarray(0, -9), { 'Content-Encoding': 'gzip' }),
    'no byte for 1 s': () => undefined,
    'no byte for 1 s ': partial(200, HALF, {}, () => undefined)
  }
  for (const [reason, reply] of Object.entries(broken)) {
    const { client, clock, retries, server } = await session(t, [reply, fine], { idleMs: 1000 })
    t.same(await ask(client), { viewer: { id: 'v' } })
    t.match(retries, [{ reason: reason.trim(), attempt: 1, waitMs: 2000 }])
    t.same(clock.waits, [2000])
    t.equal(server.received.length, 2)
  }
  const { client, server } = await session(t, [fine], { deadlineMs: 5000 })
  await server.close()
  t.match(await refusal(t, client), /deadline passed: connection refused \(ECONNREFUSED\) after 2 tries, the next would be in 4 s/)
})

t.test('a slow answer is waited for as long as bytes come', async t => {
  const { client, retries } = await session(
    t,
    [
      response => {
        const text = `{"data":${' '.repeat(100)}{"slow":1}}`
        let at = 0
        const timer = setInterval(() => {
          if (at < text.length) response.write(text[at++])
          else clearInterval(timer)
          if (at === text.length) response.end()
        }, 20)
      }
    ],
    { idleMs: 1500 }
  )
  t.same(await ask(client), { slow: 1 })
  t.same(retries, [])
})

t.test('names that do not resolve', async t => {
  const failing =
    (code: string): LookupFunction =>
    (host, _options, done) => {
      done(Object.assign(new Error(`getaddrinfo ${code} ${host}`), { code }), '', 4)
    }
  const client = (code: string, clock = new TestClock(NOON)): WandbClient =>
    new WandbClient({
      address: parseAddress('https://wandb.example'),
      key: new ApiKey(KEY, 'netrc'),
      deadlineMs: 5000,
      clock,
      random: () => 0,
      lookup: failing(code)
    })
  const clock = new TestClock(NOON)
  t.equal(
    await refusal(t, client('ENOTFOUND', clock)),
    'wandb host unknown: no address of wandb.example (ENOTFOUND), ' +
      'expected a host that the name server knows (https://wandb.example, the viewer)'
  )
  t.same(clock.waits, [])
  t.match(await refusal(t, client('EAI_AGAIN', clock)), /deadline passed: no answer of the name server \(EAI_AGAIN\) after 2 tries/)
  t.same(clock.waits, [2000])
})

t.test('a server that speaks something else is not tried again', async t => {
  const greet = createServer(socket => {
    socket.on('error', () => socket.destroy())
    socket.once('data', data => socket.end(`220 mail ready ${data.toString()}\r\n`))
  })
  await new Promise<void>(resolve => greet.listen(0, '127.0.0.1', resolve))
  const { port } = greet.address() as AddressInfo
  const options = { key: new ApiKey(KEY, 'netrc'), deadlineMs: 5000, clock: new TestClock(NOON) }
  const plain = new WandbClient({ ...options, address: parseAddress(`http://127.0.0.1:${port}`) })
  t.match(await refusal(t, plain), /^wandb answer not HTTP: HPE_\w+, expected a server that speaks HTTP at 127\.0\.0\.1:\d+/)
  const secure = new WandbClient({ ...options, address: parseAddress(`https://127.0.0.1:${port}`) })
  t.match(await refusal(t, secure), /^wandb TLS failed: \w+, expected a server that speaks TLS at 127\.0\.0\.1:\d+/)
  plain.close()
  secure.close()
  greet.close()
})

t.test('HTTP 200 that is no answer is not tried again', async t => {
  const html = { 'Content-Type': 'text/html; charset=utf-8' }
  const cases: readonly (readonly [Reply, string])[] = [
    [json({ errors: [{ message: 'no project' }], data: { x: 1 } }), 'query refused: "no project", expected an answer without errors'],
    [
      json({ errors: ['plain', { message: 'two' }, 3, 'four'] }),
      'query refused: "plain"; "two"; an error without a message and 1 more, expected an answer without errors'
    ],
    [json({ errors: 'text', data: {} }), 'query refused: "text", expected an answer without errors'],
    [json({ error: 'down\n' }), 'query refused: "down\\u000a", expected an answer without errors'],
    [json({ error: { message: 'object' }, data: {} }), 'query refused: "object", expected an answer without errors'],
    [json({ data: null }), 'answer without data: data is null, expected an object'],
    [json({}), 'answer without data: data is missing, expected an object'],
    [json({ data: [1] }), 'answer without data: data is a list, expected an object'],
    [json([]), 'answer not GraphQL: a list, expected a GraphQL answer in JSON'],
    [json(null), 'answer not GraphQL: null, expected a GraphQL answer in JSON'],
    [
      answer(200, '<!DOCTYPE html><title>Log in</title>', html),
      'answer not JSON: an HTML page, of a login or a proxy perhaps, expected a GraphQL answer in JSON'
    ],
    [answer(200, '\n<html>'), 'answer not JSON: an HTML page, of a login or a proxy perhaps, expected a GraphQL answer in JSON'],
    [answer(200, ''), 'answer not JSON: nothing, expected a GraphQL answer in JSON'],
    [answer(200, '{"data":{"é":[1,NaN]}}'), 'answer not JSON: bare NaN at byte 17, expected JSON, which has no NaN or Infinity'],
    [
      answer(200, '{"data":{"a":"NaN","b":-Infinity}}'),
      'answer not JSON: bare -Infinity at byte 23, expected JSON, which has no NaN or Infinity'
    ],
    [answer(200, '{"data":{"a":1}} NaN'), 'answer not JSON: bare NaN at byte 17, expected JSON, which has no NaN or Infinity'],
    [answer(200, '{"data":{"a":1,}}'), 'answer not JSON: malformed at byte 15, expected a GraphQL answer in JSON'],
    [answer(200, '{"data":{"a":1,"a":1'), 'answer not JSON: malformed text, expected a GraphQL answer in JSON'],
    [answer(200, Buffer.from('{"data":{"\xff":1}}', 'latin1')), 'answer not UTF-8: other bytes, expected UTF-8'],
    [answer(200, '{}', { 'Content-Encoding': 'br' }), 'answer not readable: another encoding, expected gzip or no encoding'],
    [answer(200, '{}', { 'Content-Encoding': 'gzip' }), 'answer not readable: bytes that are not gzip, expected gzip or no encoding'],
    [
      answer(200, gzipSync(Buffer.alloc(64 * 2 ** 20 + 1, 32)), { 'Content-Encoding': 'gzip' }),
      'answer too large: more than 67108864 bytes, expected at most 67108864'
    ]
  ]
  for (const [reply, message] of cases) {
    const { client, server, retries } = await session(t, [reply])
    t.equal(await refusal(t, client), `wandb ${message} (${server.url}, the viewer)`)
    t.same([server.received.length, retries.length], [1, 0])
  }
  const large = await session(t, [answer(200, Buffer.concat([Buffer.alloc(64 * 2 ** 20 - 11, 32), Buffer.from('{"data":{}}')]))])
  t.same(await ask(large.client), {}, 'of 64 MiB to the byte')
})

t.test('redirects', async t => {
  const to = (status: number, location?: string): Reply => answer(status, '', location === undefined ? {} : { Location: location })
  const moved = await session(t, [to(307, '/elsewhere?x=1#y'), to(308, 'again'), fine])
  t.same(await ask(moved.client), { viewer: { id: 'v' } })
  t.same(
    moved.server.received.map(r => [r.method, r.url]),
    [
      ['POST', '/graphql'],
      ['POST', '/elsewhere?x=1'],
      ['POST', '/again']
    ]
  )
  t.ok(moved.server.received.every(r => r.headers.authorization === AUTHORIZATION && r.body === moved.server.received[0].body))
  t.same(moved.clock.waits, [])

  const five = await session(t, [...Array.from({ length: 5 }, () => to(307, '/graphql')), fine])
  await ask(five.client)
  const endless = await session(t, [to(307, '/graphql')])
  t.match(await refusal(t, endless.client), /^wandb too many redirects: more than 5/)
  t.equal(endless.server.received.length, 6)

  const elsewhere = await openServer([fine])
  t.teardown(() => elsewhere.close())
  const port = new URL(elsewhere.url).port
  const refused: readonly (readonly [Reply, RegExp])[] = [
    [
      to(307, elsewhere.url),
      new RegExp(
        `HTTP 307 to http://127\\.0\\.0\\.1:${port}, expected an answer from http://127\\.0\\.0\\.1:\\d+; the key is sent to no other`
      )
    ],
    [to(308, `http://localhost:${port}/`), new RegExp(`HTTP 308 to http://localhost:${port}, `)],
    [to(302, 'https://login.example/path-of-login?next=x'), /HTTP 302 to https:\/\/login\.example, /],
    [to(307, '//other.example'), /HTTP 307 to http:\/\/other\.example, /],
    [to(301, '/graphql'), /HTTP 301 to http:\/\/127\.0\.0\.1:\d+, expected an answer from .*, or HTTP 307 or 308/],
    [to(303, '/graphql'), /HTTP 303 to/],
    [to(307), /HTTP 307 without a location/],
    [to(304), /HTTP 304 without a location/],
    [to(307, 'http://[bad'), /HTTP 307 without a location/],
    [to(307, 'javascript:alert(1)'), /HTTP 307 to javascript:\/\/, /],
    [to(307, 'http://caf\u00e9\u00ad.example/'), /HTTP 307 to http:\/\/[a-z0-9.-]+\.example, /]
  ]
  for (const [reply, message] of refused) {
    const { client, server } = await session(t, [reply])
    const said = await refusal(t, client)
    t.match(said, message)
    t.match(said, /^wandb redirect refused: HTTP/)
    t.notMatch(said, /path-of-login/)
    t.equal(server.received.length, 1)
  }
  for (const before of ['http://user:pw@', 'http://user@', 'http://:pw@', 'https://']) {
    const { client, server } = await session(t, [
      (response, request) => to(307, `${before}${request.headers.host}/graphql`)(response, request)
    ])
    t.match(await refusal(t, client), /^wandb redirect refused: HTTP 307 to https?:\/\/127\.0\.0\.1:\d+, /, before)
    t.equal(server.received.length, 1)
  }
  t.same(elsewhere.received, [])
})

t.test('an answer with the key in it is withheld', async t => {
  const base64 = AUTHORIZATION.slice(6)
  const echoes: Readonly<Record<string, Reply>> = {
    data: json({ data: { x: KEY } }),
    'message of an error': json({ errors: [{ message: `bad key ${KEY}` }] }),
    'header in base64': json({ errors: [`Authorization: ${AUTHORIZATION}`] }),
    'status 401': json({ message: base64 }, 401),
    'status 500': json({ message: KEY }, 500),
    escaped: answer(200, `{"data":{"x":"${KEY.replaceAll('c', '\\u0063')}"}}`),
    'no JSON': answer(200, `<html>${KEY}</html>`),
    'no UTF-8': answer(400, Buffer.from(`\xff${KEY}`, 'latin1')),
    'bare NaN': answer(200, `{"${KEY}":NaN}`),
    gzip: answer(200, gzipSync(JSON.stringify({ data: { x: `a${base64}b` } })), { 'Content-Encoding': 'gzip' }),
    location: answer(307, '', { Location: `https://${KEY}.example/` }),
    'location in a query': answer(302, '', { Location: `https://login.example/?auth=${encodeURIComponent(AUTHORIZATION)}` }),
    'body of a redirect': answer(302, KEY, { Location: 'https://login.example/' }),
    'Retry-After': answer(503, '', { 'Retry-After': KEY }),
    'another header': json({ data: { x: 1 } }, 200, { 'X-Echo': AUTHORIZATION })
  }
  for (const [where, reply] of Object.entries(echoes)) {
    const { client, server } = await session(t, [reply])
    t.equal(
      await refusal(t, client),
      `wandb answer with the key: withheld, expected an answer without it (${server.url}, the viewer)`,
      where
    )
    t.equal(server.received.length, 1)
  }
  // What cannot be looked through is not quoted either.
  for (const reply of [
    partial(400, `{"message":"${KEY}`, CUT, socket => socket.end()),
    answer(400, KEY, { 'Content-Encoding': 'gzip' }),
    answer(400, KEY, { 'Content-Encoding': 'br' }),
    answer(400, `{"message":"${KEY}${' '.repeat(2 ** 20)}"}`)
  ])
    t.match(await refusal(t, (await session(t, [reply])).client), /HTTP 400, expected/)
  t.match(await refusal(t, (await session(t, [answer(200, '', { 'Content-Encoding': KEY })])).client), /another encoding/)
})

t.test('four are under way at most, the others wait in order', async t => {
  const held: (() => void)[] = []
  const { client, server } = await session(t, [
    (response, request) => {
      held.push(() => fine(response, request))
    }
  ])
  const finished: number[] = []
  const all = Promise.all(
    Array.from({ length: 11 }, async (_, i) => {
      await client.query('query', { i }, 'x')
      finished.push(i)
    })
  )
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise(resolve => setImmediate(resolve))
  }
  for (let answered = 0; answered < 11; answered++) {
    await until(() => held.length === Math.min(11, answered + 4))
    held[answered]()
    await until(() => finished.length === answered + 1)
  }
  await all
  t.equal(server.mostUnderWay(), 4)
  t.same(
    server.received.map(r => (JSON.parse(r.body) as { variables: { i: number } }).variables.i),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  )
})

t.test('a place is given back when a query fails', async t => {
  const { client, server } = await session(t, [...Array.from({ length: 6 }, () => answer(400, '')), fine])
  for (let i = 0; i < 6; i++) t.match(await refusal(t, client), /HTTP 400/)
  t.same(await Promise.all([1, 2, 3, 4, 5].map(() => ask(client))), Array(5).fill({ viewer: { id: 'v' } }))
  t.equal(server.received.length, 11)
})

t.test('a signal ends what runs, sleeps and waits, at once and with its reason', async t => {
  const reason = new Error('Ctrl-C')
  const thrown = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'answered',
      (error: unknown) => error
    )

  const stop = new AbortController()
  const running = await session(t, [() => undefined], { signal: stop.signal })
  const asked = Array.from({ length: 6 }, () => thrown(ask(running.client)))
  while (running.server.received.length < 4) await new Promise(resolve => setImmediate(resolve))
  stop.abort(reason)
  for (const outcome of await Promise.all(asked)) t.equal(outcome, reason, 'running and waiting')
  t.equal(await thrown(ask(running.client)), reason, 'asked later')
  t.equal(running.server.received.length, 4)

  const wake = new AbortController()
  const { systemClock } = await import('../src/fetch/retry.js')
  const sleeping = await session(t, [answer(503, '', { 'Retry-After': '600' })], {
    signal: wake.signal,
    clock: systemClock,
    onRetry: () => setTimeout(() => wake.abort(reason), 20)
  })
  const start = performance.now()
  t.equal(await thrown(ask(sleeping.client)), reason, 'asleep')
  t.ok(performance.now() - start < 300_000, 'not the ten minutes that the server asks for')

  const half = new AbortController()
  const reading = await session(t, [response => response.write('{', () => setTimeout(() => half.abort(reason), 20))], {
    signal: half.signal
  })
  t.equal(await thrown(ask(reading.client)), reason, 'in the middle of an answer')

  const early = await session(t, [fine], { signal: AbortSignal.abort(reason) })
  t.equal(await thrown(ask(early.client)), reason, 'before it began')
  t.equal(early.server.received.length, 0)
})

t.test('a closed client ends what is under way', async t => {
  const { client, server } = await session(t, [() => undefined])
  const asked = Promise.allSettled([ask(client), ask(client)])
  while (server.received.length < 2) await new Promise(resolve => setImmediate(resolve))
  client.close()
  client.close()
  for (const outcome of await asked) t.match(outcome, { status: 'rejected', reason: { message: 'the client is closed' } })
  await t.rejects(ask(client), { message: 'the client is closed' })
})

interface ChildRun {
  readonly output: { readonly data?: unknown; readonly fault?: string; readonly all?: string }
  readonly everything: string
}

function runChild(args: readonly string[], env: Readonly<Record<string, string>>): Promise<ChildRun> {
  const script = fileURLToPath(new URL('./support/wandb-child.js', import.meta.url))
  return new Promise((resolve, reject) => {
    const options = { env: { HOME: folder, WANDB_API_KEY: KEY, ...env }, timeout: 600_000, maxBuffer: 2 ** 26 }
    execFile(process.execPath, [script, ...args], options, (error, stdout, stderr) => {
      if (error !== null) reject(error)
      else resolve({ output: JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as ChildRun['output'], everything: stdout + stderr })
    })
  })
}

t.test('certificates are checked, whatever the environment says', async t => {
  const [authority, expired] = [join(folder, 'authority.pem'), join(folder, 'expired.pem')]
  writeFileSync(authority, certificate)
  writeFileSync(expired, expiredCertificate)
  const good = await openServer([fine], { key: tlsKey, cert: certificate })
  const old = await openServer([fine], { key: tlsKey, cert: expiredCertificate })
  t.teardown(() => Promise.all([good.close(), old.close()]))
  const [unchecked, byAddress, late, trusted] = await Promise.all([
    runChild([good.url, 'leave'], { NODE_TLS_REJECT_UNAUTHORIZED: '0' }),
    runChild([good.url.replace('localhost', '127.0.0.1'), 'leave'], { NODE_EXTRA_CA_CERTS: authority }),
    runChild([old.url, 'close'], { NODE_EXTRA_CA_CERTS: expired }),
    runChild([good.url, 'leave'], { NODE_EXTRA_CA_CERTS: authority })
  ])
  t.match(
    unchecked.output.fault,
    /^wandb certificate refused: self-signed \(DEPTH_ZERO_SELF_SIGNED_CERT\), expected a certificate for localhost that this machine trusts; NODE_EXTRA_CA_CERTS can name/
  )
  t.match(
    byAddress.output.fault,
    /^wandb certificate refused: for another host \(ERR_TLS_CERT_ALTNAME_INVALID\), expected a certificate for 127\.0\.0\.1/
  )
  t.match(late.output.fault, /^wandb certificate refused: expired \(CERT_HAS_EXPIRED\)/)
  t.same(trusted.output, { data: { viewer: { id: 'v' } } })
  t.equal(good.received.length, 1, 'no request, and so no key, reached a server that was refused')
  t.equal(old.received.length, 0)
  for (const { everything } of [unchecked, byAddress, late, trusted]) t.same(leaks(everything, KEY), [])
})

t.test("the process ends by itself, and not even node's own log has the key", async t => {
  const server = await openServer([fine, answer(401, ''), fine])
  t.teardown(() => server.close())
  t.same((await runChild([server.url, 'leave'], {})).output, { data: { viewer: { id: 'v' } } })
  t.match(
    (await runChild([server.url, 'leave'], {})).output.fault,
    /HTTP 401, expected an API key that the server knows \(.*, the viewer, key of WANDB_API_KEY\)$/
  )
  const logged = await runChild([server.url, 'close'], { NODE_DEBUG: 'http,https,net,tls,stream,timer' })
  t.same(logged.output, { data: { viewer: { id: 'v' } } })
  t.ok(logged.everything.includes('HTTP '), 'node did log')
  t.same(leaks(logged.everything, KEY), [])
})

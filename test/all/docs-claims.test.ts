/** The examples of docs/claims.md and docs/article.md, run as a reader would: what the documents show is what comes out. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { claimsJsonSchema } from '../../src/study/claims.js'
import { runCli, type CliResult } from '../support/cli.js'
import { root } from '../support/paths.js'

const CLAIMS = readFileSync(join(root, 'docs/claims.md'), 'utf8')
const ARTICLE = readFileSync(join(root, 'docs/article.md'), 'utf8')

/** Fenced blocks below a line that begins with a file name in backticks and ends with a colon, by that name. */
function files(markdown: string): Map<string, string> {
  return new Map([...markdown.matchAll(/^`([^`]+)`[^\n]*:\n\n```\w+\n([\s\S]*?)^```$/gm)].map(([, name, text]) => [name, text]))
}

/** Fenced blocks without a language: what the program prints. */
function printed(markdown: string): string[] {
  return [...markdown.matchAll(/\n\n```\n([\s\S]*?)\n```$/gm)].map(([, text]) => text)
}

interface Example {
  readonly dir: string
  readonly out: string
}

function write(dir: string, name: string, text: string): void {
  mkdirSync(dirname(join(dir, name)), { recursive: true })
  writeFileSync(join(dir, name), text)
}

/** The study of docs/claims.md; with `article`, that of docs/article.md. Without a manifest. */
function example(t: Test, { article = false }: { readonly article?: boolean } = {}): Example {
  const folder = t.testdir()
  const dir = join(folder, 'my-study')
  for (const [name, text] of files(CLAIMS)) write(dir, name, text)
  if (article) {
    const { 'study.json': added, ...templates } = Object.fromEntries(files(ARTICLE))
    for (const [name, text] of Object.entries(templates)) write(dir, name, text)
    const stated = JSON.parse(readFileSync(join(dir, 'study.json'), 'utf8')) as object
    write(dir, 'study.json', JSON.stringify({ ...stated, ...(JSON.parse(added) as object) }))
  }
  return { dir, out: join(folder, 'out') }
}

function change({ dir }: Example, name: string, from: string, to: string): void {
  const before = readFileSync(join(dir, name), 'utf8')
  const after = before.replace(from, to)
  if (after === before) throw new Error(`${name} has no ${from}`)
  writeFileSync(join(dir, name), after)
}

const manifest = ({ dir }: Example): Promise<CliResult> => runCli(['manifest', '--study', dir, '--write', '--quiet'])
const all = ({ dir, out }: Example, ...more: readonly string[]): Promise<CliResult> =>
  runCli(['all', '--study', dir, '--out', out, ...more])
const audit = ({ dir }: Example): Promise<CliResult> => runCli(['audit', '--study', dir])

interface Properties {
  readonly [name: string]: { readonly items?: { readonly properties?: object } }
}

t.test('docs/claims.md has every field and every kind', t => {
  const { properties } = claimsJsonSchema() as unknown as { readonly properties: Properties }
  const named = Object.entries(properties).flatMap(([name, { items }]) => [
    name,
    ...Object.keys(items?.properties ?? {}).map(field => `${name}[].${field}`)
  ])
  t.equal(named.length, 7 + 10 + 5 + 8 + 5)
  const sources = ['value', 'decimals', 'reference'].map(field => `discrepancies[].sources.*.${field}`)
  const same = ['reference', 'scale'].map(field => `same[].sources.*.${field}`)
  for (const name of [...named, ...same, ...sources]) t.ok(CLAIMS.includes(`\n| \`${name}\` | `), name)
  for (const kind of ['computed', 'config', 'quoted', 'source']) t.ok(CLAIMS.includes(`\n| \`${kind}\` | `), kind)
  t.end()
})

t.test('the example of docs/claims.md', async t => {
  const study = example(t)
  t.strictSame([...files(CLAIMS).keys()], ['study.json', 'wandb/runs.json', 'wandb/history/ppo/a1.jsonl', 'claims.json'])
  const bare = await all(study)
  t.equal(bare.code, 3)
  t.equal(
    bare.stderr,
    `critic-traces: manifest missing file: nothing, expected a manifest; "node dist/run.js manifest --study ${study.dir} --write" writes one (${join(study.dir, 'source_manifest.json')})\n`
  )
  for (const command of ['audit', 'verify']) t.match(await runCli([command, '--study', study.dir]), { code: 3, stderr: bare.stderr })
  t.equal((await manifest(study)).code, 0)
  const [said, differs] = printed(CLAIMS.slice(CLAIMS.indexOf('\n## An example')))
  for (const result of [await all(study), await audit(study)]) {
    t.equal(result.code, 0, result.stderr)
    t.ok(result.stdout.includes(`\n${said}\n`))
  }
  const report = JSON.parse(readFileSync(join(study.out, 'audit.json'), 'utf8')) as {
    readonly claims: readonly { readonly id: string; readonly status: string }[]
  }
  t.strictSame(
    report.claims.map(({ id, status }) => [id, status]),
    [
      ['best.score', 'agrees'],
      ['reward.ends', 'agrees'],
      ['report.score', 'quoted']
    ]
  )
  t.ok(existsSync(join(study.out, 'figures/03-training.png')))

  change(study, 'claims.json', '60.9', '60.8')
  t.match((await all(study)).stderr, /manifest file differs/)
  await manifest(study)
  for (const { code, stderr } of [await all(study), await audit(study)]) {
    t.equal(code, 1)
    t.ok(stderr.includes(`${differs}\n`), stderr)
  }
})

t.test('one digit of the example, anywhere, and it fails', async t => {
  for (const [name, from, to] of [
    ['claims.json', '0.15, 0.45', '0.15, 0.46'],
    ['claims.json', '"value": 61.2, "decimals": 1, "unit"', '"value": 61.3, "decimals": 1, "unit"'],
    ['claims.json', '{ "value": 61.2', '{ "value": 61.1'],
    ['wandb/history/ppo/a1.jsonl', '0.6094', '0.6084'],
    ['study.json', '"value": 61.2', '"value": 61.3']
  ]) {
    const study = example(t)
    change(study, name, from, to)
    await manifest(study)
    t.equal((await audit(study)).code, 1, `${name}: ${from}`)
  }
})

t.test('the example of docs/article.md', async t => {
  const study = example(t, { article: true })
  t.equal((await manifest(study)).code, 0)
  const result = await all(study)
  t.equal(result.code, 0, result.stderr)
  t.match(result.stdout, '1 contradiction of the sources: 1 disclosed, 0 not, 0 not checked\n')
  const article = readFileSync(join(study.out, 'article.md'), 'utf8')
  const [begins] = printed(ARTICLE)
  t.ok(article.startsWith(`# One run and its report\n\n${begins}\n`), article.slice(0, 120))
  t.ok(article.includes('| first two | 0.15 |\n| last two | 0.45 |\n'))
  t.ok(article.includes('The report says 61.2%, the history 60.9%.'))
  t.ok(article.includes('release 2.1, with the checkpoint `step-2`'))
  const pages = ['article.md', 'preview/article.html', 'preview/source-notes.html', 'source-notes.md']
  const figures = ['figures/03-training.pdf', 'figures/03-training.png', 'figures/03-training.svg']
  t.strictSame(written(study), [...pages, ...figures].sort())

  // Into the same folder: docs/outputs.md says what goes.
  for (const [more, left] of [
    ['--formats=svg', ['figures/03-training.svg']],
    ['--no-figures', []]
  ] as const) {
    t.match(await all(study, more), { code: 0, stdout: 'no pages: they are made of the figures as PNG' })
    t.strictSame(written(study), left, more)
  }
})

/** Pages and figures in the output folder. */
function written({ out }: Example): string[] {
  return readdirSync(out, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(out.length + 1))
    .filter(path => /\.(?:md|html|png|svg|pdf)$/.test(path))
    .sort()
}

t.test('what the article of the example must and must not say', async t => {
  const typed =
    'template number typed by hand: fifteen, expected a reference; {{written …}} for what is no value, or code for a name (article/article.md, line 4, column 102)'
  const changes: readonly (readonly [string, string, number, string])[] = [
    ['The report says {{', 'The report has {{', 1, 'best-score: no page says: The report says'],
    ['score is used.', 'score is used: a best score of {{written 61}}.', 1, 'article.md has what it must not say: best score of 61'],
    ['score is used.', 'score is used; the mean is {{written 61.1}}.', 1, 'article.md has 61.07, the mean of report, Table 1 and history'],
    ['both curves', 'fifteen points', 3, typed]
  ]
  for (const [from, to, exitCode, problem] of changes) {
    const study = example(t, { article: true })
    change(study, 'article/article.md', from, to)
    await manifest(study)
    const { code, stderr } = await audit(study)
    t.equal(code, exitCode, to)
    t.ok(stderr.includes(problem), stderr)
  }
})

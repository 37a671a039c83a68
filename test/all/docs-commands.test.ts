/**
 * The documents for newcomers: every block of commands in the README's "Your own run", docs/formats.md and docs/tutorial.md is run word
 * for word, in their order, and must print what stands below it. Links of all documents lead somewhere.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { WITHOUT_NUMPY } from '../support/python.js'
import { root } from '../support/paths.js'
import { likeCheckout, runShell } from '../support/shell.js'

interface Block {
  readonly language: string
  readonly text: string
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({ language, text }))
}

/** Words of a line: columns of a table may be wider where it is printed. */
function words(line: string): string {
  return line.trim().split(/\s+/).join(' ')
}

function checkout(t: Test): string {
  const dir = t.testdir()
  likeCheckout(dir)
  return dir
}

/**
 * Runs the blocks in a folder, by default one of their own. A `python` block whose first line is `# NAME.py` is that file, an `sh` block is run, each line of a
 * `text` block is in a line that the commands before it printed.
 */
async function follow(t: Test, blocks: readonly Block[], dir = checkout(t)): Promise<string> {
  let printed: string[] = []
  let runs = 0
  for (const { language, text } of blocks) {
    const file = /^# (\w+\.py)\n/.exec(text)?.[1]
    if (language === 'python' && file !== undefined) writeFileSync(join(dir, file), text)
    if (language === 'text') {
      for (const line of text.trimEnd().split('\n'))
        t.ok(
          printed.some(own => own.includes(words(line))),
          line
        )
    }
    if (language !== 'sh') continue
    const { code, stdout, stderr } = await runShell(text, dir)
    t.equal(code, 0, `${text}\n${stderr}`)
    printed = stdout.split('\n').map(words)
    runs++
  }
  t.ok(runs > 0)
  return dir
}

function section(markdown: string, heading: string): string {
  const from = markdown.indexOf(`\n## ${heading}\n`)
  const to = markdown.indexOf('\n## ', from + 1)
  return markdown.slice(from, to < 0 ? undefined : to)
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

t.test("README: a run of one's own, then docs/tutorial.md in the same folder", { skip: WITHOUT_NUMPY }, async t => {
  const blocks = blocksOf(section(read('README.md'), 'Your own run'))
  const python = blocks.filter(({ language }) => language === 'python').map(({ text }) => text.trimEnd().split('\n').length)
  t.ok(python.length === 1 && python[0] <= 10, 'ten lines of Python')
  const dir = await follow(t, blocks)
  for (const name of ['figures/08-critic-traces.png', 'training_data/critic-trace-trajectories.csv']) {
    t.ok(existsSync(join(dir, 'artifacts/own', name)), name)
  }
  await follow(t, blocksOf(read('docs/tutorial.md')), dir)
})

t.test('docs/formats.md: the example, and texts', async t => {
  for (const heading of ['An example', 'Texts']) await follow(t, blocksOf(section(read('docs/formats.md'), heading)))
})

t.test('docs/tutorial.md', { skip: WITHOUT_NUMPY }, async t => {
  await follow(t, blocksOf(read('docs/tutorial.md')))
})

t.test(
  'docs/formats.md: what it shows of the other kinds is read, and page and NPZ file hold the same',
  { skip: WITHOUT_NUMPY },
  async t => {
    const shown = (heading: string, language: string): string => {
      const kinds = read('docs/formats.md').split('\n### ')
      const blocks = blocksOf(kinds.find(text => text.startsWith(heading)) ?? '')
      const block = blocks.find(one => one.language === language)
      if (block === undefined) throw new Error(`no ${language} in ${heading}`)
      return block.text
    }
    const dir = t.testdir({ one: {}, batch: {} })
    likeCheckout(dir)
    const arrays = `import numpy as np
mask = np.array([1, 1, 0, 0, 1, 1])
values = np.array([0.25, 0.25, 0, 0, 0.75, 0.875])
returns, score = np.ones(6), 1
`
    writeFileSync(join(dir, 'one/write.py'), arrays + shown('One NPZ file a trace', 'python'))
    writeFileSync(
      join(dir, 'batch/write.py'),
      `${arrays}values, returns, response_mask, score, uid = values[None], returns[None], mask[None], [score], ["a"]\n${shown('Padded batches', 'python')}`
    )
    const made = await runShell('cd one && python3 write.py && cd ../batch && python3 write.py && rm write.py ../one/write.py', dir)
    t.same([made.code, made.stderr], [0, ''])
    const statistics = async (folder: string): Promise<unknown> => {
      const { stdout, stderr } = await runShell(`node dist/run.js traces ${folder} --json --quiet --no-figures --out out-${folder}`, dir)
      t.equal(stderr, '')
      const { snapshots } = JSON.parse(stdout) as {
        readonly snapshots: readonly [{ readonly statistics: { readonly [name: string]: unknown } }]
      }
      const { traces, tokens, steps, verified, boundary } = snapshots[0].statistics
      return { traces, tokens, steps, verified, boundary: (boundary as { readonly mean_abs_change: unknown }).mean_abs_change }
    }
    const alone = { traces: 1, tokens: 4, steps: [7, 7], verified: false, boundary: 0.5 }
    t.same(await statistics('one'), alone)
    t.same(await statistics('batch'), alone)
    writeFileSync(join(dir, 'one/index.html'), shown('A page', 'html'))
    t.same(await statistics('one'), { ...alone, verified: true })
  }
)

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

t.test('links lead to files and headings that are there', async t => {
  const docs = readdirSync(join(root, 'docs')).filter(name => name.endsWith('.md'))
  const paths = ['README.md', 'CONTRIBUTING.md', 'src/README.md', 'deploy/README.md', ...docs.map(name => `docs/${name}`)]
  let links = 0
  for (const path of paths) {
    const prose = read(path).replace(/^```[\s\S]*?^```$/gm, '')
    for (const [, target] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      links++
      const [file, anchor] = target.split('#')
      const found = file === '' ? path : join(dirname(path), file)
      if (!existsSync(join(root, found))) t.fail(`${path}: ${target}`)
      else if (anchor !== undefined) {
        const headings = [...read(found).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading))
        if (!headings.includes(anchor)) t.fail(`${path}: ${target}`)
      }
    }
  }
  t.ok(links > 50, `${links} links`)
})

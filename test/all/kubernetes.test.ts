/** The manifests of deploy/kubernetes: kinds of the API, and what their containers do with the variables that Kubernetes sets. */
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Job } from 'kubernetes-types/batch/v1.js'
import t from 'tap'
import ts from 'typescript'
import { parse } from 'yaml'
import { EXIT } from '../../src/core/errors.js'
import { runCli, type CliResult } from '../support/cli.js'
import { root } from '../support/paths.js'
import { mergedOutputsOf, outputsOf, writeInputs } from '../support/shards.js'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string }
const [shards, merge] = ['shards', 'merge'].map(name => parse(readFileSync(join(root, `deploy/kubernetes/${name}.yaml`), 'utf8')) as Job)

/** What the compiler says of documents as Jobs of the API: unknown keys, wrong types and missing fields at any depth. */
function faultsOfJobs(jobs: readonly unknown[]): ReadonlyArray<readonly string[]> {
  const type = "Job & Required<Pick<Job, 'apiVersion' | 'kind' | 'metadata' | 'spec'>>"
  const texts = new Map(
    jobs.map((job, k) => [
      join(root, `test/all/job-${k}.ts`),
      `import type { Job } from 'kubernetes-types/batch/v1.js'\nexport const job: ${type} = ${JSON.stringify(job)}\n`
    ])
  )
  const module = ts.ModuleKind.NodeNext
  const options: ts.CompilerOptions = { module, target: ts.ScriptTarget.ES2022, strict: true, noEmit: true, types: [] }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = path => texts.has(path) || fileExists(path)
  host.getSourceFile = (path, language, ...rest) => {
    const text = texts.get(path)
    return text === undefined ? getSourceFile(path, language, ...rest) : ts.createSourceFile(path, text, language)
  }
  const program = ts.createProgram([...texts.keys()], options, host)
  return [...texts.keys()].map(path =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  )
}

/** The one container of a Job, with what the tests need of it. */
function containerOf({ spec }: Job) {
  const { containers, volumes = [] } = spec?.template.spec ?? { containers: [] }
  const [{ name, image, args = [], env = [], volumeMounts = [] }] = containers
  return { containers, name, image, args, env: Object.fromEntries(env.map(({ name, value = '' }) => [name, value])), volumes, volumeMounts }
}

function exitCodesOf({ spec }: Job): unknown {
  return spec?.podFailurePolicy?.rules.flatMap(({ onExitCodes }) => (onExitCodes === undefined ? [] : [onExitCodes]))
}

/** Runs the program as the image does, in a folder that stands for the volume. */
function runIn(data: string, job: Job, env: Readonly<Record<string, string>> = {}): Promise<CliResult> {
  const { args, env: own } = containerOf(job)
  return runCli(
    args.map(arg => arg.replace(/^\/data(?=\/)/, data)),
    { env: { ...own, ...env } }
  )
}

async function writeDumps(data: string, names: readonly string[]): Promise<void> {
  const inputs = await writeInputs(join(data, 'inputs'))
  for (const name of names) cpSync(inputs[name], join(data, 'dumps', name), { recursive: true })
}

t.test('the manifests are Jobs of the API', t => {
  t.strictSame(faultsOfJobs([shards, merge]), [[], []])
  for (const job of [shards, merge]) {
    const { containers, image, volumes, volumeMounts, args } = containerOf(job)
    t.equal(containers.length, 1)
    t.equal(image, `critic-traces:${version}`)
    t.strictSame(
      volumeMounts.map(({ name }) => name),
      volumes.map(({ name }) => name)
    )
    for (const path of args.filter(arg => arg.startsWith('/'))) t.ok(volumeMounts.some(({ mountPath }) => path.startsWith(`${mountPath}/`)))
  }
  t.equal(containerOf(shards).env['SHARD_COUNT'], String(shards.spec?.completions))
  t.end()
})

t.test('an unknown key, a wrong type and a missing field are faults', t => {
  const container = ['spec', 'template', 'spec', 'containers', '0']
  const cases: ReadonlyArray<readonly [path: readonly string[], value: unknown, fault: RegExp]> = [
    [['spec', 'completion'], 8, /"completion"' does not exist in type 'JobSpec'/],
    [[...container, 'volumeMounts', '0', 'path'], '/data', /"path"' does not exist in type 'VolumeMount'/],
    [['spec', 'completions'], '8', /Type 'string' is not assignable to type 'number'/],
    [[...container, 'env', '0', 'value'], 8, /Type 'number' is not assignable to type 'string'/],
    [['kind'], 'Jobs', /Type '"Jobs"' is not assignable to type '"Job"'/],
    [['spec', 'template'], undefined, /Property 'template' is missing/]
  ]
  const changed = cases.map(([path, value]) => {
    const job = structuredClone(shards)
    let holder = job as unknown as Record<string, unknown>
    for (const name of path.slice(0, -1)) holder = holder[name] as Record<string, unknown>
    holder[path.at(-1) ?? ''] = value
    return job
  })
  for (const [k, found] of faultsOfJobs(changed).entries()) t.match(found, [cases[k][2]])
  t.end()
})

t.test('the pods of the Job, and then the merge: the bytes of one machine', async t => {
  const data = t.testdir()
  await writeDumps(data, ['page', 'padded', 'lines'])
  for (const command of [['traces', '--no-arrow'], ['diagnose']])
    t.match(await runCli([...command, join(data, 'dumps'), '--out', join(data, 'whole')]), { code: 0 })
  for (let index = shards.spec?.completions ?? 0; index-- > 0; ) {
    t.match(await runIn(data, shards, { JOB_COMPLETION_INDEX: String(index) }), { code: 0 })
  }
  t.match(await runIn(data, merge), { code: 0 })
  t.strictSame(mergedOutputsOf(join(data, 'out')), outputsOf(join(data, 'whole')))
})

t.test('a pod is not started again after the exit codes that stay the same', async t => {
  const final = { operator: 'In', values: [EXIT.checkFailed, EXIT.usage] }
  t.strictSame(exitCodesOf(shards), [{ containerName: containerOf(shards).name, ...final }])
  t.strictSame(exitCodesOf(merge), [{ containerName: containerOf(merge).name, ...final }])
  const [good, bad, empty] = ['good', 'bad', 'empty'].map(name => join(t.testdirName, name))
  t.testdir({ good: {}, bad: {}, empty: {} })
  await writeDumps(good, ['page'])
  await writeDumps(bad, ['bad'])
  const code = async (data: string, job: Job, index = 0): Promise<number | null> =>
    (await runIn(data, job, { JOB_COMPLETION_INDEX: String(index) })).code
  t.equal(await code(bad, shards, 1), EXIT.checkFailed, 'a value that is no number')
  t.equal(await code(good, shards, 8), EXIT.usage, 'a task beyond the number of shards')
  t.equal(await code(empty, shards), EXIT.badInput, 'a volume without dumps')
  t.equal(await code(good, shards), EXIT.ok)
  t.equal(await code(good, merge), EXIT.badInput, 'seven shards are missing')
})

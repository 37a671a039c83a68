/**
 * The audit, tested by mutation: one digit, row, byte, hash, key or number of the prose is changed at a time, and something
 * must notice. The seed is fixed. Each mutation is tried twice: without a manifest (as if it had been rewritten over the change),
 * so that only a check or the audit can notice, where a published value depends on the place; and against the manifest as
 * it was. How the places are chosen is said where they are: history-mutations.ts, trace-mutations.ts, evidence-mutations.ts and claim-mutations.ts in test/support/mutations.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { DATASETS, writeParquet } from '../../src/replica/evidence/datasets.js'
import { evidence as evidencePart } from '../../src/replica/evidence.js'
import { Random as Seeded } from '../../src/replica/random.js'
import { defaultCacheDir, ensureReplica } from '../../src/replica/index.js'
import { manifestFaults } from '../../src/cli/manifest-faults.js'
import { audit, auditPasses } from '../../src/compute/audit/audit.js'
import type { AuditReport, PageText } from '../../src/compute/audit/contract.js'
import { Documents, escapeToken } from '../../src/compute/documents.js'
import { openTracePool, type TracePool } from '../../src/compute/traces/pool.js'
import { Failures, Fault } from '../../src/core/errors.js'
import { withDrawnNumbers } from '../../src/compute/histories/drawn-numbers.js'
import { deriveEvidence, stateEvidence, type MeasuredEvidence } from '../../src/runs/evidence.js'
import { measureHistories, readHistories, type MeasuredHistories } from '../../src/runs/histories.js'
import { checkClaims, readClaims } from '../../src/study/claims.js'
import { findSnapshots } from '../../src/study/inventory.js'
import { readManifest, verifyManifest } from '../../src/study/manifest.js'
import { loadStudy } from '../../src/study/study.js'
import { viewFaults } from '../../src/fetch/views.js'
import { measureSnapshot } from '../../src/runs/snapshot.js'
import { measureStudyTraces } from '../../src/runs/study-traces.js'
import { writeFigureConstants } from '../../src/render/outputs/figure-documents.js'
import { writeHistoryStatistics, writeSharedReference } from '../../src/render/outputs/history-documents.js'
import { OutputSet } from '../../src/render/outputs/output-set.js'
import { PAGE_OUTPUTS, proseTexts } from '../../src/render/page/index.js'
import type { EvidenceStudy } from '../../src/schema/evidence.js'
import { EVIDENCE_DOCUMENTS, FIGURE_CONSTANTS } from '../../src/schema/outputs.js'
import { GENERATOR } from '../../src/core/version.js'
import { contextOf } from '../support/context.js'
import { writeManifest } from '../support/history-folder.js'
import {
  claimsMutations,
  manifestMutations,
  proseMutations,
  sourceMutations,
  type StatedClaim,
  type StatedDiscrepancy
} from '../support/mutations/claim-mutations.js'
import { evidenceMutations } from '../support/mutations/evidence-mutations.js'
import { historyMutations } from '../support/mutations/history-mutations.js'
import { labelMutations } from '../support/mutations/label-mutations.js'
import { viewMutations } from '../support/mutations/view-mutations.js'
import { pageMutations, templateMutations, type Templates } from '../support/mutations/template-mutations.js'
import { MutableFolder, sample, Tally, type CaughtBy, type Mutation } from '../support/mutations/mutation.js'
import { SNAPSHOT, traceMutations } from '../support/mutations/trace-mutations.js'
import { Random } from '../support/random.js'
import { randomTraces, writeSnapshot } from '../support/snapshot.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-mutations-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))
const tally = new Tally()

/** The JSON outputs of one stage, without anything taking its place. */
async function textsOf(fill: (set: OutputSet) => Promise<unknown>): Promise<ReadonlyMap<string, string>> {
  const out = mkdtempSync(join(work, 'out-'))
  const set = await OutputSet.open(out)
  try {
    await fill(set)
    return set.jsonTexts
  } finally {
    await set.abort()
    rmSync(out, { recursive: true, force: true })
  }
}

function auditOf(claims: readonly StatedClaim[], documents: Documents, more: object = {}): AuditReport {
  const checked = checkClaims({ schema_version: 1, claims, ...more }, { format: 'claims', place: {}, paths: [] })
  return audit(checked, { synthetic: true, documents, pages: null })
}

/** Who notices. An error that is no Fault is a fault of the program, and fails the test. */
async function noticed(run: () => Promise<AuditReport> | AuditReport): Promise<CaughtBy | null> {
  try {
    return auditPasses(await run()) ? null : 'audit'
  } catch (error) {
    if (error instanceof Fault || error instanceof Failures) return 'check'
    throw error
  }
}

async function verifyNotices(dir: string): Promise<boolean> {
  try {
    const report = await verifyManifest(dir, await readManifest(join(dir, 'source_manifest.json')))
    return manifestFaults(report, dir).length > 0
  } catch (error) {
    if (error instanceof Fault) return true
    throw error
  }
}

async function tryAll(
  mutations: Iterable<Mutation> | AsyncIterable<Mutation>,
  folder: MutableFolder,
  run: () => Promise<AuditReport>
): Promise<void> {
  for await (const mutation of mutations) {
    await folder.with(mutation, async () => {
      const verified = await verifyNotices(folder.dir)
      tally.add(mutation, mutation.covered ? await noticed(run) : null, verified)
    })
  }
}

interface ClaimsJson {
  readonly claims: readonly StatedClaim[]
  readonly same: readonly StatedDiscrepancy[]
  readonly discrepancies: readonly StatedDiscrepancy[]
}

/** What of the file these documents answer for. */
function answered({ claims, same, discrepancies }: ClaimsJson, documents: Documents): ClaimsJson {
  const has = (references: readonly unknown[]): boolean =>
    references.length > 0 && references.every(r => typeof r === 'string' && 'value' in documents.resolve(r))
  const bySource = ({ sources }: StatedDiscrepancy): boolean =>
    has(
      Object.values(sources).map(source =>
        typeof source === 'object' && source !== null && 'reference' in source ? source.reference : source
      )
    )
  return {
    claims: claims.filter(c => has([c.from ?? c.elements ?? []].flat())),
    same: same.filter(bySource),
    discrepancies: discrepancies.filter(bySource)
  }
}

function claimsJson(replica: string): ClaimsJson {
  return JSON.parse(readFileSync(join(replica, 'claims.json'), 'utf8')) as ClaimsJson
}

interface ComputedHistories {
  readonly measured: MeasuredHistories
  readonly texts: ReadonlyMap<string, string>
  readonly documents: Documents
}

/** The statistics alone, without tables and columns: what claims refer to. */
async function computeHistories(dir: string): Promise<ComputedHistories> {
  const { study } = await loadStudy(dir)
  if (study.histories === null || study.evidence === null) throw new Error('the study has histories and evidence')
  const section = withDrawnNumbers(study.histories, await statedEvidence())
  const measured = await readHistories(contextOf(dir, true), section)
  const origin = { synthetic: true, manifest: null, generator: GENERATOR }
  const texts = await textsOf(async set => {
    for (const { analysis, statistics } of measured.analyses) {
      await writeHistoryStatistics(set, analysis.outputs.statistics, statistics, origin)
      const metric = section.metrics.find(m => m.name === analysis.shared_reference?.metric)
      if (analysis.shared_reference !== null && metric !== undefined) {
        await writeSharedReference(set, analysis.shared_reference, metric, analysis.shared_reference.selections, origin, null)
      }
    }
    await writeFigureConstants(set, { histories: section, bars: null }, origin)
  })
  // What the evidence states of the same quantities stands beside it, as it is.
  const stated = (await evidenceTexts)?.get(EVIDENCE_DOCUMENTS.data) ?? ''
  return { measured, texts, documents: new Documents(new Map([...texts, [EVIDENCE_DOCUMENTS.data, stated]])) }
}

const historiesDir = join(work, 'histories')

let evidenceTexts: Promise<ReadonlyMap<string, string>> | null = null

/** data.json of the replica as it is: what curves are drawn with stands there. */
async function statedEvidence(): Promise<Documents> {
  evidenceTexts ??= (async () => {
    const dir = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
    const {
      study: { evidence }
    } = await loadStudy(dir)
    if (evidence === null) throw new Error('the replica has evidence')
    return textsOf(set => stateEvidence(contextOf(dir, true), evidence, set))
  })()
  return new Documents(await evidenceTexts)
}

t.test("histories, runs.json, the study's section, claims and prose: the replica", async t => {
  const replica = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
  const dir = historiesDir
  cpSync(join(replica, 'wandb'), join(dir, 'wandb'), { recursive: true })
  const { schema_version, name, synthetic, histories, evidence, fetch } = JSON.parse(
    readFileSync(join(replica, 'study.json'), 'utf8')
  ) as Record<string, unknown>
  writeFileSync(join(dir, 'study.json'), JSON.stringify({ schema_version, name, synthetic, histories, evidence, fetch }))
  writeManifest(dir)
  const folder = new MutableFolder(dir)

  const compute = () => computeHistories(dir)
  const { measured, texts, documents } = await compute()
  const { claims: stated } = answered(claimsJson(replica), new Documents(texts))
  const { claims: _, ...ledger } = answered(claimsJson(replica), documents)
  const control = auditOf(stated, documents, ledger)
  t.ok(stated.length > 100)
  t.equal(control.counts.agrees, stated.length, 'unmutated, every claim agrees')
  t.ok(auditPasses(control) && control.same.length > 8, 'unmutated, no two sources contradict each other undisclosed')
  t.notOk(await verifyNotices(dir), 'unmutated, the manifest agrees')

  const random = new Random(4)
  const checked = checkClaims({ schema_version: 1, claims: stated }, { format: 'claims', place: {}, paths: [] }).claims
  await tryAll(historyMutations({ folder, claims: checked, measured, documents }, random), folder, async () =>
    auditOf(stated, (await compute()).documents, ledger)
  )
  t.strictSame(
    (await compute()).documents.resolve('wandb/curve_statistics.json#'),
    documents.resolve('wandb/curve_statistics.json#'),
    'the folder is as it was'
  )

  const { study } = await loadStudy(dir)
  t.strictSame(await viewFaults(dir, study), [], 'unmutated, the views are those of the list')
  await tryAll(viewMutations(folder, study, random), folder, async () => {
    const faults = await viewFaults(dir, study)
    if (faults.length > 0) throw new Failures(faults)
    return control
  })

  const blind = new Tally()
  const path = measured.files[0].path
  const harmless = {
    kind: 'control',
    what: 'a clock that nothing reads',
    covered: true,
    files: new Map([[path, folder.text(path).replace('"_runtime": 9', '"_runtime": 8')]])
  }
  await folder.with(harmless, async () =>
    blind.add(harmless, await noticed(async () => auditOf(stated, (await compute()).documents)), await verifyNotices(dir))
  )
  t.strictSame(blind.row('control').survivors, [harmless.what], 'a survivor is seen as one')

  for (const { what, claim } of claimsMutations(stated, control, random)) {
    tally.add({ kind: 'claims file', what, covered: true }, await noticed(() => auditOf([claim], documents)), null)
  }

  const manifest = folder.text('source_manifest.json')
  for (const [what, text] of sample(manifestMutations(manifest, random), random, 40)) {
    const files = new Map([['source_manifest.json', text]])
    await folder.with({ kind: 'manifest', what, covered: false, files }, async () => {
      tally.add({ kind: 'manifest', what, covered: false }, null, await verifyNotices(dir))
    })
  }

  const at = (selection: string, pointer: string): string => `{{wandb/curve_statistics.json#/selections/${selection}/${pointer}}}`
  const hours = (selection: string): string =>
    `${at(selection, 'metrics/validation/best/elapsed_hours')} hours observed, ${at(selection, 'metrics/validation/best/display_hours')} displayed`
  const discrepancies = [
    {
      id: 'hours',
      decision: 'Kept apart.',
      disclosure: `The best GSPO score came after ${hours('gspo')}; that of SAO after ${hours('sao')}.`,
      sources: {
        observed: {
          value: 136.0575,
          decimals: 4,
          reference: 'wandb/curve_statistics.json#/selections/gspo/metrics/validation/best/elapsed_hours'
        },
        displayed: 'wandb/curve_statistics.json#/selections/gspo/metrics/validation/best/display_hours',
        slide: 85
      },
      forbidden: ['measured at 135 hours', 'SAO (?:is|was) twice as fast']
    },
    {
      id: 'length',
      decision: 'Not the same.',
      sources: { last: 125, best: 95 },
      disclosure: `GSPO was logged to step ${at('gspo', 'last_step')} and scored best at step ${at('gspo', 'metrics/validation/best/step')}, with ${at('gspo', 'metrics/validation/best/value')} %.`,
      forbidden: ['best at (?:step )?125']
    }
  ]
  const passages = [
    'The best GSPO score came after 136.0575 hours observed, 135.0 displayed; that of SAO after 99.2472 hours observed, 49.6236 displayed.',
    'GSPO was logged to step 125 and scored best at step 95, with 70.4 %.'
  ]
  const text = `# Results\n\n${passages[0]} As always, 48,640 rollouts.\n\n${passages[1].replaceAll(' ', '\u00a0')}\n`
  const read = (page: string): AuditReport => {
    const judged = checkClaims({ schema_version: 1, claims: [], discrepancies }, { format: 'claims', place: {}, paths: [] })
    return audit(judged, { synthetic: true, documents, pages: [{ name: 'article.md', text: page }] })
  }
  t.match(
    read(text),
    {
      discrepancies: [
        { status: 'holds', problems: [] },
        { status: 'holds', problems: [] }
      ]
    },
    'unmutated, the page discloses'
  )
  const sentences = [
    'It was measured at 135 hours.',
    'SAO was twice as fast.',
    'It was best at step 125.',
    'On average 110.5 hours.',
    'On average 135.53 hours.',
    'So 110.0 hours.'
  ]
  for (const [what, page] of proseMutations(text.replaceAll('\u00a0', ' '), passages, sentences, random)) {
    tally.add({ kind: 'prose', what, covered: true }, await noticed(() => read(page)), null)
  }
})

t.test("a snapshot: page, NPZ files, the study's section", async t => {
  const dir = join(work, 'traces')
  const traces = randomTraces(new Seeded('mutations'), 3, i => 40 + 7 * i)
  await writeSnapshot(join(dir, SNAPSHOT), traces)
  writeFileSync(
    join(dir, 'study.json'),
    JSON.stringify({
      schema_version: 1,
      name: 'mutations',
      synthetic: true,
      critic_traces: {
        snapshot: SNAPSHOT,
        jump_threshold: 0.1,
        success_threshold: 0,
        expectations: {
          outcomes_per_step: [1, 1],
          returns_equal_outcome: true,
          prediction_stage: 'before_critic_update',
          boundary_end_marker: '<|im_end|>',
          score_agrees_with_outcome: 'binary',
          distinct_uids: true
        },
        examples: { success: { step: 10, outcome: 'success' }, failure: { step: 12, outcome: 'failure' } }
      }
    })
  )
  writeManifest(dir)
  const folder = new MutableFolder(dir)
  const pool: TracePool = openTracePool(1)
  t.teardown(() => pool.destroy())

  const compute = async (): Promise<Documents> => {
    const { study } = await loadStudy(dir)
    if (study.critic_traces === null) throw new Error('the study has no critic traces')
    const settings = {
      traces: study.critic_traces,
      expectations: study.critic_traces.expectations,
      enforced: true,
      examplesRequired: true,
      synthetic: true
    }
    const [plan] = await findSnapshots([join(dir, study.critic_traces.snapshot)])
    return new Documents(await textsOf(set => measureSnapshot(contextOf(dir, true), { plan, settings, pool }, set)))
  }

  const documents = await compute()
  // What the unmutated snapshot gives is what this study publishes, to ten decimals or exactly.
  const stated = publishedBy(documents)
  t.ok(stated.length > 40)
  t.equal(auditOf(stated, documents).counts.agrees, stated.length, 'unmutated, every claim agrees')
  t.notOk(await verifyNotices(dir), 'unmutated, the manifest agrees')
  await tryAll(traceMutations({ folder, traces, examples: [0, 5] }, new Random(5)), folder, async () => auditOf(stated, await compute()))
  t.strictSame(
    (await compute()).resolve('training_data/critic-trace-statistics.json#'),
    documents.resolve('training_data/critic-trace-statistics.json#'),
    'the folder is as it was'
  )
})

/** Every value of the statistics but what says who wrote them. */
function publishedBy(documents: Documents): StatedClaim[] {
  const file = 'training_data/critic-trace-statistics.json'
  const whole = documents.resolve(`${file}#`)
  if ('reason' in whole) throw new Error(whole.reason)
  const claims: StatedClaim[] = []
  const walk = (value: unknown, pointer: string): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, child] of Object.entries(value)) walk(child, `${pointer}/${escapeToken(key)}`)
    } else if (value !== null && !/^\/(?:schema|generator|undefined_reasons|examples_rule|synthetic)/.test(pointer)) {
      const decimals = typeof value === 'number' ? { value: Number(value.toFixed(10)), decimals: 10 } : { value }
      claims.push({ id: `c${claims.length}`, kind: 'computed', definition: pointer, from: `${file}#${pointer}`, ...decimals })
    }
  }
  walk(whole.value, '')
  return claims
}

/** Everything of the evidence but its figures, into a set that holds what it refers to. */
async function measureEvidence(dir: string, section: EvidenceStudy, set: OutputSet): Promise<MeasuredEvidence> {
  const context = contextOf(dir, true)
  return deriveEvidence(context, section, set, await stateEvidence(context, section, set))
}

t.test("workbook, slides, configurations, datasets, the study's section, discrepancies: the replica", async t => {
  const replica = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
  const dir = join(work, 'evidence')
  for (const part of ['sources', 'configs', 'data', 'documents']) cpSync(join(replica, part), join(dir, part), { recursive: true })
  // The whole study file: the section's references lead into documents of the histories, which are the unmutated ones.
  cpSync(join(replica, 'study.json'), join(dir, 'study.json'))
  writeManifest(dir)
  const folder = new MutableFolder(dir)
  const texts = new Map((await computeHistories(historiesDir)).texts)
  // Figures draw what the evidence gives: these are made anew.
  texts.delete(FIGURE_CONSTANTS)
  const histories: ReadonlyMap<string, string> = texts
  const compute = async (): Promise<Documents> => {
    const { study } = await loadStudy(dir)
    if (study.evidence === null) throw new Error('the study has no evidence')
    const section = study.evidence
    return new Documents(
      await textsOf(async set => {
        for (const [path, text] of histories) await set.write(path, text)
        const { figures } = await measureEvidence(dir, section, set)
        const drawn = study.histories === null ? null : withDrawnNumbers(study.histories, new Documents(set.jsonTexts))
        await writeFigureConstants(
          set,
          { histories: drawn, bars: { requests: section.figures, drawn: figures } },
          { synthetic: true, manifest: null, generator: GENERATOR }
        )
      })
    )
  }

  const documents = await compute()
  const file = claimsJson(replica)
  const ofHistories = new Set(answered(file, new Documents(histories)).claims.map(c => c.id))
  const stated = answered(file, documents).claims.filter(c => !ofHistories.has(c.id))
  const { same, discrepancies } = file
  const judge = (documents: Documents): AuditReport => auditOf(stated, documents, { same, discrepancies })
  const control = judge(documents)
  t.ok(stated.length > 50)
  t.equal(control.counts.agrees + control.counts.quoted, control.claims.length, 'unmutated, every claim agrees')
  t.strictSame(
    [...control.same, ...control.discrepancies].flatMap(d => d.problems),
    [],
    'unmutated, every source states what it is said to'
  )
  t.notOk(await verifyNotices(dir), 'unmutated, the manifest agrees')

  const random = new Random(6)
  const rows = (): Seeded => new Seeded(evidencePart.seed)
  for (const [name, dataset] of Object.entries(DATASETS)) {
    t.ok(folder.bytes(dataset.path).equals(writeParquet(dataset.rows(rows().fork(name)), dataset)), `${name} is made of these rows`)
  }
  const checked = checkClaims({ schema_version: 1, claims: stated, same, discrepancies }, { format: 'claims', place: {}, paths: [] })
  await tryAll(evidenceMutations({ folder, claims: checked, documents, rows }, random), folder, async () => judge(await compute()))
  await tryAll(labelMutations(folder), folder, async () => judge(await compute()))
  t.strictSame((await compute()).resolve('data.json#'), documents.resolve('data.json#'), 'the folder is as it was')

  for (const { what, claim } of claimsMutations(stated, control, random)) {
    tally.add({ kind: 'claims file', what, covered: true }, await noticed(() => auditOf([claim], documents)), null)
  }
  for (const { what, discrepancies: changed } of sourceMutations(discrepancies, random)) {
    tally.add(
      { kind: 'discrepancy source', what, covered: true },
      await noticed(() => auditOf([], documents, { discrepancies: changed })),
      null
    )
  }
})

t.test('the article: its templates and its prose', async t => {
  const replica = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
  const { study } = await loadStudy(replica)
  const { critic_traces: traces, evidence: section, article, histories: history } = study
  if (traces === null || section === null || article === null || history === null) throw new Error('the replica has every section')
  const pool = openTracePool(1)
  t.teardown(() => pool.destroy())
  const [plan] = await findSnapshots([join(replica, traces.snapshot)])
  const settings = { traces, expectations: traces.expectations, enforced: true, examplesRequired: true, synthetic: true }
  const documents = new Documents(
    await textsOf(async set => {
      await measureStudyTraces(contextOf(replica, true), { plan, settings, pool }, set)
      const drawn = withDrawnNumbers(history, await statedEvidence())
      await measureHistories(contextOf(replica, true), drawn, set)
      const { figures } = await measureEvidence(replica, section, set)
      const origin = { synthetic: true, manifest: null, generator: GENERATOR }
      await writeFigureConstants(set, { histories: drawn, bars: { requests: section.figures, drawn: figures } }, origin)
    })
  )
  const claims = await readClaims(join(replica, 'claims.json'))
  const subject = { synthetic: true, unpublished: ['training_data/critic-diagnostics.json'], documents }
  const first = audit(claims, { ...subject, pages: null })
  const figures = [
    ...section.figures,
    ...history.figures,
    ...['08-critic-traces', 'critic-quality', 'boundary-jumps'].map(name => ({ name, title: name }))
  ].map(({ name, title }) => ({
    name,
    title,
    description: title,
    picture: { wide: '', column: '' },
    files: [],
    data: []
  }))
  const read = (templates: Templates): readonly PageText[] =>
    proseTexts({
      templates: { article: { path: article.article, text: templates.article }, notes: { path: article.notes, text: templates.notes } },
      documents,
      inputsOf: () => [],
      claims: first.claims,
      discrepancies: first.discrepancies,
      figures,
      outputs: [...documents.paths, 'audit.json', ...PAGE_OUTPUTS]
    })
  const templates = {
    article: readFileSync(join(replica, article.article), 'utf8'),
    notes: readFileSync(join(replica, article.notes), 'utf8')
  }
  const pages = read(templates)
  const control = audit(claims, { ...subject, pages })
  t.ok(auditPasses(control), 'unmutated, every claim agrees and every contradiction is disclosed')
  const random = new Random(7)
  // The claims agreed above: what is left is what the prose says.
  const { discrepancies, guards } = claims
  const judge = (pages: readonly PageText[]): AuditReport => audit({ claims: [], same: [], discrepancies, guards }, { ...subject, pages })
  for (const { what, changed } of templateMutations(templates, random)) {
    tally.add({ kind: 'template', what, covered: true }, await noticed(() => judge(read(changed))), null)
  }
  for (const { what, changed } of pageMutations(pages, control, random)) {
    tally.add({ kind: 'prose of the article', what, covered: true }, await noticed(() => judge(changed)), null)
  }
})

t.test('nothing survives', t => {
  for (const line of tally.lines()) t.comment(line)
  t.comment(`${tally.total} mutations`)
  t.ok(tally.total >= 300, `${tally.total} mutations`)
  for (const [kind, { survivors, covered, uncovered }] of tally.rows) {
    t.ok(covered + uncovered >= 6, `${kind}: ${covered + uncovered} mutations`)
    t.strictSame(survivors, [], kind)
  }
  t.end()
})

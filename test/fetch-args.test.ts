/** The command line of `fetch` as data, and which runs it and a study choose. */
import t from 'tap'
import { parseCommand } from '../src/cli/args.js'
import { Fault } from '../src/core/errors.js'
import { draftedRuns, takes } from '../src/fetch/choice.js'
import { checkStudy } from '../src/study/study.js'

function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
  return 'nothing was thrown'
}

t.test('a project and names, or a study', t => {
  t.match(parseCommand(['fetch', 'team/project', 'a b', 'c', '--into', 'dir', '--run', 'r1', '--run', 'r2', '--not-run', 'r3']), {
    command: 'fetch',
    study: 'dir',
    into: { entity: 'team', project: 'project', names: ['a b', 'c'] },
    ids: ['r1', 'r2'],
    notIds: ['r3'],
    only: null,
    deadlineMinutes: 60
  })
  t.match(parseCommand(['fetch', '--study', 'dir', '--only', 'main']), { study: 'dir', into: null, ids: null, notIds: [], only: 'main' })
  const refused: ReadonlyArray<readonly [argv: readonly string[], message: string]> = [
    [[], 'usage no study: fetch without --study and --into, expected ENTITY/PROJECT NAME… --into DIR, or --study DIR'],
    [['--into', 'd'], 'usage wrong project: nothing, expected ENTITY/PROJECT, as in the address of its page'],
    [['project', 'a', '--into', 'd'], 'usage wrong project: project, expected ENTITY/PROJECT, as in the address of its page'],
    [['a/b/c', 'a', '--into', 'd'], 'usage wrong project: a/b/c, expected ENTITY/PROJECT, as in the address of its page'],
    [['a/b', '--into', 'd'], 'usage no run: neither NAME nor --run, expected display names of runs, or --run ID'],
    [['a/b', 'x', '--into', 'd', '--study', 'e'], 'usage contradiction: --study and --into, expected one of them'],
    [['a/b', 'x', '--study', 'e'], 'usage unexpected argument: a/b, expected no argument with --study, which says what to fetch'],
    [
      ['a/b', 'x', '--into', 'd', '--only', 'l'],
      'usage contradiction: --into and --only, expected one of them: --only is a label of a study'
    ],
    [['a/b', '', '--into', 'd'], 'usage wrong NAME: "", expected a text'],
    [['--study', 'd', '--run', 'r', '--not-run', 'r'], 'usage contradiction: --run and --not-run r, expected one of them']
  ]
  for (const [argv, message] of refused)
    t.equal(
      messageOf(() => parseCommand(['fetch', ...argv])),
      message
    )
  t.end()
})

const WHERE = { entity: 'team', project: 'project' }
const listed = [
  ['g1', 'gspo'],
  ['s1', 'SAO r7'],
  ['s2', 'SAO r7'],
  ['o1', 'other']
].map(([id = '', displayName = '']) => ({ id, displayName, state: 'finished', createdAt: '2026-01-01T00:00:00Z' }))

t.test('names and ids become the selections of a draft', t => {
  const every = { ids: null, notIds: [] }
  const of = (...args: Parameters<typeof draftedRuns>): unknown =>
    draftedRuns(...args).map(({ label, display_name, ids, not_ids }) => [label, display_name, ids, not_ids])
  t.same(of(WHERE, ['gspo', 'SAO r7', 'gspo'], every, null), [
    ['gspo', 'gspo', null, []],
    ['sao-r7', 'SAO r7', null, []]
  ])
  t.same(of(WHERE, ['other'], every, null), [['other-2', 'other', null, []]], 'a label that is free')
  t.same(of(WHERE, ['gspo', 'SAO r7'], { ids: null, notIds: ['s2'] }, listed), [
    ['gspo', 'gspo', null, []],
    ['sao-r7', 'SAO r7', null, ['s2']]
  ])
  t.same(of(WHERE, [], { ids: ['s1', 'g1'], notIds: [] }, listed), [
    ['gspo', 'gspo', ['g1'], []],
    ['sao-r7', 'SAO r7', ['s1'], []]
  ])
  t.same(of(WHERE, ['gspo', 'SAO r7'], { ids: ['s1'], notIds: [] }, listed), [['sao-r7', 'SAO r7', ['s1'], []]])
  t.equal(
    messageOf(() => of(WHERE, ['gspo'], { ids: ['s1'], notIds: [] }, listed)),
    'usage unknown run: s1 is none of 1 selected runs, expected the id of a run that has one of the names, as its address ends'
  )
  t.end()
})

t.test('a study takes the runs of a name but for its ids', t => {
  t.ok(takes({ ids: null, not_ids: [] }, 'a'))
  t.notOk(takes({ ids: null, not_ids: ['a'] }, 'a'))
  t.ok(takes({ ids: ['a'], not_ids: [] }, 'a'))
  t.notOk(takes({ ids: ['a'], not_ids: [] }, 'b'))
  const study = (more: object): (() => unknown) => {
    const runs = [{ label: 'l', ...WHERE, display_name: 'n', ...more }]
    return () => checkStudy({ schema_version: 1, name: 'n', fetch: { runs } }, { format: 'study', place: {}, paths: [] })
  }
  t.match(study({})(), { histories: null, fetch: { runs: [{ ids: null, not_ids: [] }] } }, 'fetch alone is a study')
  t.match(messageOf(study({ ids: ['a', 'a'] })), /^study stated twice: fetch\.runs\[0\]\.ids\[1\] is "a"/)
  t.equal(
    messageOf(study({ ids: ['a'], not_ids: ['a'] })),
    'study contradiction: fetch.runs[0].not_ids[0] is one of its ids, expected each id in one of both'
  )
  t.match(messageOf(study({ ids: [] })), /^study wrong field: fetch\.runs\[0\]\.ids is /)
  t.end()
})

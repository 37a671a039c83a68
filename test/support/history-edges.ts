/** Small studies at the edges of the rules of histories, of the shapes that outside trials met. */
import { writeHistoryStudy } from './history-folder.js'

type Row = Readonly<Record<string, number>>

interface EdgeRun {
  readonly id: string
  readonly displayName: string
  readonly createdAt: string
  readonly rows: readonly Row[]
}

const START = 1786000000

const rows = (first: number, last: number, from: number, value: (step: number) => number, each = 100): Row[] =>
  Array.from({ length: last - first + 1 }, (_, k) => ({ _step: first + k, _timestamp: from + each * k, m: value(first + k) }))

function write(
  dir: string,
  runs: readonly EdgeRun[],
  more: { metrics?: readonly object[]; analysis?: object; panels?: readonly object[] } = {}
): void {
  const metrics = more.metrics ?? [{ name: 'm', key: 'm', title: 'M', axis: 'M', trailing_mean: 2 }]
  const names = metrics.map(metric => (metric as { readonly name: string }).name)
  const selections = [...new Set(runs.map(run => run.displayName))]
  writeHistoryStudy(dir, {
    runs: runs.map(({ rows: own, ...run }) => ({ ...run, lines: own.map(row => JSON.stringify(row)) })),
    study: {
      schema_version: 1,
      name: 'edges',
      histories: {
        runs: 'wandb/runs.json',
        folder: 'wandb/history',
        selections: selections.map(name => ({ name: name.toLowerCase(), title: name, display_name: name })),
        metrics,
        analyses: [
          {
            name: 'an',
            selections: selections.map(name => name.toLowerCase()),
            metrics: names,
            statistics: { ends: { count: 3, metrics: names }, final: { count: 5, metrics: names }, best: names },
            outputs: { statistics: 'wandb/s.json' },
            ...more.analysis
          }
        ],
        figures: ['step', 'time'].map(view => ({
          name: view,
          title: view,
          analysis: 'an',
          view,
          x_title: view,
          panels: more.panels ?? names.map(metric => ({ metric }))
        }))
      }
    }
  })
}

const SUPPLIED = { supplied: { reference: 'a', target: 'b', anchor: true, time_prefix: true } }

/** By the name of the trial. */
export const EDGES: { readonly [name: string]: (dir: string) => void } = {
  '1-created-at-ns-order': dir =>
    write(dir, [
      { id: 'r1', displayName: 'A', createdAt: '2026-08-06T00:00:00.000000002Z', rows: rows(0, 2, START, step => step + 1) },
      { id: 'r2', displayName: 'A', createdAt: '2026-08-06T00:00:00.000000001Z', rows: rows(0, 2, START + 100, step => step + 4) }
    ]),
  '2-resumed-earlier-run': dir =>
    write(dir, [
      {
        id: 'A1',
        displayName: 'A',
        createdAt: '2026-08-06T00:00:00Z',
        rows: [...rows(0, 5, START, step => step), ...rows(3, 8, START + 2000, step => 10 + step)]
      },
      { id: 'B1', displayName: 'A', createdAt: '2026-08-06T07:15:00Z', rows: rows(4, 6, START + 1000, step => 100 + step) }
    ]),
  '3-anchor-after-the-curve': dir =>
    write(
      dir,
      ['A', 'B'].map((displayName, k) => ({
        id: `r${k}`,
        displayName,
        createdAt: '2026-08-07T00:00:00Z',
        rows: rows(0, 20, START - 20000 + 8000 * k, step => step / 20)
      })),
      { analysis: SUPPLIED }
    ),
  '3b-anchor-inside-the-curve': dir =>
    write(
      dir,
      [
        { id: 'r0', displayName: 'A', createdAt: '2026-08-06T00:00:00Z', rows: rows(0, 2, START - 30000, step => step + 1, 4000) },
        { id: 'r1', displayName: 'B', createdAt: '2026-08-06T00:00:00Z', rows: rows(0, 2, START - 27000, step => step + 7, 3000) }
      ],
      { analysis: SUPPLIED }
    ),
  '4-log-axis-bridges-zeros-and-flat': dir =>
    write(
      dir,
      [
        {
          id: 'r0',
          displayName: 'A',
          createdAt: '2026-08-06T00:00:00Z',
          rows: rows(0, 9, START, step => (step >= 3 && step <= 6 ? 0 : 10)).map((row, k) => ({ ...row, f: 1 - k * 1e-8 }))
        }
      ],
      {
        metrics: [
          { name: 'm', key: 'm', title: 'Gradient norm', axis: 'Norm' },
          { name: 'f', key: 'f', title: 'Explained variance', axis: 'EV' }
        ],
        panels: [{ metric: 'm', scale: { kind: 'log' } }, { metric: 'f' }]
      }
    ),
  '6-descending-export': dir =>
    write(dir, [{ id: 'r1', displayName: 'A', createdAt: '2026-08-06T00:00:00Z', rows: rows(0, 5, START, step => step).reverse() }]),
  '7-mean-overflow': dir =>
    write(dir, [{ id: 'r0', displayName: 'A', createdAt: '2026-08-06T00:00:00Z', rows: rows(0, 1, START, () => 1.7e308) }])
}

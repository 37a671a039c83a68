/** An audit at its limits: lists, means, chains of inputs, rounded numbers. Every expected value is worked out by hand. */
import t from 'tap'
import { audit } from '../src/compute/audit/audit.js'
import { findValue } from '../src/compute/audit/comparison.js'
import { auditDiscrepancies } from '../src/compute/audit/discrepancies.js'
import { provenanceOf } from '../src/compute/audit/provenance.js'
import { Documents } from '../src/compute/documents.js'
import { checkClaims } from '../src/study/claims.js'
import type { Claims } from '../src/schema/claims.js'

const documentsOf = (value: object): Documents => new Documents(new Map([['d.json', JSON.stringify(value)]]))

const claimsOf = (value: object): Claims =>
  checkClaims({ schema_version: 1, claims: [], ...value }, { format: 'claims', place: {}, paths: [] })

t.test('a list of a thousand elements is a value, a longer one is a table', t => {
  const documents = documentsOf({ list: new Array(1000).fill(1), table: new Array(1001).fill(1) })
  t.strictSame(findValue(documents, 'd.json#/list'), { value: new Array(1000).fill(1) })
  t.strictSame(findValue(documents, 'd.json#/table'), { reason: 'd.json#/table is a list of 1001' })
  t.end()
})

t.test('an audit is strict only where somebody asks for it', t => {
  const subject = { synthetic: true, documents: documentsOf({}), pages: null }
  t.equal(audit(claimsOf({}), subject).strict, false)
  t.equal(audit(claimsOf({}), { ...subject, strict: true }).strict, true)
  t.end()
})

t.test('a printed number is a mean only where it is neither of the two', t => {
  const averages = (sources: object, text: string): ReadonlyArray<readonly [value: number, pages: number]> => {
    const { discrepancies } = claimsOf({ discrepancies: [{ id: 'd', sources, decision: 'One.', disclosure: 'x' }] })
    const [judged] = auditDiscrepancies(discrepancies, documentsOf({}), [{ name: 'page', text }], [])
    return judged.averages.map(({ value, found_in }) => [value, found_in.length])
  }
  // the mean of 2.125 and 2.25 is 2.1875; to one decimal 2.2 is that mean, and it is 2.25 too
  t.strictSame(averages({ a: 2.125, b: 2.25 }, '2.19'), [[2.1875, 1]])
  t.strictSame(averages({ a: 2.125, b: 2.25 }, '2.2'), [[2.1875, 0]])
  t.strictSame(averages({ a: 2.25, b: 3.25 }, '2.8'), [[2.75, 1]])
  t.strictSame(averages({ a: [1, 3], b: [2, 3], c: [8] }, '1.5'), [[1.5, 1]], 'lists of two lengths have no mean, nor have equal numbers')
  t.end()
})

t.test('inputs are followed through eight values that were derived one from the other', t => {
  const sha256 = 'a'.repeat(64)
  const chain = (length: number): Documents =>
    documentsOf(
      Object.fromEntries(
        Array.from({ length: length + 1 }, (_, i) => [
          `v${i}`,
          i < length ? { value: 1, operands: [{ reference: `d.json#/v${i + 1}/value` }] } : { value: 1, path: 'input', sha256 }
        ])
      )
    )
  const inputs = (length: number): unknown => provenanceOf(chain(length), 'd.json#/v0/value', () => [])?.inputs
  t.strictSame(inputs(0), [{ path: 'input', sha256 }])
  t.strictSame(inputs(8), [{ path: 'input', sha256 }])
  t.strictSame(inputs(9), [], 'a longer chain is cut')
  t.end()
})

t.test('a value agrees with its printed digits, also with those of a number rounded to hundreds', t => {
  const holds = (value: number, text: string): boolean => {
    const guards = [{ id: 'g', reason: 'One.', disclosure: 'after {{d.json#/v}} steps' }]
    const subject = { synthetic: true, documents: documentsOf({ v: value }), pages: [{ name: 'page', text: `after ${text} steps` }] }
    return audit(claimsOf({ guards }), subject).guards[0].status === 'holds'
  }
  t.ok(holds(1250, '1.2e3'), 'half of a hundred is allowed')
  t.ok(holds(1150, '1.2e3'))
  t.notOk(holds(1251, '1.2e3'))
  t.notOk(holds(1149, '1.2e3'))
  t.ok(holds(2.5, '3'))
  t.ok(holds(2.4999999999999996, '3'), 'the double below a tie counts as the tie')
  t.notOk(holds(2.499, '3'))
  t.end()
})

t.test('the words of a disclosure are looked for in their order, from the first of a page on', t => {
  const documents = documentsOf({ a: 1, b: 2 })
  const explained = (text: string): boolean => {
    const claims = [{ id: 'c', value: 9, decimals: 0, kind: 'config', definition: 'One.', from: ['d.json#/b'] }]
    const guards = [{ id: 'g', reason: 'One.', disclosure: 'from {{d.json#/a}} up to {{d.json#/b}} at most' }]
    const [{ problems }] = audit(claimsOf({ claims, guards }), { synthetic: true, documents, pages: [{ name: 'page', text }] }).guards
    t.equal(problems.length, 1)
    return problems[0].endsWith('; its words are there, with another value: claim c differs')
  }
  t.ok(explained('from 1 up to 9 at most'), 'the value that differs is the second one of the disclosure')
  t.ok(explained('We go from 1 up to 9 at most.'))
  t.notOk(explained('We go up to 9, from 1 at most.'))
  t.notOk(explained('at most from 1 up to 9'))
  t.notOk(explained('from 1 up to 9'))
  t.end()
})

t.test('lists state the same where every element agrees', t => {
  const documents = documentsOf({ a: [1, 2], b: [1, 3], c: [1.04, 2.04], d: [1] })
  const status = (one: string, other: string): string => {
    const same = [{ id: 'q', definition: 'One.', decimals: 1, sources: { one: `d.json#/${one}`, other: `d.json#/${other}` } }]
    return audit(claimsOf({ same }), { synthetic: true, documents, pages: null }).same[0].status
  }
  t.strictSame(
    [status('a', 'c'), status('a', 'b'), status('b', 'a'), status('a', 'd'), status('d', 'a')],
    ['agrees', 'fails', 'fails', 'fails', 'fails']
  )
  t.end()
})

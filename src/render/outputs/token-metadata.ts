/** What a table of tokens says of itself, as text under fixed keys: in the schema of an Arrow file, in the footer of a Parquet file. */
import { Fault, printable } from '../../core/errors.js'
import { SCHEMA_VERSIONS } from '../../schema/outputs/versions.js'
import { manifestMetadata } from './arrow-columns.js'
import type { Origin } from './output-names.js'

export interface TokenMetadata extends Origin {
  readonly verified: boolean
  /** verbatim; null leaves the key out */
  readonly snapshotTime: string | null
}

/** Of a part of a snapshot. */
export interface TokenPartMetadata extends Omit<TokenMetadata, 'synthetic'> {
  /** null leaves the key out: the end of the page tells it */
  readonly synthetic: boolean | null
}

/** @throws Fault for a snapshot time that UTF-8 does not hold */
export function tokenMetadata(metadata: TokenPartMetadata): Array<[string, string]> {
  const { snapshotTime, manifest, generator } = metadata
  if (snapshotTime !== null && Buffer.from(snapshotTime, 'utf8').toString('utf8') !== snapshotTime) {
    throw new Fault({
      format: 'arrow',
      problem: 'schema metadata refused',
      expected: 'text without lone surrogates',
      found: `a snapshot time that is not Unicode text: ${printable(snapshotTime)}`
    })
  }
  return [
    ['schema', 'critic-traces'],
    ['schema_version', String(SCHEMA_VERSIONS['critic-traces'])],
    ...(metadata.synthetic === null ? [] : [['synthetic', String(metadata.synthetic)] satisfies [string, string]]),
    ['verified', String(metadata.verified)],
    ...(snapshotTime === null ? [] : [['snapshot_time', snapshotTime] satisfies [string, string]]),
    ['generator', `${generator.name} ${generator.version}`],
    ...manifestMetadata(manifest)
  ]
}

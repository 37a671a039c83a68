/** The diagnostics of generated samples, by records that were cloned as those of a worker or a file are. */
import { deserialize, serialize } from 'node:v8'
import { diagnoseEstimator, type EstimatorDiagnosis, type ToldValues } from '../../src/compute/diagnostics/diagnose.js'
import type { EstimatorRecord } from '../../src/compute/diagnostics/estimator/record.js'
import { type DiagnosticRecord, neighbourValues, sampleRecord } from '../../src/compute/diagnostics/record.js'
import type { Sample } from '../../src/schema/samples.js'

export function recordsOf(samples: readonly Sample[]): EstimatorRecord[] {
  const made = samples.map(
    (sample, i): DiagnosticRecord<null> => sampleRecord(sample, neighbourValues(samples[i - 1] ?? null, samples[i + 1] ?? null), null)
  )
  return (deserialize(serialize(made)) as DiagnosticRecord<null>[]).map(r => r.estimator)
}

export function diagnose(samples: readonly Sample[], told: ToldValues = {}): EstimatorDiagnosis {
  return diagnoseEstimator(recordsOf(samples), told)
}

export function faultsOf(diagnosis: EstimatorDiagnosis): string[] {
  return diagnosis.findings.filter(f => f.severity === 'fault').map(f => f.kind)
}

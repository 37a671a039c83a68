/** `multilingual-case-evidence.json`. */
import { list, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { CHAIN, DATASET, FOUND_VALUE, NODE, STUDY_PATH } from './evidence-parts.js'
import { anyText, closed, map, natural, reasons, someText, whole } from './kinds.js'

export const CASE_EVIDENCE = output(
  'case-evidence',
  {
    title: 'Evidence of datasets and configurations',
    description: 'Hashes, rows and matches of the datasets; of the configurations only the settings that the study names.',
    definitions: [NODE]
  },
  {
    ...envelopeFields('case-evidence'),
    datasets: {
      kind: list(closed({ name: { kind: anyText, doc: "the study's name of it" }, ...DATASET })),
      doc: 'in the order of the study'
    },
    configs: {
      kind: map(
        closed({
          path: STUDY_PATH,
          chain: CHAIN,
          values: {
            kind: map(
              closed({
                value: FOUND_VALUE,
                from: { kind: someText, doc: 'the file that sets it; of a withheld value the configuration itself' },
                line: { kind: whole(1), doc: 'line of that file, from 1; absent where the value is withheld', optional: true }
              })
            ),
            doc: "by the configuration's own key"
          },
          withheld: { kind: natural, doc: 'settings among those that the study names that look like secrets; not copied' }
        })
      ),
      doc: "by the study's name of the configuration"
    },
    undefined_reasons: { kind: reasons, doc: 'JSON pointer of each null -> why it is undefined' }
  }
)

export type CaseEvidenceDocument = Infer<typeof CASE_EVIDENCE>

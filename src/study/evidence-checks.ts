/**
 * Checks between the fields of the section on written evidence: a name stands for one value, references into the section's
 * own outputs lead to values of their kind, an excluded value is used nowhere, and quoted values meet no local ones.
 */
import type { BarFigureRequest, CellValue, EvidenceStudy, SlideValue } from '../schema/evidence.js'
import type { Reference } from '../schema/reference.js'
import { documentCopy, EVIDENCE_DOCUMENTS, RESERVED_FIGURES, RESERVED_OUTPUTS } from '../schema/outputs.js'
import { describeValue, type CheckContext } from '../core/checker.js'
import { CrossChecks, fold, type NamedField } from './cross-checks.js'
import { operandsOf, splitReference } from './reference.js'

export function checkEvidence(study: EvidenceStudy, at: string, context: CheckContext): void {
  new EvidenceChecks(study, at, context).all()
}

/** Properties of a value of `data.json` or `derived_metrics.json`. */
interface KnownValue {
  readonly at: string
  readonly excluded: boolean
  readonly isText: boolean
  /** stated by a publication, or derived from such values alone */
  readonly quoted: boolean
}

class EvidenceChecks extends CrossChecks {
  readonly #values = new Map<string, KnownValue>()
  readonly #derived = new Map<string, KnownValue>()

  constructor(
    readonly study: EvidenceStudy,
    readonly at: string,
    context: CheckContext
  ) {
    super(context)
  }

  all(): void {
    const { study, at } = this
    const lists = [study.configs, study.datasets, study.documents, study.quoted]
    if (study.workbook === null && study.slides === null && lists.every(list => list.length === 0)) {
      this.refuse(
        'missing field',
        `${at} states nothing that is to be read`,
        'one of workbook, slides, configs, datasets, documents, quoted'
      )
    }
    this.#names()
    this.#slides()
    this.#copies()
    study.datasets.forEach(({ task_path, patterns }, i) => {
      if (task_path === null && Object.keys(patterns).length > 0) {
        this.refuse(
          'contradiction',
          `${at}.datasets[${i}].task_path is null and its patterns are not empty`,
          'the column that they are looked for in'
        )
      }
    })
    this.#derivedValues()
    study.figures.forEach((figure, i) => this.#figure(figure, `${at}.figures[${i}]`))
    const figures = study.figures.map(({ name }, i) => ({ at: `${at}.figures[${i}].name`, value: name }))
    for (const { at: place, value } of figures) this.free(place, value, RESERVED_FIGURES, 'figure')
    this.unique(figures, fold)
  }

  /** Checks that all values have different names, whatever their kind: a name in an output is then unambiguous. */
  #names(): void {
    const { study, at } = this
    for (const list of ['configs', 'datasets', 'documents'] as const) {
      this.unique(study[list].map(({ name }, i) => ({ at: `${at}.${list}[${i}].name`, value: name })))
    }
    const names: NamedField[] = []
    const add = (name: string, known: KnownValue, to: Map<string, KnownValue> = this.#values): void => {
      names.push({ at: `${known.at}.name`, value: name })
      to.set(name, known)
    }
    const plain = { excluded: false, isText: false, quoted: false }
    for (const source of ['workbook', 'slides'] as const) {
      study[source]?.values.forEach((value: CellValue | SlideValue, i) => {
        const place = `${at}.${source}.values[${i}]`
        this.#conversion(value, place)
        add(value.name, { ...plain, at: place, excluded: value.excluded !== null, isText: value.as === 'text' })
      })
    }
    study.configs.forEach(({ values }, i) => {
      this.unique(values.map(({ key }, k) => ({ at: `${at}.configs[${i}].values[${k}].key`, value: key })))
      values.forEach(({ name }, k) => add(name, { ...plain, at: `${at}.configs[${i}].values[${k}]` }))
    })
    study.documents.forEach(({ values }, i) => {
      values.forEach(({ name, as, excluded }, k) => {
        add(name, { ...plain, at: `${at}.documents[${i}].values[${k}]`, excluded: excluded !== null, isText: as === 'text' })
      })
    })
    study.quoted.forEach(({ name }, i) => add(name, { ...plain, at: `${at}.quoted[${i}]`, quoted: true }))
    study.derived.forEach(({ name }, i) => add(name, { ...plain, at: `${at}.derived[${i}]` }, this.#derived))
    this.unique(names)
  }

  #conversion({ as, pattern, multiply }: CellValue | SlideValue, at: string): void {
    if (as === 'match' && pattern === null) this.refuse('missing field', `${at}.pattern`, 'a pattern, where as is "match"')
    if (as !== 'match' && as !== 'text' && pattern !== null) {
      this.refuse(
        'contradiction',
        `${at}.as is ${describeValue(as)} and ${at}.pattern is ${describeValue(pattern)}`,
        'null: only "match" and "text" have a pattern'
      )
    }
    if (as === 'text' && multiply !== 1) {
      this.refuse('contradiction', `${at}.as is "text" and ${at}.multiply is ${multiply}`, '1: a text is not multiplied')
    }
  }

  #slides(): void {
    const { slides } = this.study
    this.unique((slides?.pages ?? []).map(({ slide }, i) => ({ at: `${this.at}.slides.pages[${i}].slide`, value: String(slide) })))
    slides?.pages.forEach(({ slide, title, printed_page: page }, i) => {
      if (title === null && page === null) {
        this.refuse('missing field', `${this.at}.slides.pages[${i}] states nothing of slide ${slide}`, 'title or printed_page')
      }
    })
    slides?.values.forEach(({ table, as, pattern, labels }, i) => {
      const at = `${this.at}.slides.values[${i}]`
      if (table === null && labels.length > 0) {
        this.refuse('contradiction', `${at}.table is null and ${at}.labels is not empty`, 'a cell of a table: labels are cells beside it')
      }
      if (table !== null || as === 'match' || pattern !== null) return
      this.refuse(
        'contradiction',
        `${at}.table is null and ${at}.as is ${describeValue(as)}`,
        'a cell of a table, or a pattern, which finds its paragraph'
      )
    })
  }

  /** Checks the copies of documents, which all lie in one folder. */
  #copies(): void {
    const copies = this.study.documents.map(({ path }, i) => ({ at: `${this.at}.documents[${i}].path`, value: path }))
    for (const { at: place, value } of copies) this.free(place, documentCopy(value), RESERVED_OUTPUTS, 'output')
    this.unique(copies, value => fold(documentCopy(value)))
  }

  #derivedValues(): void {
    this.study.derived.forEach(({ name, operation }, i) => {
      const at = `${this.at}.derived[${i}].operation`
      const stated = operandsOf(operation).map(({ at: field, value }) => ({ at: `${at}.${field}`, value }))
      const operands = stated.map(({ at: place, value }) => this.#usable(value, place, i))
      const quoted = operands.map(known => known?.quoted === true)
      if (quoted.includes(true) && quoted.includes(false)) {
        const [one, other] = [true, false].map(is => stated[quoted.indexOf(is)].value)
        this.refuse('contradiction', `${at} computes ${one}, which is quoted, with ${other}`, 'values of one publication, or of this study')
      }
      const known = this.#derived.get(name)
      if (known !== undefined) this.#derived.set(name, { ...known, quoted: quoted[0] })
    })
  }

  /**
   * The value behind a reference, checked to be a number that may be computed with or drawn; null for the output of
   * another section.
   * @param before index of the derived value that uses it: only earlier ones are allowed
   */
  #usable(reference: Reference, at: string, before: number): KnownValue | null {
    const { path, tokens } = splitReference(reference)
    const isData = path === EVIDENCE_DOCUMENTS.data
    if (!isData && path !== EVIDENCE_DOCUMENTS.derived) return null
    const [group, name = '', ...rest] = tokens
    if (isData && group === 'datasets') {
      this.known(
        name,
        at,
        this.study.datasets.map(dataset => dataset.name),
        `${path}#/datasets/<name>/…, with one of the datasets`
      )
      return null
    }
    if (group !== 'values' || rest.length !== 1 || rest[0] !== 'value') {
      this.refuse('wrong field', `${at} is ${describeValue(reference)}`, `${path}#/values/<name>/value`)
    }
    const values = isData ? this.#values : this.#derived
    const what = isData ? 'one of the values' : 'one of the derived values'
    this.known(name, at, [...values.keys()], `${path}#/values/<name>/value, with ${what}`)
    const known = values.get(name)
    if (known === undefined) return null
    if (known.excluded) {
      this.refuse(
        'contradiction',
        `${at} is ${describeValue(reference)}, and ${known.at}.excluded says why it is not used`,
        'a value that is not excluded'
      )
    }
    if (known.isText) this.refuse('wrong field', `${at} is ${describeValue(reference)}, which is read as a text`, 'a number')
    if (!isData && this.study.derived.findIndex(derived => derived.name === name) >= before) {
      this.refuse('wrong order', `${at} is ${describeValue(reference)}, which does not stand before it`, 'values that are derived earlier')
    }
    return known
  }

  #figure({ panels }: BarFigureRequest, at: string): void {
    panels.forEach(({ groups, series }, i) => {
      const here = `${at}.panels[${i}]`
      this.unique(groups.map((value, k) => ({ at: `${here}.groups[${k}]`, value })))
      this.unique(series.map(({ title }, k) => ({ at: `${here}.series[${k}].title`, value: title })))
      series.forEach(({ values }, k) => {
        if (values.length !== groups.length) {
          this.refuse(
            'contradiction',
            `${here}.series[${k}].values has ${values.length} and ${here}.groups has ${groups.length}`,
            'one value for each group'
          )
        }
        values.forEach((value, j) => {
          if (value !== null) this.#usable(value, `${here}.series[${k}].values[${j}]`, Infinity)
        })
      })
    })
  }
}

/**
 * Prepares text for a page or a Markdown file. Text of a source is shown and has no effect: no markup, no control
 * character, no invisible character, no character that changes the direction of text.
 */

/**
 * Control characters, format characters (bidirectional and zero-width ones included), lone surrogates, separators,
 * private use.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;']
])

/** Writes unseen characters as escapes: U+202E as `\u202e`, U+E0041 as `\u{e0041}`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, character => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
    return code.length > 4 ? `\\u{${code}}` : `\\u${code}`
  })
}

/** At most so many characters of a text, the last of them an ellipsis where something is cut. */
export function shortened(text: string, most: number): string {
  // No character has more than two units, and none is cut in two.
  const characters = Array.from(text.slice(0, 2 * (most + 1)))
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}\u2026`
}

/**
 * Markup characters as entities, for text and for quoted attributes. The text is that of a template, which was checked
 * for unseen characters before.
 */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES.get(character) ?? character)
}

/** Text of a source as HTML that shows exactly this text. */
export function escapeHtml(text: string): string {
  return escapeMarkup(visible(text))
}

/**
 * An escaped path, pointer or similar text with places where it may break: after its slashes, dots, underscores and
 * colons, and before a `#`, but not inside a name. Numbers and the ends of file names do not break.
 */
export function breakable(escaped: string): string {
  return escaped
    .replace(/(?<!&)#(?=\S)/g, '<wbr>#')
    .replace(/(?:[/:]|(?<=[A-Za-z0-9])(?:_|\.(?![a-z]{2,7}(?:<wbr>|\s|$)))(?=[A-Za-z]))(?=\S)/g, '$&<wbr>')
}

/** Text of a source as Markdown that shows exactly this text. */
export function escapeMarkdown(text: string): string {
  return visible(text).replace(/[\\`*_[\]<>&#|~]/g, '\\$&')
}

/**
 * Text of a source for a place in a code span, where nothing is escaped. Text that no code span can hold is escaped for
 * plain Markdown.
 */
export function codeText(text: string): string {
  return /[`|]/.test(text) ? escapeMarkdown(text) : visible(text)
}

/**
 * The name of a claim or a figure as part of an `id`. Other characters become `_`, their code and `_`, so that two
 * names remain different.
 */
export function idPart(name: string): string {
  return name.replace(/[^A-Za-z0-9.-]/gu, character => `_${(character.codePointAt(0) ?? 0).toString(16)}_`)
}

/** Replaces every run of white space by one space, for comparison of texts. */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/**
 * Text on its way into a page or a Markdown file. What a source wrote is shown, never obeyed: no markup, no control
 * character, no character that turns the direction of what follows or that cannot be seen.
 */

/** Controls, format characters (bidirectional and zero-width among them), lone surrogates, separators, private use. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'], ['<', '&lt;'], ['>', '&gt;'], ['"', '&quot;'], ["'", '&#39;']
])

/** U+202E becomes `\u202e`, U+E0041 `\u{e0041}`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, character => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
    return code.length > 4 ? `\\u{${code}}` : `\\u${code}`
  })
}

/** Markup characters as entities, in text and in quoted attributes alike. The text has been looked at already: a template's. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES.get(character) ?? character)
}

/** Text of a source as HTML. */
export function escapeHtml(text: string): string {
  return escapeMarkup(visible(text))
}

/**
 * A path, a pointer or the like, escaped: it breaks behind its slashes, dots, underscores and colons, or before a `#`, rather than inside
 * a name. A number does not, nor does the end of a file name.
 */
export function breakable(escaped: string): string {
  return escaped.replace(/(?<!&)#(?=\S)/g, '<wbr>#')
    .replace(/(?:[/:]|(?<=[A-Za-z0-9])(?:_|\.(?![a-z]{2,7}(?:<wbr>|\s|$)))(?=[A-Za-z]))(?=\S)/g, '$&<wbr>')
}

/** Text of a source as Markdown that renders as exactly this text. */
export function escapeMarkdown(text: string): string {
  return visible(text).replace(/[\\`*_[\]<>&#|~]/g, '\\$&')
}

/** The same for a place in a code span, where nothing is escaped. What no code span can hold comes out escaped. */
export function codeText(text: string): string {
  return /[`|]/.test(text) ? escapeMarkdown(text) : visible(text)
}

/** A claim's or a figure's name as part of an `id`: other characters as `_` and their number, so that two names stay two. */
export function idPart(name: string): string {
  return name.replace(/[^A-Za-z0-9.-]/gu, character => `_${(character.codePointAt(0) ?? 0).toString(16)}_`)
}

/** One space for every run of white space: how texts are compared. */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

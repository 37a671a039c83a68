/**
 * Figures on a dark ground. Each colour that a figure uses has its dark one here. Light colours of raw values and grids lie
 * near the ground in both, lines and texts far from it. A colour that is not in the table stays as it is.
 */

const DARK: Readonly<Record<string, string>> = {
  // The ground; that of the pages (`page/style.ts`).
  '#ffffff': '#15181c',
  // Texts, axes, grids, and series without a colour.
  '#1a1a1a': '#e6e9ec',
  '#4d4d4d': '#a3abb3',
  '#595959': '#a9b1ba',
  '#666666': '#9aa2aa',
  '#8c8c8c': '#7d858e',
  '#b8b8b8': '#545b63',
  '#c8c8c8': '#4d545c',
  '#d9d9d9': '#5b636c',
  '#e9e9e9': '#2c3238',
  '#f0f0f0': '#24292f',
  // Series: blue, orange, vermilion, green, purple, yellow.
  '#0072b2': '#4ba3dc',
  '#9ccbe6': '#24557a',
  '#8ec3e3': '#27597d',
  '#004a75': '#9bcbee',
  '#56b4e9': '#8fd0f5',
  '#bbe1f6': '#2f6280',
  '#8cc8ea': '#3f7fa6',
  '#3d7ea6': '#8cc3e6',
  '#2f6f96': '#8cc3e6',
  '#4c9bc9': '#6db4de',
  '#e69f00': '#f0b236',
  '#f8d899': '#6b4e12',
  '#8a5f00': '#f7d48f',
  '#d18f00': '#e5a93a',
  '#b84a00': '#f08a4b',
  '#f2b48a': '#6f3a1b',
  '#eebfa0': '#6a3d24',
  '#009e73': '#35c79a',
  '#007a59': '#35c79a',
  '#99d8c7': '#17584a',
  '#99407a': '#d88bbb',
  '#dcb6ce': '#5d3350',
  '#b06c96': '#c287ab',
  '#6e3a5a': '#e3b4d2',
  '#c4a800': '#d9c24a',
  '#e9dea0': '#574d14'
}

/** `#rrggbb` or `#rrggbbaa` on a dark ground; other values as they are. */
export function darkColor(color: string): string {
  const dark = DARK[color.slice(0, 7)]
  return dark === undefined ? color : dark + color.slice(7)
}

function variable(color: string): string {
  return `--figure-${color.slice(1)}`
}

/** A colour `#rrggbb` for SVG inside a page, which `figureColors` may change. */
export function pageColor(color: string): string {
  return color in DARK ? `var(${variable(color)}, ${color})` : color
}

/** CSS of a page with figures: their colours where the reader prefers a dark page. Paper stays light. */
export function figureColors(): string {
  const declarations = Object.entries(DARK).map(([light, dark]) => `${variable(light)}: ${dark};`)
  return `@media screen and (prefers-color-scheme: dark) {\n  :root {\n    ${declarations.join('\n    ')}\n  }\n}`
}

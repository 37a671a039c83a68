/** Bytes that the readers of a page act on. */
export const BANG = 0x21
export const DASH = 0x2d
export const SLASH = 0x2f
export const LT = 0x3c
export const GT = 0x3e

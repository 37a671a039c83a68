// @ts-nocheck: checked by the compiler of AssemblyScript, whose types these are
export * from './page'
export * from './json'
export * from './checks'
export * from './statistics'
/** Nothing of this module's lies behind it. */
export const FREE: usize = __heap_base

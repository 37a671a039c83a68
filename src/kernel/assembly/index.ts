// @ts-nocheck: checked by the compiler of AssemblyScript, whose types these are
export * from './page'
export * from './json'
export * from './checks'
export * from './statistics'
export * from './resampling'
/** Start of the free memory behind this module's data. */
export const FREE: usize = __heap_base

/** The kernel that a thread works with: the compiled loops, or plain JavaScript where their memory finds no addresses. */
import { CompiledKernel, reserveMemory, type Kernel } from './kernel.js'
import { PlainKernel } from './plain.js'

/** Addresses that the memory of one kernel of compiled loops takes, in bytes, rounded up; `reserveMemory`. */
export const COMPILED_ADDRESSES = 12 * 2 ** 30

export function openKernel(): Kernel {
  const memory = reserveMemory()
  return memory === null ? new PlainKernel() : new CompiledKernel(memory)
}

let ofThread: Kernel | null = null

/** The one kernel of this thread. */
export function kernelOfThread(): Kernel {
  ofThread ??= openKernel()
  return ofThread
}

/** For tests: gives this thread another kernel; null: the next call of `kernelOfThread` opens one. */
export function setKernelOfThread(kernel: Kernel | null): void {
  ofThread = kernel
}

/** A trace's text in the kernel's memory. The compiled `numbers` and `texts` read it by the same offsets. */
import type { Kernel } from '../../kernel/kernel.js'
import { kernelOfThread } from '../../kernel/open.js'
import { POWERS_OF_TEN, POWER_HIGH, POWER_LOW } from './decimal.js'
import { JsonText, PADDING } from './text.js'

/** 10^0 to 10^22, and their negatives from index 32 on */
const SIGNED_POWERS = new Float64Array(64)
SIGNED_POWERS.set(POWERS_OF_TEN)
SIGNED_POWERS.set(
  POWERS_OF_TEN.map(power => -power),
  32
)

/** Valid until another text is loaded with the same kernel: both use its one memory. */
export class KernelText extends JsonText {
  readonly kernel: Kernel

  constructor(kernel = kernelOfThread()) {
    super()
    this.kernel = kernel
    this.kernel.fillTables({ POWERS: SIGNED_POWERS, POWER_HIGH, POWER_LOW })
  }

  protected override reserve(length: number, phase: number): void {
    this.bytes = this.kernel.begin(length + PADDING, phase)
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset)
  }
}

/** A trace's text in the memory of the compiled loops, whose `numbers` and `texts` read it by the same offsets. */
import { kernelOfThread, type Kernel } from '../../kernel/kernel.js'
import { POWERS_OF_TEN, POWER_HIGH, POWER_LOW } from './decimal.js'
import { JsonText, PADDING } from './text.js'

/** 10^0 to 10^22, and from the 32nd on their negatives */
const SIGNED_POWERS = new Float64Array(64)
SIGNED_POWERS.set(POWERS_OF_TEN)
SIGNED_POWERS.set(POWERS_OF_TEN.map(power => -power), 32)

/** Valid until another text is loaded with the same kernel, whose one memory both lie in. */
export class KernelText extends JsonText {
  readonly kernel: Kernel

  constructor(kernel = kernelOfThread()) {
    super()
    this.kernel = kernel
    this.kernel.fillTables({ POWERS: SIGNED_POWERS, POWER_HIGH, POWER_LOW })
  }

  protected override reserve(length: number): void {
    this.bytes = this.kernel.begin(length + PADDING)
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset)
  }
}

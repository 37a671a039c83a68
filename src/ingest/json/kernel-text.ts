/** A trace's text in the memory of the compiled loops, whose `numbers` and `texts` read it by the same offsets. */
import { kernelOfThread, type Kernel } from '../../kernel/kernel.js'
import { POWERS_OF_TEN, POWER_HIGH, POWER_LOW } from './decimal.js'
import { JsonText, PADDING } from './text.js'

/** Valid until another text is loaded in this thread: all share the kernel's one memory. */
export class KernelText extends JsonText {
  readonly kernel: Kernel = kernelOfThread()

  constructor() {
    super()
    this.kernel.fillTables({ POWERS: POWERS_OF_TEN, POWER_HIGH, POWER_LOW })
  }

  protected override reserve(length: number): void {
    this.bytes = this.kernel.begin(length + PADDING)
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset)
  }
}

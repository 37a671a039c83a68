/** CPU time of this process, all threads, in milliseconds since `start`: the time that a test may limit, whatever else the machine does. */
export function cpuMs(start?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** Asks until it holds, some thousands of times: on a busy machine what is to happen takes its time. */
export async function becomes(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 6000; tries++) {
    if (await holds()) return true
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return false
}

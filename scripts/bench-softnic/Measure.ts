/** Processor time of this process, all its threads', µs. */
export const cpuUs = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** What has been measured: an amount, the milliseconds it took, and the processor's time at both ends. */
export class Measure {
  amount = 0
  ms = 0
  private hereUs = 0
  private thereUs = 0
  private readonly there: () => Promise<number>

  /** @param there the other end's `cpuUs` */
  constructor(there: () => Promise<number>) {
    this.there = there
  }

  /** Processor time of whatever `run` does, which returns the amount and the milliseconds. */
  async of(run: () => Promise<readonly [amount: number, ms: number]>): Promise<void> {
    const before = await this.there()
    const start = cpuUs()
    const [amount, ms] = await run()
    this.hereUs += cpuUs() - start
    this.thereUs += (await this.there()) - before
    this.amount += amount
    this.ms += ms
  }

  get perSecond(): number {
    return (1000 * this.amount) / this.ms
  }
  /** Microseconds of the processor for one of `unit`, here and at the other end. */
  cpu(unit: number): string {
    const each = (us: number): string => ((us * unit) / this.amount).toFixed(1)
    return `${each(this.hereUs)} + ${each(this.thereUs)} us`
  }
}

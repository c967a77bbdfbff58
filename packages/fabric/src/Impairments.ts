import type { ImpairedKernel, Impairment } from "@rdmakit/sim"
import type { Direction, Fault } from "./LinkFaults.ts"

/** The two ports of a link that send the ways that are meant. */
export const portsOfLink = (link: number, direction: Direction = "both"): ReadonlyArray<number> => [
  ...(direction === "backward" ? [] : [2 * link]),
  ...(direction === "forward" ? [] : [2 * link + 1]),
]

/** Carries out what faults say beyond links that go down and up: impairments of one port add to each other. */
export class Impairments {
  private readonly kernel: ImpairedKernel
  private readonly byPort = new Map<number, Impairment>()

  constructor(kernel: ImpairedKernel) {
    this.kernel = kernel
  }

  apply(fault: Fault): void {
    if ("host" in fault) {
      this.kernel.limitReceiver(fault.host, fault.receiver)
      return
    }
    const { link, direction, lossRate, impairment } = fault
    for (const port of portsOfLink(link, direction)) {
      if (lossRate !== undefined) this.kernel.setLossRate(port, lossRate)
      if (impairment === undefined) continue
      const sum = { ...this.byPort.get(port), ...impairment }
      this.byPort.set(port, sum)
      this.kernel.impair(port, sum)
    }
  }
}

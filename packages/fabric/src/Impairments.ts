import type { ImpairedKernel, Impairment, ReceiverLimit } from "@rdmakit/sim"
import { type Graph, TopologyError } from "@rdmakit/topology"
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

/** Faults by time. @throws TopologyError for links and hosts that do not exist, and values that make no sense */
export const checkedFaults = (faults: ReadonlyArray<Fault>, graph: Graph): ReadonlyArray<Fault> => {
  for (const fault of faults) {
    if ("host" in fault) {
      checkHost(fault.host, graph)
      checkReceiver(fault.host, fault.receiver)
      continue
    }
    const { link, lossRate = 0, impairment } = fault
    if (graph.links[link] === undefined)
      throw new TopologyError("unknown-link", `link ${link} does not exist`, { link })
    checkShare(link, "loss rate", lossRate)
    if (impairment !== undefined) checkImpairment(link, impairment)
  }
  return faults.toSorted((a, b) => a.time - b.time)
}

/** @throws TopologyError "loss" when a chance is none, "delay" */
export const checkImpairment = (link: number, impairment: Impairment): void => {
  for (const name of ["blackHole", "loss", "corruption", "duplication", "reordering"] as const) {
    checkShare(link, name, impairment[name] ?? 0)
  }
  const { reorderPs = 0, delayPs: [least, most] = [0, 0] } = impairment
  if (reorderPs >= 0 && least >= 0 && least <= most) return
  throw new TopologyError("delay", `link ${link}: times are at least 0, and the least at most the most`, { link })
}

const checkShare = (link: number, name: string, share: number): void => {
  if (share >= 0 && share <= 1) return
  throw new TopologyError("loss", `link ${link}: ${name} ${share} is not between 0 and 1`, { link })
}

/** @throws TopologyError "not-a-host" */
export const checkHost = (node: number, { isSwitch }: Graph): void => {
  if (isSwitch[node] !== 0) throw new TopologyError("not-a-host", `node ${node} is not a host`, { node })
}

/** @throws TopologyError "rate", "buffer" */
export const checkReceiver = (node: number, receiver: ReceiverLimit | undefined): void => {
  const { rateBps = 0, bufferBytes = 1 } = receiver ?? {}
  if (!(rateBps >= 0 && rateBps < Number.POSITIVE_INFINITY))
    throw new TopologyError("rate", `host ${node} receives at ${rateBps} bit/s: expected at least 0`, { node })
  if (!(Number.isSafeInteger(bufferBytes) && bufferBytes > 0))
    throw new TopologyError("buffer", `host ${node} has a buffer of ${bufferBytes} bytes: expected at least 1`, {
      node,
    })
}

import type { LoadBalancer, SwitchPorts, Time } from "@rdmakit/protocol"
import { EntropyEcmp, Flowlets, HashedSpray, LeastQueued, RoundRobinSpray, seededEcmp } from "@rdmakit/switch"
import { MICROSECOND } from "@rdmakit/units"

/** How switches choose among equal-cost next hops. */
export interface BalancerSettings {
  /**
   * "ecmp", the default: by a hash of the flow. "flowlet": anew after a gap, by a hash. "adaptive": for each packet the
   * egress that holds the fewest bytes. "adaptive-flowlet": the same after a gap. "spray": for each packet the next in
   * turn. "spray-hashed": for each packet by a hash. "entropy": by a hash of the UDP ports that the packet itself has, as
   * real switches do it: SRD's packets have other ports each time. Or one of your own.
   *
   * Packets of one flow that take different paths arrive out of order, and a transport that goes back N sends them again.
   */
  readonly loadBalancer?: BalancerName | BalancerFactory
  /** What ends a flowlet, ps; above 0, or Infinity: nothing does. Default 100 µs. */
  readonly flowletGapPs?: Time
}

/**
 * Makes a load balancer of your own, once for a network: it chooses for all of its switches, of which `pick` says each
 * time which one asks. What is none is a `SwitchOptionError`; a choice that is no index below `count` ends the run with a
 * `LoadBalancerFault`.
 *
 * @param seed the run's, 32 bits: what is random is to be a hash of it
 * @param ports what the kernel knows of all egress ports, such as `queueBytes`
 */
export type BalancerFactory = (seed: number, ports: SwitchPorts) => LoadBalancer

/** Names of the load balancers, the default first. */
export const balancerNames = [
  "ecmp",
  "flowlet",
  "adaptive",
  "adaptive-flowlet",
  "spray",
  "spray-hashed",
  "entropy",
] as const
export type BalancerName = (typeof balancerNames)[number]

/** Whether a flow's packets may overtake each other. */
export const reorders = (name: BalancerName | undefined): boolean => name !== undefined && name !== "ecmp"
/** Whether it waits for gaps. */
export const usesFlowlets = (name: BalancerName | undefined): boolean => name?.endsWith("flowlet") === true

const GAP_PS = 100 * MICROSECOND

/** The load balancer of all switches of a kernel. */
export const loadBalancer = (settings: BalancerSettings, seed: number, ports: SwitchPorts): LoadBalancer => {
  const { loadBalancer: name = "ecmp", flowletGapPs: gapPs = GAP_PS } = settings
  if (typeof name === "function") return name(seed, ports)
  switch (name) {
    case "ecmp":
      return seededEcmp(seed)
    case "flowlet":
      return new Flowlets({ inner: new HashedSpray(seed), gapPs })
    case "adaptive":
      return new LeastQueued(seed, ports)
    case "adaptive-flowlet":
      return new Flowlets({ inner: new LeastQueued(seed, ports), gapPs })
    case "spray":
      return new RoundRobinSpray(seed)
    case "spray-hashed":
      return new HashedSpray(seed)
    case "entropy":
      return new EntropyEcmp(seed)
  }
}

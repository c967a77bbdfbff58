import { type Packet, PacketPool } from "@rdmakit/packet"
import { ExactKernel, type ExactKernelOptions, FaultyKernel } from "../src/index.ts"
import {
  type Link,
  networkOf,
  type PacketFields,
  PlainNic,
  type PlainNicOptions,
  PlainSwitch,
  type PlainSwitchOptions,
  serializationPs,
  shortestRoutes,
} from "./smallNetwork.ts"

export interface BenchOptions extends Partial<ExactKernelOptions> {
  readonly hosts: number
  readonly switches: number
  readonly links: ReadonlyArray<Link>
  readonly plainSwitch?: Partial<PlainSwitchOptions>
  readonly nic?: PlainNicOptions
  /** What happens to links, and when. */
  readonly script?: ReadonlyArray<readonly [time: number, act: (kernel: FaultyKernel) => void]>
}

/** A kernel with plain policies, and an account of what was delivered and dropped. */
export class Bench {
  readonly pool = new PacketPool({ capacity: 64 })
  readonly kernel: ExactKernel
  readonly nics: ReadonlyArray<PlainNic>
  readonly switches: ReadonlyArray<PlainSwitch>
  readonly delivered: Array<{ now: number; node: number; flow: number; psn: number; priority: number }> = []
  readonly dropped: Array<{ now: number; node: number; reason: number; psn: number }> = []
  private readonly sends: Array<{ node: number; fields: PacketFields }> = []
  private readonly firstPort: ReadonlyArray<number>

  constructor(
    { hosts, switches, links, plainSwitch = {}, nic = {}, script = [], ...options }: BenchOptions,
    Kernel: typeof ExactKernel = script.length > 0 ? FaultyKernel : ExactKernel,
  ) {
    const network = networkOf(hosts, switches, links)
    const kernel = new Kernel({
      network,
      pool: this.pool,
      serializationPs,
      wireBytesMax: 1000,
      pfcBytes: 100,
      hopsMax: 8,
      ...options,
    })
    this.kernel = kernel
    const routes = shortestRoutes(network)
    this.nics = Array.from({ length: hosts }, (_, node) => {
      const onReceive = (now: number, packet: Packet, port: number): void => {
        const { flow, psn, priority } = packet
        this.delivered.push({ now, node, flow, psn, priority })
        nic.onReceive?.(now, packet, port)
      }
      const made = new PlainNic(kernel, { ...nic, onReceive })
      kernel.nics[node] = made
      return made
    })
    this.switches = Array.from({ length: switches }, (_, index) => {
      const node = hosts + index
      const made = new PlainSwitch(kernel, { routes: routes[node]!, ...plainSwitch })
      kernel.switches[node] = made
      return made
    })
    this.firstPort = this.nics.map((_, node) => network.portNode.indexOf(node))
    kernel.onDrop = (now, packet, node, reason) => void this.dropped.push({ now, node, reason, psn: packet.psn })
    for (const [index, [time]] of script.entries()) kernel.callAt(time, 1, index)
    kernel.onCall = (now, target, index) => {
      if (target === 1) {
        script[index]![1](kernel as FaultyKernel)
        return
      }
      const { node, fields } = this.sends[index]!
      this.nics[node]!.send(now, this.firstPort[node]!, fields)
    }
  }

  /** Hands `count` packets to the NIC of `source` at `time`. */
  send(time: number, source: number, destination: number, fields: Partial<PacketFields> = {}, count = 1): void {
    for (let psn = 0; psn < count; psn++) {
      this.kernel.callAt(time, 0, this.sends.length)
      this.sends.push({
        node: source,
        fields: { source, destination, priority: 3, wireBytes: 1000, flow: 2 * source, psn, ...fields },
      })
    }
  }
  run(until = Number.POSITIVE_INFINITY): void {
    while (this.kernel.run(until, 1000) > 0);
  }
  /** When each delivered packet arrived. */
  times(): ReadonlyArray<number> {
    return this.delivered.map(({ now }) => now)
  }
}

/** Host 0 and host 1 at either side of switch 2; a byte takes 1 ps, a link 1,000. */
export const twoHosts = { hosts: 2, switches: 1, links: [{ between: [0, 2] }, { between: [1, 2] }] } as const
/** Hosts 0 and 1 send to host 2, all at switch 3. */
export const threeHosts = {
  hosts: 3,
  switches: 1,
  links: [{ between: [0, 3] }, { between: [1, 3] }, { between: [2, 3] }],
} as const

import type { World } from "@rdmakit/fabric"
import type { QlenDump, QlenPort } from "@rdmakit/ns3"
import type { Time } from "@rdmakit/protocol"

const BIN_BYTES = 1000
const EVERY_PS = 100_000
/** The simulator dumps its histograms at whole multiples of this, and only then. */
const DUMP_EVERY_PS = 100e9

/**
 * QLEN_MON of the HPCC simulator: every 100 ns the bytes waiting at each switch port, in bins of 1,000; the histograms
 * since the start are dumped when the time is a multiple of 100 ms. Queue 0 (PFC frames) is left out.
 */
export class QueueMonitor {
  readonly dumps: Array<QlenDump> = []
  private readonly world: World
  private readonly ports: ReadonlyArray<number>
  /** Samples above bin 0, by port and bin; bin 0 is what is missing to `samples`. */
  private readonly counts: Array<Array<number>>
  private samples = 0

  constructor(world: World, isSwitch: Uint8Array, startPs: Time, endPs: Time) {
    this.world = world
    this.ports = portsOfSwitches(world, isSwitch)
    this.counts = this.ports.map(() => [])
    world.addSampler({ first: startPs, every: EVERY_PS, last: endPs, sample: (now) => this.sample(now) })
  }

  private sample(now: Time): void {
    this.samples++
    if (this.world.kernel.waiting > 0 || this.world.faults !== undefined) this.look()
    if (now % DUMP_EVERY_PS === 0) this.dump(now)
  }

  private look(): void {
    const { kernel, faults } = this.world
    const { ports } = this
    for (let i = 0; i < ports.length; i++) {
      const port = ports[i]!
      // What went down with a link is counted for ever: the switch was never told.
      const untold = faults === undefined ? 0 : faults.untoldBytes[port]!
      const bytes = kernel.queueBytes(port) - kernel.queueBytesOf(port, 0) + untold
      if (bytes >= BIN_BYTES) this.count(i, Math.floor(bytes / BIN_BYTES))
    }
  }

  private count(i: number, bin: number): void {
    const counts = this.counts[i]!
    while (counts.length <= bin) counts.push(0)
    counts[bin]!++
  }

  private dump(now: Time): void {
    const { iface, node } = this.world.ports
    const ports: Array<QlenPort> = this.ports.map((port, i) => {
      const above = this.counts[i]!
      const rest = above.reduce((sum, count) => sum + count, 0)
      return { node: node[port]!, intf: iface[port]!, counts: Float64Array.of(this.samples - rest, ...above.slice(1)) }
    })
    this.dumps.push({ timeNs: now / 1000, ports })
  }
}

/** Ports of the switches, by node and then interface. */
function portsOfSwitches(world: World, isSwitch: Uint8Array): Array<number> {
  const ports: Array<number> = []
  isSwitch.forEach((flag, node) => {
    if (flag === 1) ports.push(...world.ports.portsOf(node))
  })
  return ports
}

import type { Packet } from "@rdmakit/packet"
import type { LoadBalancer, Time } from "@rdmakit/protocol"
import { murmur3 } from "@rdmakit/units"
import { checkedChoice } from "./LoadBalancerFault.ts"
import { check, checkBalancer } from "./SwitchOptionError.ts"

export interface FlowletsOptions {
  /** Chooses for the first packet of a flowlet. */
  readonly inner: LoadBalancer
  /**
   * A packet that comes longer than this after the last one of its flow begins a flowlet, ps; above 0. What is longer
   * than the difference between any two paths' delays keeps a flow in order; with Infinity it keeps its first choice.
   */
  readonly gapPs: Time
  /** Entries of a switch's table, a power of 2. Flows that share one share their flowlets. Default 65,536 (CONGA §3.4). */
  readonly entries?: number
}

const ENTRIES = 65_536

interface FlowletTable {
  readonly lastPs: Float64Array
  readonly choice: Int32Array
}

/**
 * Flowlet switching: a flow keeps its next hop as long as its packets come close together, and may change it after a
 * gap (Sinha, Kandula and Katabi 2004; CONGA, SIGCOMM 2014; LetFlow, NSDI 2017, with a random choice for each flowlet).
 */
export class Flowlets implements LoadBalancer {
  readonly perPacket = true
  /** Flowlets that began. */
  flowlets = 0
  private readonly inner: LoadBalancer
  private readonly gapPs: Time
  private readonly entries: number
  /** By node; only switches with a choice have one. */
  private readonly tables: Array<FlowletTable | undefined> = []

  /** @throws SwitchOptionError for a gap that is not above 0, or entries that are no power of 2 */
  constructor({ inner, gapPs, entries = ENTRIES }: FlowletsOptions) {
    checkBalancer(inner)
    check("gapPs", gapPs, typeof gapPs === "number" && gapPs > 0, "a time above 0, ps")
    const isPower = Number.isInteger(entries) && entries >= 1 && entries <= 2 ** 30 && (entries & (entries - 1)) === 0
    check("entries", entries, isPower, "a power of 2, at most 2^30")
    this.inner = inner
    this.gapPs = gapPs
    this.entries = entries
  }

  /** @throws LoadBalancerFault where `inner` chose what is none of them */
  pick(now: Time, packet: Packet, node: number, count: number, table: Int32Array, from: number): number {
    const { lastPs, choice } = this.tableOf(node)
    const entry = murmur3(node, packet.source, packet.destination, packet.udpPorts) & (this.entries - 1)
    // What has had no packet yet has no gap either.
    if (!(now - lastPs[entry]! <= this.gapPs)) {
      this.flowlets++
      const chosen = checkedChoice(this.inner.pick(now, packet, node, count, table, from), count, node, now)
      choice[entry] = chosen
    }
    lastPs[entry] = now
    // Another flow of the entry may have had more to choose from.
    return choice[entry]! % count
  }

  private tableOf(node: number): FlowletTable {
    const known = this.tables[node]
    if (known !== undefined) return known
    const made = {
      lastPs: new Float64Array(this.entries).fill(Number.NaN),
      choice: new Int32Array(this.entries),
    }
    while (this.tables.length <= node) this.tables.push(undefined)
    this.tables[node] = made
    return made
  }
}

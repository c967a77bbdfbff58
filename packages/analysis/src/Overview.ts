import type { PacketRecord } from "@rdmakit/pcap"
import { segmentText } from "./iwarp/SegmentText.ts"
import { lineOf } from "./PacketLine.ts"
import type { Sighting } from "./Sighting.ts"

/** What a capture holds, in counts. */
export interface OverviewCounts {
  readonly packets: number
  /** Octets on the wire. */
  readonly wireBytes: number
  readonly capturedBytes: number
  /** Packets that the capture cut. */
  readonly cut: number
  /** From the first to the last packet by time, in nanoseconds; undefined without times. */
  readonly durationNs: number | undefined
  /** Packets that are earlier than the one before. */
  readonly outOfOrder: number
  /** Packets of each protocol, most first. */
  readonly protocols: Readonly<Record<string, number>>
  /** RDMA operations, most first. */
  readonly operations: Readonly<Record<string, number>>
  /** Destination queue pairs, by host. */
  readonly queuePairs: number
  readonly ecnCapable: number
  readonly ecnMarked: number
  readonly cnps: number
  readonly naks: number
  readonly rnrNaks: number
  readonly pauses: number
  readonly tunnelled: number
}

const QUEUE_PAIRS_MAX = 1 << 20

const sorted = (counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> =>
  Object.fromEntries([...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)))

/** Counts what a capture holds. */
export class Overview {
  readonly #protocols = new Map<string, number>()
  readonly #operations = new Map<string, number>()
  readonly #queuePairs = new Set<number>()
  #packets = 0
  #wireBytes = 0
  #capturedBytes = 0
  #cut = 0
  #firstNs = Number.POSITIVE_INFINITY
  #lastNs = Number.NEGATIVE_INFINITY
  #beforeNs = Number.NEGATIVE_INFINITY
  #outOfOrder = 0
  #capable = 0
  #marked = 0
  #cnps = 0
  #naks = 0
  #rnrNaks = 0
  #pauses = 0
  #tunnelled = 0

  packet(packet: PacketRecord, sighting: Sighting): void {
    this.#packets++
    this.#wireBytes += sighting.wireBytes
    this.#capturedBytes += packet.capturedOctets
    if (sighting.isTruncated) this.#cut++
    if (sighting.isTunnelled) this.#tunnelled++
    const { timeNs, kind, operation } = sighting
    if (!Number.isNaN(timeNs)) {
      if (timeNs < this.#beforeNs) this.#outOfOrder++
      this.#beforeNs = timeNs
      if (timeNs < this.#firstNs) this.#firstNs = timeNs
      if (timeNs > this.#lastNs) this.#lastNs = timeNs
    }
    if (kind === "pause") this.#pauses++
    // Words are made only where there are few of them.
    const isMessage = kind === "roce" && sighting.destinationQp !== 1
    add(
      this.#protocols,
      isMessage ? protocolOf(sighting) : kind === "tcp" ? tcpName(sighting) : lineOf(sighting).protocol,
    )
    if (kind !== "roce") return
    add(this.#operations, operation?.name ?? (sighting.opcode < 0 ? "cut" : `opcode 0x${sighting.opcode.toString(16)}`))
    if (this.#queuePairs.size < QUEUE_PAIRS_MAX) {
      this.#queuePairs.add(sighting.destination * 0x100_0000 + sighting.destinationQp)
    }
    const ecn = sighting.trafficClass < 0 ? 0 : sighting.trafficClass & 3
    if (ecn !== 0) this.#capable++
    if (ecn === 3) this.#marked++
    if (operation?.kind === "notify") this.#cnps++
    if (sighting.syndrome >> 5 === 3) this.#naks++
    if (sighting.syndrome >> 5 === 1) this.#rnrNaks++
  }

  counts(): OverviewCounts {
    return {
      packets: this.#packets,
      wireBytes: this.#wireBytes,
      capturedBytes: this.#capturedBytes,
      cut: this.#cut,
      durationNs: this.#lastNs < this.#firstNs ? undefined : this.#lastNs - this.#firstNs,
      outOfOrder: this.#outOfOrder,
      protocols: sorted(this.#protocols),
      operations: sorted(this.#operations),
      queuePairs: this.#queuePairs.size,
      ecnCapable: this.#capable,
      ecnMarked: this.#marked,
      cnps: this.#cnps,
      naks: this.#naks,
      rnrNaks: this.#rnrNaks,
      pauses: this.#pauses,
      tunnelled: this.#tunnelled,
    }
  }
}

/** Segments that units fill, or an opening frame, are iWARP at first sight. */
const tcpName = ({ data, tcpStart, tcpEnd }: Sighting): string =>
  tcpEnd > tcpStart && segmentText(data, tcpStart, tcpEnd) !== undefined ? "iWARP" : "TCP"

const protocolOf = ({ place }: Sighting): string =>
  place === undefined || place.carrier === "ipv4" || place.carrier === "ipv6"
    ? "RoCEv2"
    : place.carrier === "rocev1"
      ? "RoCEv1"
      : "InfiniBand"

const add = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

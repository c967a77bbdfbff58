import type { CaptureInterface, PacketRecord } from "@rdmakit/pcap"

const NS = 1_000_000_000n
const HALF = 0x1_0000_0000
/** Interfaces whose scales are kept: a file may have sections, each with its own, without number. */
const SCALES_MAX = 64

/** How the times of one interface become nanoseconds from the start, without a bigint for each packet. */
interface Scale {
  readonly from: CaptureInterface
  /** Nanoseconds in a tick; 0 when ticks are no whole number of them. */
  readonly tickNs: number
  readonly baseHigh: number
  readonly baseLow: number
  /** What the base has beyond whole ticks, in nanoseconds. */
  readonly remainderNs: number
}

/**
 * Times of packets as nanoseconds since the first packet that has one, in a double: exact for 104 days. Packets
 * before the first one, as unsorted captures have them, are negative.
 */
export class Clock {
  #startNs: bigint | undefined
  #scale: Scale | undefined
  #scales = new Map<CaptureInterface, Scale>()

  /** When the first packet was taken, in nanoseconds since 1970. */
  get startNs(): bigint | undefined {
    return this.#startNs
  }

  /** NaN for a packet without a time. */
  read(packet: PacketRecord): number {
    if (packet.timeHigh < 0) return Number.NaN
    const start = this.#startNs ?? packet.timeNs!
    this.#startNs = start
    let scale = this.#scale
    if (scale?.from !== packet.interface) {
      scale = this.#scales.get(packet.interface) ?? this.#add(packet.interface, start)
      this.#scale = scale
    }
    const { tickNs, baseHigh, baseLow, remainderNs } = scale
    if (tickNs === 0) return Number(packet.timeNs! - start)
    const high = packet.timeHigh - baseHigh
    const low = packet.timeLow - baseLow
    return packet.interface.splitSeconds
      ? high * 1e9 + low * tickNs - remainderNs
      : (high * HALF + low) * tickNs - remainderNs
  }

  #add(from: CaptureInterface, startNs: bigint): Scale {
    if (this.#scales.size === SCALES_MAX) this.#scales = new Map()
    const scale = scaleOf(from, startNs)
    this.#scales.set(from, scale)
    return scale
  }
}

const scaleOf = (from: CaptureInterface, startNs: bigint): Scale => {
  const { ticksPerSecond, offsetSeconds, splitSeconds } = from
  if (NS % ticksPerSecond !== 0n) return { from, tickNs: 0, baseHigh: 0, baseLow: 0, remainderNs: 0 }
  const tick = NS / ticksPerSecond
  const baseNs = startNs - offsetSeconds * NS
  const scale = { from, tickNs: Number(tick), remainderNs: Number(baseNs % tick) }
  if (splitSeconds) {
    return { ...scale, baseHigh: Number(baseNs / NS), baseLow: Number((baseNs % NS) / tick) }
  }
  const ticks = baseNs / tick
  return { ...scale, baseHigh: Number(ticks >> 32n), baseLow: Number(ticks & 0xffffffffn) }
}

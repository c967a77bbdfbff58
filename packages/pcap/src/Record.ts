import type { CaptureInterface } from "./Interface.ts"
import type { CaptureOption } from "./Option.ts"

/**
 * One packet. It is a view: {@link data} shares memory with what was pushed into the reader, so copy what is to
 * outlive it when that memory is used again.
 */
export class PacketRecord {
  /** Position among the packets of the file, from 1, as Wireshark numbers frames. */
  readonly frame: number
  /** Octets from the start of the file to this record. */
  readonly offset: number
  readonly interface: CaptureInterface
  /** The memory that holds the packet, from {@link start} on. */
  readonly octets: Uint8Array
  readonly start: number
  /** Octets that the file has of the packet. */
  readonly capturedOctets: number
  /** Octets that the packet had on the link. */
  readonly originalOctets: number
  /** Seconds (pcap) or the upper 32 bits of the ticks (pcapng); -1 when the packet has no time. */
  readonly timeHigh: number
  /** The fraction (pcap) or the lower 32 bits of the ticks (pcapng). */
  readonly timeLow: number
  readonly options: ReadonlyArray<CaptureOption>

  constructor(
    frame: number,
    offset: number,
    from: CaptureInterface,
    octets: Uint8Array,
    start: number,
    capturedOctets: number,
    originalOctets: number,
    timeHigh: number,
    timeLow: number,
    options: ReadonlyArray<CaptureOption>,
  ) {
    this.frame = frame
    this.offset = offset
    this.interface = from
    this.octets = octets
    this.start = start
    this.capturedOctets = capturedOctets
    this.originalOctets = originalOctets
    this.timeHigh = timeHigh
    this.timeLow = timeLow
    this.options = options
  }

  /** Shared by all packets, so that a record stays small. */
  get kind(): "packet" {
    return "packet"
  }

  /** The captured octets, without copying. */
  get data(): Uint8Array {
    return this.octets.subarray(this.start, this.start + this.capturedOctets)
  }

  /** Whether the capture cut the packet short. */
  get isTruncated(): boolean {
    return this.capturedOctets < this.originalOctets
  }

  /** Ticks since the epoch, before `offsetSeconds`, in the resolution of the interface; undefined without a time. */
  get ticks(): bigint | undefined {
    const { timeHigh, timeLow } = this
    if (timeHigh < 0) return undefined
    if (!this.interface.splitSeconds) return (BigInt(timeHigh) << 32n) | BigInt(timeLow)
    return BigInt(timeHigh) * this.interface.ticksPerSecond + BigInt(timeLow)
  }

  /** Nanoseconds since the epoch, rounded down when the resolution is finer; undefined without a time. */
  get timeNs(): bigint | undefined {
    return scaled(this, 1_000_000_000n)
  }

  /** Picoseconds since the epoch, rounded down when the resolution is finer; undefined without a time. */
  get timePs(): bigint | undefined {
    return scaled(this, 1_000_000_000_000n)
  }
}

const scaled = (packet: PacketRecord, perSecond: bigint): bigint | undefined => {
  const ticks = packet.ticks
  if (ticks === undefined) return undefined
  const { ticksPerSecond, offsetSeconds } = packet.interface
  return (ticks * perSecond) / ticksPerSecond + offsetSeconds * perSecond
}

/** Orders two packets by time, exactly, whatever their resolutions. A packet without a time is before all others. */
export const compareTimes = (a: PacketRecord, b: PacketRecord): number => {
  const { ticksPerSecond: perA, offsetSeconds: offsetA, splitSeconds } = a.interface
  const { ticksPerSecond: perB, offsetSeconds: offsetB } = b.interface
  if (a.timeHigh < 0 || b.timeHigh < 0) return Math.sign(a.timeHigh - b.timeHigh)
  if (perA === perB && offsetA === offsetB && splitSeconds === b.interface.splitSeconds) {
    // A fraction of a second or more is not unheard of in pcap files.
    if (!splitSeconds || a.timeHigh === b.timeHigh) {
      return a.timeHigh === b.timeHigh ? Math.sign(a.timeLow - b.timeLow) : Math.sign(a.timeHigh - b.timeHigh)
    }
  }
  const left = (a.ticks! + offsetA * perA) * perB
  const right = (b.ticks! + offsetB * perB) * perA
  return left < right ? -1 : left > right ? 1 : 0
}

interface Placed {
  /** Octets from the start of the file to this record. */
  readonly offset: number
}

/** The start of a file, or of another section of a pcapng file. */
export interface SectionRecord extends Placed {
  readonly kind: "section"
  readonly format: "pcap" | "pcapng"
  readonly littleEndian: boolean
  readonly majorVersion: number
  readonly minorVersion: number
  /** Octets of the section behind its header, when it says so. Nothing relies on it. */
  readonly sectionOctets: bigint | undefined
  readonly options: ReadonlyArray<CaptureOption>
}

export interface InterfaceRecord extends Placed {
  readonly kind: "interface"
  readonly interface: CaptureInterface
}

/** An address and its names: 4 octets are IPv4, 6 a MAC address, 8 EUI-64, 16 IPv6. */
export interface ResolvedName {
  readonly type: number
  readonly address: Uint8Array
  readonly names: ReadonlyArray<string>
}

export interface NamesRecord extends Placed {
  readonly kind: "names"
  readonly entries: ReadonlyArray<ResolvedName>
  readonly options: ReadonlyArray<CaptureOption>
}

/** Counters of an interface at a time. */
export interface StatisticsRecord extends Placed {
  readonly kind: "statistics"
  readonly interface: CaptureInterface
  /** In the resolution of the interface, before its `offsetSeconds`. */
  readonly ticks: bigint
  readonly options: ReadonlyArray<CaptureOption>
}

/** Keys for decryption; `secretsType` 0x544c534b is a TLS key log. */
export interface SecretsRecord extends Placed {
  readonly kind: "secrets"
  readonly secretsType: number
  readonly data: Uint8Array
  readonly options: ReadonlyArray<CaptureOption>
}

/** A custom block of the enterprise with an IANA number. What `data` means, and its byte order, is theirs. */
export interface CustomRecord extends Placed {
  readonly kind: "custom"
  readonly enterprise: number
  /** Whether a program that does not know the block may copy it into another file. */
  readonly copyable: boolean
  readonly data: Uint8Array
}

/** A block this package does not know, as it stands. */
export interface BlockRecord extends Placed {
  readonly kind: "block"
  readonly type: number
  readonly littleEndian: boolean
  readonly body: Uint8Array
}

/** Whatever a capture holds, in the order of the file. */
export type CaptureRecord =
  | PacketRecord
  | SectionRecord
  | InterfaceRecord
  | NamesRecord
  | StatisticsRecord
  | SecretsRecord
  | CustomRecord
  | BlockRecord

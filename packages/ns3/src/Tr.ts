import { Ns3FormatError } from "./FormatError.ts"

/** Octets of one record. */
export const TR_RECORD_OCTETS = 56
/** Octets of one port in the header. */
export const TR_PORT_OCTETS = 11

/** l3Prot of a record. QP is no packet: a queue pair became available. */
export const trProtocols = { qp: 0x00, tcp: 0x06, data: 0x11, ack: 0xfc, nack: 0xfd, pfc: 0xfe, cnp: 0xff } as const

/** event of a record: its index. */
export const trEvents = ["Recv", "Enqu", "Dequ", "Drop"] as const

/** The speed of one port. */
export interface TrPort {
  readonly node: number
  /** From 1. */
  readonly intf: number
  readonly bps: number
}

/**
 * The header of a trace: the ports, which readers take as a map (the original writes them in the order of an unordered
 * one), and the largest bandwidth-delay product in bytes, its low 32 bits.
 */
export interface TrHeader {
  readonly ports: ReadonlyArray<TrPort>
  readonly windowBytes: number
}

/**
 * One record of a trace, seen through a cursor: {@link TrReader} moves it, so keep values and not the cursor.
 * Fields of one kind of packet share octets with those of the others, as in the original's union: read those of the
 * record's own `l3Prot`. The padding (30–31; 52–55 of data; 44–47 of ACKs; all behind the last field of other kinds)
 * is whatever was in memory, and has no field here.
 */
export class TrRecord {
  #view: DataView
  #at: number

  constructor(octets: Uint8Array = new Uint8Array(TR_RECORD_OCTETS), at = 0) {
    this.#view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
    this.#at = at
  }

  /** Moves the cursor to the record at octet `at` of `octets`. */
  seek(octets: Uint8Array, at: number): void {
    if (octets.buffer !== this.#view.buffer || octets.byteOffset !== this.#view.byteOffset) {
      this.#view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
    }
    this.#at = at
  }

  /** Copies the record to octet `at` of `target`. */
  copyTo(target: Uint8Array, at: number): void {
    target.set(new Uint8Array(this.#view.buffer, this.#view.byteOffset + this.#at, TR_RECORD_OCTETS), at)
  }

  /** Whether all octets are the same, garbage included: less work than looking at fields. */
  sameOctets(other: TrRecord): boolean {
    for (let offset = 0; offset < TR_RECORD_OCTETS; offset += 4) {
      if (this.u32(offset) !== other.u32(offset)) return false
    }
    return true
  }

  /** Nanoseconds. */
  get time(): number {
    return this.u64(0)
  }
  get node(): number {
    return this.u16(8)
  }
  /** The interface, from 1. */
  get intf(): number {
    return this.u8(10)
  }
  /** The queue, 0..7; 0 holds control packets. */
  get qidx(): number {
    return this.u8(11)
  }
  /** Bytes in that queue of the port, before an enqueue and after a dequeue; 0 on hosts. */
  get qlen(): number {
    return this.u32(12)
  }
  get sip(): number {
    return this.u32(16)
  }
  get dip(): number {
    return this.u32(20)
  }
  /** Bytes of the packet, its 14 of Ethernet included. */
  get size(): number {
    return this.u16(24)
  }
  /** See {@link trProtocols}. */
  get l3Prot(): number {
    return this.u8(26)
  }
  /** Index into {@link trEvents}. */
  get event(): number {
    return this.u8(27)
  }
  /** The two ECN bits. */
  get ecn(): number {
    return this.u8(28)
  }
  /** 0 for a host, 1 for a switch. */
  get nodeType(): number {
    return this.u8(29)
  }
  /** Of data, ACKs, NACKs and QPs. */
  get sport(): number {
    return this.u16(32)
  }
  get dport(): number {
    return this.u16(34)
  }
  /** Byte offset of the payload, of data. */
  get dataSeq(): number {
    return this.u32(36)
  }
  /** Nanoseconds; 0 where the headers carry no time, of data. */
  get dataTs(): number {
    return this.u64(40)
  }
  get dataPg(): number {
    return this.u16(48)
  }
  /** Bytes, of data. */
  get payload(): number {
    return this.u16(50)
  }
  /** Bit 0: congestion was notified, of ACKs and NACKs. */
  get ackFlags(): number {
    return this.u16(36)
  }
  get ackPg(): number {
    return this.u16(38)
  }
  /** The next byte expected, of ACKs and NACKs. */
  get ackSeq(): number {
    return this.u32(40)
  }
  get ackTs(): number {
    return this.u64(48)
  }
  /** Microseconds of pause, 0 for a resume. */
  get pfcTime(): number {
    return this.u32(32)
  }
  get pfcQlen(): number {
    return this.u32(36)
  }
  get pfcQueue(): number {
    return this.u8(40)
  }
  get cnpFid(): number {
    return this.u16(32)
  }
  get cnpQueue(): number {
    return this.u8(34)
  }
  get cnpEcn(): number {
    return this.u8(35)
  }
  /** Marked and all packets, of CNPs, as 16 bits each from the low end. */
  get cnpSeq(): number {
    return this.u32(36)
  }

  u8(offset: number): number {
    return this.#view.getUint8(this.#at + offset)
  }
  u16(offset: number): number {
    return this.#view.getUint16(this.#at + offset, true)
  }
  u32(offset: number): number {
    return this.#view.getUint32(this.#at + offset, true)
  }
  /** Exact to 2^53. */
  u64(offset: number): number {
    return this.u32(offset) + this.u32(offset + 4) * 0x100000000
  }
}

/**
 * Reads a trace from chunks of any size: {@link push} each, then {@link end}. The cursor that `each` is handed is one
 * and the same, and holds only until `each` returns. Keeps at most one unfinished record and the header's ports.
 *
 * Throws {@link Ns3FormatError}, with the offset, for what cannot be a trace: ports without speed, unknown kinds of
 * packet, events or nodes, a clock that goes back; and for an end in the middle of a record.
 */
export class TrReader {
  readonly #file: string
  readonly #record = new TrRecord()
  readonly #ports: Array<TrPort> = []
  readonly #partial = new Uint8Array(TR_RECORD_OCTETS)
  #partialLength = 0
  #needed = 4
  #portsLeft = -1
  #header: TrHeader | undefined
  #offset = 0
  #time = 0
  /** Records read. */
  count = 0

  constructor(file: string) {
    this.#file = file
  }

  /** The header, once it has been read. */
  get header(): TrHeader | undefined {
    return this.#header
  }

  /** Reads a chunk; `each` sees every record that it completes, with its index. */
  push(chunk: Uint8Array, each: (record: TrRecord, index: number) => void): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#partialLength === 0 && chunk.length - at >= this.#needed) {
        const length = this.#needed
        this.#take(chunk, at, each)
        at += length
      } else {
        const length = Math.min(this.#needed - this.#partialLength, chunk.length - at)
        this.#partial.set(chunk.subarray(at, at + length), this.#partialLength)
        this.#partialLength += length
        at += length
        if (this.#partialLength < this.#needed) return
        this.#partialLength = 0
        this.#take(this.#partial, 0, each)
      }
    }
  }

  /** The file ends here. */
  end(): TrHeader {
    const cut = this.#partialLength > 0
    if (this.#header !== undefined && !cut) return this.#header
    const field = this.#header === undefined ? "header" : `record ${this.count}`
    const found = cut ? `${this.#partialLength} octets` : ""
    throw this.#fault(field, found, `${this.#needed} octets`, this.#offset, "the file was cut off")
  }

  #take(octets: Uint8Array, at: number, each: (record: TrRecord, index: number) => void): void {
    const record = this.#record
    record.seek(octets, at)
    const length = this.#needed
    if (this.#header !== undefined) {
      this.#checkRecord(record)
      each(record, this.count++)
    } else if (this.#portsLeft < 0) this.#expectPorts(record.u32(0))
    else if (this.#portsLeft > 0) {
      this.#addPort({ node: record.u16(0), intf: record.u8(2), bps: record.u64(3) })
      this.#expectPorts(this.#portsLeft - 1)
    } else {
      this.#header = { ports: this.#ports, windowBytes: record.u32(0) }
      this.#needed = TR_RECORD_OCTETS
    }
    this.#offset += length
  }

  #expectPorts(count: number): void {
    this.#portsLeft = count
    this.#needed = count > 0 ? TR_PORT_OCTETS : 4
  }

  #addPort(port: TrPort): void {
    if (port.intf === 0 || port.bps === 0 || !Number.isSafeInteger(port.bps)) {
      const found = `node ${port.node} interface ${port.intf} at ${port.bps} bits/s`
      throw this.#fault("port", found, "an interface from 1 and its speed", this.#offset, "is this a trace?")
    }
    this.#ports.push(port)
  }

  #checkRecord(record: TrRecord): void {
    const { time, event, l3Prot, nodeType } = record
    const known = l3Prot >= 0xfc || l3Prot === 0x11 || l3Prot === 0x06 || l3Prot === 0x00
    if (!known) this.#refuse("l3Prot", `0x${l3Prot.toString(16)}`, "0x0, 0x6, 0x11 or 0xfc..0xff", 26)
    if (event >= trEvents.length) this.#refuse("event", String(event), `0..${trEvents.length - 1}`, 27)
    if (nodeType > 1) this.#refuse("nodeType", String(nodeType), "0 or 1", 29)
    if (time < this.#time || !Number.isSafeInteger(time)) {
      this.#refuse("time", String(time), `a time from ${this.#time}, that of the record before`, 0)
    }
    this.#time = time
  }

  #refuse(field: string, found: string, expected: string, offset: number): never {
    throw this.#fault(`record ${this.count} ${field}`, found, expected, this.#offset + offset, "the file is damaged")
  }

  #fault(field: string, found: string, expected: string, offset: number, hint: string): Ns3FormatError {
    return new Ns3FormatError({ file: this.#file, line: 0, column: 0, field, found, expected, hint, offset })
  }
}

/** Reads a whole trace; `each` as in {@link TrReader.push}. */
export const readTr = (octets: Uint8Array, file: string, each: (record: TrRecord, index: number) => void): TrHeader => {
  const reader = new TrReader(file)
  reader.push(octets, each)
  return reader.end()
}

import { TR_RECORD_OCTETS, type TrHeader, trProtocols } from "./Tr.ts"
import { encodeTrHeader } from "./TrHeader.ts"

const RECORDS_PER_CHUNK = 1170

/** Takes the octets of a trace, chunk by chunk; a chunk is the sink's to keep. */
export type TrSink = (octets: Uint8Array) => void

/**
 * Writes a trace: the header at once, then a record a call, handed on in chunks of about 64 KiB. Nothing is made per
 * record but a share of its chunk. Padding is zero. Call {@link flush} at the end.
 *
 * Times are nanoseconds below 2^53; other values keep as many low bits as their field has.
 */
export class TrWriter {
  readonly #sink: TrSink
  #octets = new Uint8Array(RECORDS_PER_CHUNK * TR_RECORD_OCTETS)
  #view = new DataView(this.#octets.buffer)
  #length = 0
  /** Records written. */
  count = 0

  constructor(header: TrHeader, sink: TrSink) {
    this.#sink = sink
    sink(encodeTrHeader(header))
  }

  /** A data packet. */
  data(
    time: number,
    node: number,
    intf: number,
    qidx: number,
    qlen: number,
    sip: number,
    dip: number,
    size: number,
    event: number,
    ecn: number,
    nodeType: number,
    sport: number,
    dport: number,
    seq: number,
    ts: number,
    pg: number,
    payload: number,
  ): void {
    const at = this.#head(time, node, intf, qidx, qlen, sip, dip, size, trProtocols.data, event, ecn, nodeType)
    const view = this.#view
    view.setUint16(at + 32, sport, true)
    view.setUint16(at + 34, dport, true)
    view.setUint32(at + 36, seq, true)
    this.#u64(at + 40, ts)
    view.setUint16(at + 48, pg, true)
    view.setUint16(at + 50, payload, true)
  }

  /** An ACK, or a NACK when `nack`. */
  ack(
    time: number,
    node: number,
    intf: number,
    qidx: number,
    qlen: number,
    sip: number,
    dip: number,
    size: number,
    event: number,
    ecn: number,
    nodeType: number,
    sport: number,
    dport: number,
    flags: number,
    pg: number,
    seq: number,
    ts: number,
    nack = false,
  ): void {
    const protocol = nack ? trProtocols.nack : trProtocols.ack
    const at = this.#head(time, node, intf, qidx, qlen, sip, dip, size, protocol, event, ecn, nodeType)
    const view = this.#view
    view.setUint16(at + 32, sport, true)
    view.setUint16(at + 34, dport, true)
    view.setUint16(at + 36, flags, true)
    view.setUint16(at + 38, pg, true)
    view.setUint32(at + 40, seq, true)
    this.#u64(at + 48, ts)
  }

  /** A PFC frame: `pauseUs` 0 is a resume; `pauseQlen` and `pauseQueue` are the bytes and the number of the queue. */
  pfc(
    time: number,
    node: number,
    intf: number,
    qidx: number,
    qlen: number,
    sip: number,
    dip: number,
    size: number,
    event: number,
    ecn: number,
    nodeType: number,
    pauseUs: number,
    pauseQlen: number,
    pauseQueue: number,
  ): void {
    const at = this.#head(time, node, intf, qidx, qlen, sip, dip, size, trProtocols.pfc, event, ecn, nodeType)
    const view = this.#view
    view.setUint32(at + 32, pauseUs, true)
    view.setUint32(at + 36, pauseQlen, true)
    view.setUint8(at + 40, pauseQueue)
  }

  /** A CNP: `seq` holds marked and all packets, 16 bits each from the low end. */
  cnp(
    time: number,
    node: number,
    intf: number,
    qidx: number,
    qlen: number,
    sip: number,
    dip: number,
    size: number,
    event: number,
    ecn: number,
    nodeType: number,
    fid: number,
    queue: number,
    ecnBits: number,
    seq: number,
  ): void {
    const at = this.#head(time, node, intf, qidx, qlen, sip, dip, size, trProtocols.cnp, event, ecn, nodeType)
    const view = this.#view
    view.setUint16(at + 32, fid, true)
    view.setUint8(at + 34, queue)
    view.setUint8(at + 35, ecnBits)
    view.setUint32(at + 36, seq, true)
  }

  /** A queue pair that became available. */
  qp(
    time: number,
    node: number,
    intf: number,
    qidx: number,
    sip: number,
    dip: number,
    event: number,
    nodeType: number,
    sport: number,
    dport: number,
  ): void {
    const at = this.#head(time, node, intf, qidx, 0, sip, dip, 0, trProtocols.qp, event, 0, nodeType)
    this.#view.setUint16(at + 32, sport, true)
    this.#view.setUint16(at + 34, dport, true)
  }

  /** Hands on what is written so far. */
  flush(): void {
    if (this.#length === 0) return
    const octets = this.#octets.subarray(0, this.#length)
    this.#octets = new Uint8Array(RECORDS_PER_CHUNK * TR_RECORD_OCTETS)
    this.#view = new DataView(this.#octets.buffer)
    this.#length = 0
    this.#sink(octets)
  }

  #head(
    time: number,
    node: number,
    intf: number,
    qidx: number,
    qlen: number,
    sip: number,
    dip: number,
    size: number,
    l3Prot: number,
    event: number,
    ecn: number,
    nodeType: number,
  ): number {
    if (this.#length === this.#octets.length) this.flush()
    const at = this.#length
    const view = this.#view
    this.#length = at + TR_RECORD_OCTETS
    this.count++
    this.#u64(at, time)
    view.setUint16(at + 8, node, true)
    view.setUint8(at + 10, intf)
    view.setUint8(at + 11, qidx)
    view.setUint32(at + 12, qlen, true)
    view.setUint32(at + 16, sip, true)
    view.setUint32(at + 20, dip, true)
    view.setUint16(at + 24, size, true)
    view.setUint8(at + 26, l3Prot)
    view.setUint8(at + 27, event)
    view.setUint8(at + 28, ecn)
    view.setUint8(at + 29, nodeType)
    return at
  }

  #u64(at: number, value: number): void {
    this.#view.setUint32(at, value, true)
    this.#view.setUint32(at + 4, value / 0x100000000, true)
  }
}

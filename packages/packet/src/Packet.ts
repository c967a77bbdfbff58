import {
  EXT,
  EXTENSION,
  EXTENSION_SHIFT,
  FLOW,
  HOP_SHIFT,
  INGRESS,
  META,
  NODES,
  PATH_SHIFT,
  PAYLOAD_BYTES,
  PLACE,
  PSN,
  RECORD_SHIFT,
  STAMP_F64,
  TELEMETRY,
  UDP_PORTS,
  WIRE_BYTES,
} from "./Layout.ts"
import { Flag } from "./Opcode.ts"
import type { PacketPool } from "./PacketPool.ts"
import { BORROWED, type PayloadPlace } from "./Payloads.ts"
import { packHop, unpackHops } from "./Telemetry.ts"

/**
 * A cursor over one packet of a pool. One cursor serves a whole world: `at(handle)` moves it, the accessors read and
 * write the record it stands on. Whoever is handed a cursor never keeps it.
 */
export class Packet {
  readonly pool: PacketPool
  handle = -1
  private base = 0

  constructor(pool: PacketPool) {
    this.pool = pool
  }

  /** Moves the cursor to a packet. */
  at(handle: number): this {
    this.handle = handle
    this.base = handle << RECORD_SHIFT
    return this
  }

  private word(index: number): number {
    return this.pool.words[this.base + index]!
  }
  private setWord(index: number, value: number): void {
    this.pool.words[this.base + index] = value
  }

  /** What the packet is (see `Opcode`). */
  get opcode(): number {
    return this.word(META) & 0xff
  }
  set opcode(value: number) {
    this.setWord(META, (this.word(META) & ~0xff) | value)
  }
  /** True when every given flag bit (see `Flag`) is set. */
  has(flag: number): boolean {
    return (this.word(META) & flag) === flag
  }
  set(flag: number): void {
    this.setWord(META, this.word(META) | flag)
  }
  clear(flag: number): void {
    this.setWord(META, this.word(META) & ~flag)
  }
  /** Opcode, flags, priority and ECN in one write; the builder's short cut. */
  set meta(value: number) {
    this.setWord(META, value)
  }
  get meta(): number {
    return this.word(META)
  }
  /** Traffic class priority, 0 to 7. */
  get priority(): number {
    return (this.word(META) >>> 24) & 7
  }
  set priority(value: number) {
    this.setWord(META, (this.word(META) & ~0x07000000) | (value << 24))
  }
  /** ECN code point (see `Ecn`). */
  get ecn(): number {
    return (this.word(META) >>> 28) & 3
  }
  set ecn(value: number) {
    this.setWord(META, (this.word(META) & ~0x30000000) | (value << 28))
  }

  /** Size on the wire, bytes, as the run's framing counts it. */
  get wireBytes(): number {
    return this.word(WIRE_BYTES)
  }
  set wireBytes(value: number) {
    this.setWord(WIRE_BYTES, value)
  }
  /** Payload, bytes. */
  get payloadBytes(): number {
    return this.word(PAYLOAD_BYTES)
  }
  set payloadBytes(value: number) {
    this.setWord(PAYLOAD_BYTES, value)
  }
  /** Packet sequence number, 0 to 2^24 - 1. */
  get psn(): number {
    return this.word(PSN) & 0xffffff
  }
  set psn(value: number) {
    this.setWord(PSN, (this.word(PSN) & ~0xffffff) | (value & 0xffffff))
  }
  get source(): number {
    return this.word(NODES) & 0xffff
  }
  get destination(): number {
    return this.word(NODES) >>> 16
  }
  /** Source and destination node, 0 to 65,535 each. */
  setNodes(source: number, destination: number): void {
    this.setWord(NODES, source | (destination << 16))
  }
  /** UDP source port in the low half, destination port in the high half. */
  get udpPorts(): number {
    return this.word(UDP_PORTS) >>> 0
  }
  set udpPorts(value: number) {
    this.setWord(UDP_PORTS, value)
  }
  /** Cache index of flow and direction: 2·flow for packets towards the flow's target, 2·flow + 1 for those back. */
  get flow(): number {
    return this.word(FLOW)
  }
  set flow(value: number) {
    this.setWord(FLOW, value)
  }
  /** Port by which the packet entered the node it is at, below 2^20. */
  get ingressPort(): number {
    return this.word(PLACE) & INGRESS
  }
  set ingressPort(port: number) {
    this.setWord(PLACE, (this.word(PLACE) & ~INGRESS) | port)
  }
  /** Switches passed so far. */
  get hop(): number {
    return this.word(PSN) >>> HOP_SHIFT
  }
  set hop(value: number) {
    this.setWord(PSN, (this.word(PSN) & 0xffffff) | (value << HOP_SHIFT))
  }
  /** The packet entered a switch: one hop more. */
  enterSwitch(ingressPort: number): void {
    this.ingressPort = ingressPort
    this.setWord(PSN, this.word(PSN) + (1 << HOP_SHIFT))
  }
  /** Time stamped by the sender, ps; an acknowledgement carries its request's. */
  get stamp(): number {
    return this.pool.f64[(this.base >> 1) + STAMP_F64]!
  }
  set stamp(time: number) {
    this.pool.f64[(this.base >> 1) + STAMP_F64] = time
  }

  /** Telemetry of this packet: block and hops so far in one word, or -1. */
  get telemetry(): number {
    return this.word(TELEMETRY)
  }
  /** Hops stamped so far; 0 without telemetry. */
  get telemetryHops(): number {
    const telemetry = this.word(TELEMETRY)
    return telemetry < 0 ? 0 : telemetry >>> 24
  }
  /** Attaches a fresh telemetry block (the pool must carry telemetry). */
  addTelemetry(): void {
    // The pool may grow while it allocates, so the block comes first.
    const block = this.pool.allocTelemetry()
    this.setWord(TELEMETRY, block)
  }
  /** PINT digest (Ben Basat et al., SIGCOMM 2020), which takes the place of telemetry: at least 0; -1 for none. */
  get pint(): number {
    const telemetry = this.word(TELEMETRY)
    return telemetry < -1 ? -2 - telemetry : -1
  }
  /** The packet must have no telemetry block. */
  set pint(digest: number) {
    this.setWord(TELEMETRY, -2 - digest)
  }
  /** Takes the telemetry (or the PINT digest) off this packet, for another to carry it back. The caller owns it then. */
  detachTelemetry(): number {
    const telemetry = this.word(TELEMETRY)
    this.setWord(TELEMETRY, -1)
    return telemetry
  }
  /** @param pathId that of the packet it was taken off */
  attachTelemetry(telemetry: number, pathId: number): void {
    this.setWord(TELEMETRY, telemetry)
    this.setWord(PLACE, (this.word(PLACE) & INGRESS) | (pathId << PATH_SHIFT))
  }
  /**
   * Appends one hop to the telemetry; false when there is no room for it.
   * @param time ps @param sentBytes bytes the port has sent @param queueBytes bytes waiting
   * @param rateCode index of the port's rate in the pool's `telemetryRates`
   * @param pathId XORed into the path identifier (HPCC §4.1: 12-bit switch ids)
   */
  stampHop(time: number, sentBytes: number, queueBytes: number, rateCode: number, pathId: number): boolean {
    const { pool } = this
    const telemetry = this.word(TELEMETRY)
    const hops = telemetry >>> 24
    if (telemetry < 0 || hops >= pool.telemetryHops) return false
    const base = (telemetry & 0xffffff) * pool.telemetryStride
    const format = pool.telemetryFormat
    packHop(format, pool.telemetry, base + hops * format.hopWords, time, sentBytes, queueBytes, rateCode)
    this.setWord(PLACE, this.word(PLACE) ^ (pathId << PATH_SHIFT))
    this.setWord(TELEMETRY, telemetry + 0x1000000)
    return true
  }
  /** Path identifier gathered so far, 12 bits. */
  get pathId(): number {
    return this.word(PLACE) >>> PATH_SHIFT
  }
  /** Writes the hops stamped so far into `out`, four numbers each (time, bytes sent, queue, rate); returns how many. */
  readTelemetry(out: Float64Array): number {
    const { pool } = this
    const telemetry = this.word(TELEMETRY)
    if (telemetry < 0) return 0
    const hops = telemetry >>> 24
    const at = (telemetry & 0xffffff) * pool.telemetryStride
    unpackHops(pool.telemetryFormat, pool.telemetry, at, hops, pool.telemetryRates, out)
    return hops
  }

  /** Extension record of this packet, or -1. */
  get extension(): number {
    return this.word(EXTENSION)
  }
  /** Attaches an extension record when the packet has none; returns its first word's index in `pool.extension`. */
  extend(): number {
    let index = this.word(EXTENSION)
    if (index < 0) {
      index = this.pool.allocExtension()
      this.setWord(EXTENSION, index)
    }
    return index << EXTENSION_SHIFT
  }
  /**
   * A payload of real octets, `bytes` long, in a fresh slice of the pool's `payloads`: where it lies, to be filled in. The
   * packet owns the slice: it goes back with the packet. A packet has one payload.
   * @throws PoolExhausted
   * @throws PayloadTooLong for more than `SLICE_BYTES`
   */
  addPayload(bytes: number): PayloadPlace {
    const { payloads } = this.pool
    const slice = payloads.alloc(bytes)
    const at = this.extend()
    this.pool.extension[at + EXT.payloadSlice] = slice
    this.pool.extension[at + EXT.payloadOffset] = 0
    this.payloadBytes = bytes
    this.set(Flag.SlabPayload)
    return payloads.place(slice, 0)
  }
  /** A payload that lies in somebody else's octets, for as long as the packet is in hand: the pool keeps no copy. */
  borrowPayload(octets: Uint8Array, start: number, bytes: number): void {
    const { payloads } = this.pool
    payloads.borrowed = octets
    const at = this.extend()
    this.pool.extension[at + EXT.payloadSlice] = BORROWED
    this.pool.extension[at + EXT.payloadOffset] = start
    this.payloadBytes = bytes
    this.set(Flag.SlabPayload)
  }
  /** Where the payload lies, good until the next call; undefined when it is synthetic, or there is none. */
  get payload(): PayloadPlace | undefined {
    if (!this.has(Flag.SlabPayload)) return undefined
    const { extension, payloads } = this.pool
    const at = this.extension << EXTENSION_SHIFT
    return payloads.place(extension[at + EXT.payloadSlice]!, extension[at + EXT.payloadOffset]!)
  }
}

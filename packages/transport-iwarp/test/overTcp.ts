import { BASE, fixedWindow, flowAddress, TestMemory } from "@rdmakit/conformance"
import type { Message, Packet } from "@rdmakit/packet"
import {
  type Engine,
  type FlowCommand,
  type FlowEvent,
  makeAck,
  type Time,
  WcStatus,
  WrOpcode,
} from "@rdmakit/protocol"
import { type TcpConfig, TcpEndpoint, type TcpTransportOptions, tcpConfig } from "@rdmakit/transport-tcp"
import type { IwarpQueuePair } from "../src/index.ts"
import { path } from "./flows.ts"
import { bring, type End, engineOf, pattern, remote, sge } from "./pair.ts"

/** Bytes of a message at most. */
export const MESSAGE_BYTES_MAX = 100_000
/** Of the memory of each end: what it sends, and behind it what its peer writes. */
const HALF_BYTES = 1 << 17
/** What a full FPDU has beside payload: 2 octets of length, 14 of a tagged header and 4 of the CRC. */
const FPDU_OVERHEAD = 20
const sent = pattern(MESSAGE_BYTES_MAX)
/** WRITEs, whose completions nobody waits for. */
const WRITE_ID = 2 ** 40

/** One end of a TCP connection that carries octets, which are taken in order. */
class OctetStream extends TcpEndpoint {
  private readonly onOctets: (octets: Uint8Array) => void
  private readonly written = new Map<number, Uint8Array>()
  private readonly held = new Map<number, Uint8Array>()
  private writes = 0

  constructor(now: Time, config: TcpConfig, end: End, seed: number, onOctets: (octets: Uint8Array) => void) {
    super(now, config, makeAck(1), flowAddress(end, { ...path, seed }))
    this.onOctets = onOctets
  }

  write(now: Time, octets: Uint8Array): void {
    this.written.set(this.writes, octets)
    this.command(now, { message: this.writes++, writeBytes: octets.length })
  }

  /** Octets that TCP may have to send again are kept until they are acknowledged. Whether the connection has failed. */
  settle(): boolean {
    let failed = false
    for (let event = this.pollEvent(); event !== undefined; event = this.pollEvent()) {
      this.written.delete(event.message)
      failed ||= event.type !== "completed"
    }
    return failed
  }

  protected override fill(out: Packet, { id }: Message, offset: number, bytes: number): number {
    const { octets, start } = out.addPayload(bytes)
    octets.set(this.written.get(id)!.subarray(offset, offset + bytes), start)
    return 0
  }

  protected override deliver(packet: Packet): boolean {
    this.onOctets(octetsOf(packet))
    return true
  }

  protected override keep(number: number, packet: Packet): void {
    this.held.set(number, octetsOf(packet))
  }

  protected override passOn(): void {
    for (let octets = this.held.get(this.expected); octets !== undefined; octets = this.held.get(this.expected)) {
      this.onOctets(octets)
      this.held.delete(this.expected++)
    }
  }
}

const octetsOf = ({ payload, payloadBytes }: Packet): Uint8Array =>
  payload === undefined ? new Uint8Array(0) : payload.octets.slice(payload.start, payload.start + payloadBytes)

/** A memory that notes how far its peer has written. */
class WrittenMemory extends TestMemory {
  written = 0

  override write(...parameters: Parameters<TestMemory["write"]>) {
    const [, , isRemote, address, , , bytes] = parameters
    if (isRemote) this.written = Math.max(this.written, address + bytes - BASE - HALF_BYTES)
    return super.write(...parameters)
  }
}

/**
 * A queue pair of iWARP, whose octets TCP carries in packets. A message is a WRITE and a READ of nothing behind it, which
 * the peer answers when the WRITE is in its memory (RFC 5040 §5.5): it completes when the READ does.
 */
export class IwarpOverTcp implements Engine<FlowCommand, FlowEvent> {
  readonly memory = new WrittenMemory(2 * HALF_BYTES)
  private readonly queuePair: IwarpQueuePair
  private readonly stream: OctetStream
  private readonly sizes = new Map<number, number>()
  private now: Time

  constructor(now: Time, end: End, config: TcpConfig, { seed = 0, ready = false } = {}) {
    this.now = now
    this.memory.octets.set(sent)
    this.queuePair = engineOf(end, this.memory, { segmentBytes: config.mtuBytes - FPDU_OVERHEAD })
    this.stream = new OctetStream(now, config, end, seed, (octets) => this.queuePair.handleOctets(this.now, octets))
    bring(this.queuePair)
    this.queuePair.attach(now, { initiator: end === 0, crc: true, markers: false, ready })
    this.drain()
  }

  get nextSend(): Time {
    return this.stream.nextSend
  }
  get nextTimeout(): Time {
    return this.stream.nextTimeout
  }

  /** Whether what the peer has written is what it had, and nothing else has changed. */
  isRight(): boolean {
    const { octets, written } = this.memory
    const there = octets.subarray(HALF_BYTES)
    return sent.every((octet, at) => there[at] === (at < written ? octet : 0))
  }

  command(now: Time, { message, writeBytes }: FlowCommand): void {
    this.now = now
    this.sizes.set(message, writeBytes)
    const there = remote(HALF_BYTES)
    const write = { id: WRITE_ID, opcode: WrOpcode.RdmaWrite, sges: [sge(0, writeBytes)], signaled: false, ...there }
    const read = { id: message, opcode: WrOpcode.RdmaRead, sges: [], signaled: true, ...there }
    this.queuePair.command(now, { type: "send", request: write })
    this.queuePair.command(now, { type: "send", request: read })
    this.drain()
  }

  handlePacket(now: Time, packet: Packet): void {
    this.now = now
    this.stream.handlePacket(now, packet)
    this.drain()
  }

  handleTimeout(now: Time): void {
    this.now = now
    this.stream.handleTimeout(now)
    this.drain()
  }

  pollTransmit(now: Time, out: Packet): boolean {
    return this.stream.pollTransmit(now, out)
  }

  pollEvent(): FlowEvent | undefined {
    for (let event = this.queuePair.pollEvent(); event !== undefined; event = this.queuePair.pollEvent()) {
      if (event.type !== "completion" || event.completion.id === WRITE_ID) continue
      const { id: message, status } = event.completion
      const type = status === WcStatus.Success ? "completed" : "failed"
      return { type, time: this.now, message, bytes: type === "completed" ? this.sizes.get(message)! : 0 }
    }
    return undefined
  }

  private drain(): void {
    const { queuePair, stream, now } = this
    for (let octets = queuePair.pollOctets(now); octets !== undefined; octets = queuePair.pollOctets(now))
      stream.write(now, octets)
    if (stream.settle()) queuePair.handleClosed(now)
  }
}

/** The two ends of a connection. `ready`: the initiator's first word is a WRITE of nothing, so that the other may speak first. */
export const overTcp = (now: Time, options: Partial<TcpTransportOptions> = {}, opening = {}) => {
  const config = tcpConfig({ controller: fixedWindow(30_000), ...options })
  return [new IwarpOverTcp(now, 0, config, opening), new IwarpOverTcp(now, 1, config, opening)] as const
}

import { type Crossing, EnginePair, type EnginePairOptions } from "@rdmakit/conformance"
import { Layout, Packet, PacketPool } from "@rdmakit/packet"
import {
  type Completion,
  type PeerPath,
  type QpSettings,
  QpState,
  type QpType,
  type ReceiveRequest,
  type SendRequest,
  type Sge,
  type SharedReceives,
  type VerbsCommand,
  type VerbsEngine,
  type VerbsEvent,
  WcStatus,
  WrOpcode,
} from "@rdmakit/protocol"
import { type VerbsOptions, verbsTransport } from "../../src/index.ts"
import { BASE, LOCAL_KEY, REMOTE_KEY, TestMemory } from "./memory.ts"

export type End = 0 | 1

const gid = (last: number): Uint8Array => Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last)

/** The way from an end to the other. */
export const pathOf = (end: End): PeerPath => ({
  node: 5 + end,
  peer: 6 - end,
  flow: end,
  udpSourcePort: 50_000 + end,
  trafficClass: 0,
  hopLimit: 64,
  flowLabel: 0,
  priority: 3,
  sourceGid: gid(1 + end),
  destinationGid: gid(2 - end),
  lineRateBps: 8e9,
  baseRttPs: 2e6,
})

export const QPN: readonly [number, number] = [0x11, 0x22]
export const QUEUE_KEY = 0x1111_1111
/** 4.096 µs · 2^8, about a millisecond. */
export const TIMEOUT_CODE = 8

export interface Setup extends Partial<Omit<EnginePairOptions<VerbsCommand, VerbsEvent>, "pool" | "ends">> {
  readonly type?: QpType
  readonly options?: VerbsOptions
  /** What both ends are set to, in place of the defaults. */
  readonly settings?: Partial<QpSettings>
  readonly memoryBytes?: number
  readonly shared?: readonly [SharedReceives | undefined, SharedReceives | undefined]
  readonly signalAll?: boolean
  /** States the two ends are taken to. */
  readonly states?: readonly [QpState, QpState]
  readonly pool?: PacketPool
  readonly queueMax?: number
}

const names = new Map<number, string>([
  [0x00, "SEND_FIRST"],
  [0x01, "SEND_MIDDLE"],
  [0x02, "SEND_LAST"],
  [0x03, "SEND_LAST_IMM"],
  [0x04, "SEND_ONLY"],
  [0x05, "SEND_ONLY_IMM"],
  [0x06, "WRITE_FIRST"],
  [0x07, "WRITE_MIDDLE"],
  [0x08, "WRITE_LAST"],
  [0x09, "WRITE_LAST_IMM"],
  [0x0a, "WRITE_ONLY"],
  [0x0b, "WRITE_ONLY_IMM"],
  [0x0c, "READ_REQUEST"],
  [0x0d, "READ_RESPONSE_FIRST"],
  [0x0e, "READ_RESPONSE_MIDDLE"],
  [0x0f, "READ_RESPONSE_LAST"],
  [0x10, "READ_RESPONSE_ONLY"],
  [0x11, "ACK"],
  [0x12, "ATOMIC_ACK"],
  [0x13, "CAS"],
  [0x14, "FAA"],
  [0x16, "SEND_LAST_INV"],
  [0x17, "SEND_ONLY_INV"],
  [0x1d, "ATOMIC_WRITE"],
  [0x64, "UD_SEND"],
  [0x65, "UD_SEND_IMM"],
  [0x81, "CNP"],
])

/** A packet in words: who sent it (`>` end 0), opcode, PSN. */
export const words = ({ from, opcode, psn }: Pick<Crossing, "from" | "opcode" | "psn">): string => {
  const name = names.get(opcode) ?? `UC_${names.get(opcode & 0x1f)}`
  return `${from === 0 ? ">" : "<"} ${name} ${psn.toString(16)}`
}

/** Two queue pairs a microsecond apart, connected, path MTU 256, each with a memory of its own. */
export const verbsPair = ({
  type = "rc",
  options = {},
  settings = {},
  memoryBytes = 65_536,
  shared = [undefined, undefined],
  signalAll = false,
  states = [QpState.Rts, QpState.Rts],
  pool = new PacketPool(),
  queueMax = 256,
  ...network
}: Setup = {}) => {
  const memories = [new TestMemory(memoryBytes), new TestMemory(memoryBytes)] as const
  const transport = verbsTransport(options)
  const make = (end: End): VerbsEngine =>
    transport.makeEngine(0, {
      type,
      qpn: QPN[end],
      user: { domain: 1, qpn: QPN[end] },
      memory: memories[end],
      sharedReceives: shared[end],
      sendMax: queueMax,
      receiveMax: queueMax,
      signalAll,
    })
  const ends = [make(0), make(1)] as const
  const pair = new EnginePair<VerbsCommand, VerbsEvent>({ pool, ends, ...network })
  const both = { ...defaults, ...settings }
  const connect = (end: End, to: QpState): void => {
    const { sendPsn, timeout, retryCount, rnrRetry, initiatorDepth, ...receiving } = both
    const modify = (state: QpState, changes: Partial<QpSettings>): void =>
      pair.command(end, { type: "modify", state, settings: changes })
    const { accessFlags, partition, queueKey, ...ready } = receiving
    if (to >= QpState.Init) modify(QpState.Init, { accessFlags, partition, queueKey })
    const path = pathOf(end)
    if (to >= QpState.Rtr) modify(QpState.Rtr, { path, destinationQp: QPN[end === 0 ? 1 : 0], ...ready })
    if (to >= QpState.Rts) modify(QpState.Rts, { sendPsn, timeout, retryCount, rnrRetry, initiatorDepth })
  }
  connect(0, states[0])
  connect(1, states[1])
  let id = 0
  const completions = (end: End, queue: "send" | "receive"): ReadonlyArray<Completion> =>
    pair.events.flatMap(({ end: at, event }) =>
      at === end && event.type === "completion" && event.queue === queue ? [event.completion] : [],
    )
  return {
    pool,
    pair,
    ends,
    memories,
    connect,
    /** Posts work, signaled unless it says otherwise; its id. */
    send: (end: End, request: Partial<SendRequest>): number => {
      const number = ++id
      const whole = { id: number, opcode: WrOpcode.Send, sges: [], signaled: true, ...request }
      pair.command(end, { type: "send", request: whole })
      return number
    },
    receive: (end: End, ...sges: ReadonlyArray<Sge>): number => {
      const number = ++id
      const request: ReceiveRequest = { id: number, sges }
      pair.command(end, { type: "receive", request })
      return number
    },
    modify: (end: End, state: QpState, changes: Partial<QpSettings> = {}): void =>
      pair.command(end, { type: "modify", state, settings: changes }),
    completions,
    /** All completions as `id status`. */
    told: (end: End, queue: "send" | "receive"): ReadonlyArray<string> =>
      completions(end, queue).map(({ id: number, status }) => `${number} ${statusName(status)}`),
    asyncEvents: (end: End): ReadonlyArray<string> =>
      pair.events.flatMap(({ end: at, event }) => (at === end && event.type === "async" ? [event.event] : [])),
    said: (): ReadonlyArray<string> => pair.sent.map(words),
    /** Hands a packet to an end as if it came over the wire. */
    inject: (end: End, fill: (packet: Packet) => void): void => {
      const packet = new Packet(pool).at(pool.alloc())
      packet.setNodes(6 - end, 5 + end)
      const at = packet.extend()
      pool.extension[at + Layout.EXT.partition] = 0xffff
      pool.extension[at + Layout.EXT.destinationQp] = QPN[end]
      fill(packet)
      const { handle } = packet
      ends[end].handlePacket(pair.now, packet)
      pool.release(handle)
      // The pair drains what came of it.
      pair.command(end, { type: "modify", state: ends[end].state, settings: {} })
    },
  }
}

const defaults = {
  accessFlags: 14,
  partition: 0xffff,
  queueKey: QUEUE_KEY,
  pathMtuBytes: 256,
  receivePsn: 0x100,
  sendPsn: 0x100,
  responderResources: 4,
  initiatorDepth: 4,
  minRnrTimer: 1,
  timeout: TIMEOUT_CODE,
  retryCount: 7,
  rnrRetry: 7,
}

const statuses = new Map<number, string>(Object.entries(WcStatus).map(([name, code]) => [code, name]))
export const statusName = (status: WcStatus): string => statuses.get(status) ?? String(status)

/** An element of an end's memory, `offset` bytes into it. */
export const sge = (offset: number, length: number, lkey = LOCAL_KEY): Sge => ({ address: BASE + offset, length, lkey })
/** The other end's memory, as RDMA and atomics name it. */
export const remote = (offset: number) => ({ remoteAddress: BASE + offset, remoteKey: REMOTE_KEY })

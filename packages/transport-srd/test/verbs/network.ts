import {
  BASE,
  type End,
  EnginePair,
  type EnginePairOptions,
  LOCAL_KEY,
  REMOTE_KEY,
  TestMemory,
} from "@rdmakit/conformance"
import { type Packet, PacketPool } from "@rdmakit/packet"
import {
  type CarrierHost,
  type Completion,
  type DeviceTransport,
  type Engine,
  type PeerPath,
  type QpSettings,
  QpState,
  type SendRequest,
  type Sge,
  type Time,
  type VerbsCommand,
  type VerbsEngine,
  type VerbsEvent,
  WcStatus,
  WrOpcode,
} from "@rdmakit/protocol"
import { type SrdVerbsOptions, srdVerbs } from "../../src/index.ts"
import { fixedWindow } from "../connection.ts"

/** The node of the first end's device; the second's is the next. */
const FIRST_NODE = 5
export const QUEUE_KEY = 0x1111
export const QPN: readonly [number, number] = [0x11, 0x22]
export const MTU = 1024

const gid = (last: number): Uint8Array => Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last)

/** The path from one end's device to another node's. */
export const pathTo = (end: End, peer = FIRST_NODE + 1 - end): PeerPath => ({
  node: FIRST_NODE + end,
  peer,
  flow: end,
  udpSourcePort: 50_000,
  trafficClass: 0,
  hopLimit: 64,
  flowLabel: 0,
  priority: 3,
  sourceGid: gid(FIRST_NODE + end),
  destinationGid: gid(peer),
  lineRateBps: 100e9,
  baseRttPs: 12e6,
})

/** A device with one queue pair, as an engine that takes the queue pair's commands. */
export class OneQueuePair implements Engine<VerbsCommand, VerbsEvent> {
  readonly memory = new TestMemory(65_536)
  readonly device: DeviceTransport
  readonly qp: VerbsEngine
  /** Nodes that the device has address handles for. */
  readonly known = new Set<number>()

  constructor(now: Time, end: End, options: Partial<SrdVerbsOptions> = {}) {
    this.known.add(FIRST_NODE + 1 - end)
    const host: CarrierHost = {
      mtuBytes: MTU,
      pathTo: (packet) => pathTo(end, packet.source),
      knows: (peer) => this.known.has(peer),
    }
    this.device = srdVerbs({ controller: fixedWindow(60_000), ...options }).open!(now, host)
    this.qp = this.makeQp(now, QPN[end])
  }

  /** Another queue pair of the device. */
  makeQp(
    now: Time,
    qpn: number,
    limits: { readonly sendMax?: number; readonly signalAll?: boolean } = {},
  ): VerbsEngine {
    const { sendMax = 4096, signalAll = false } = limits
    return this.device.makeEngine(now, {
      type: "srd",
      qpn,
      user: { domain: 1, qpn },
      memory: this.memory,
      sharedReceives: undefined,
      sendMax,
      receiveMax: 4096,
      signalAll,
    })
  }

  bring(now: Time, to: QpState, settings: Partial<QpSettings> = {}, qp = this.qp): void {
    const modify = (state: QpState, changes: Partial<QpSettings>): void =>
      qp.command(now, { type: "modify", state, settings: changes })
    const { rnrRetry, ...rest } = settings
    modify(QpState.Init, { queueKey: QUEUE_KEY, pathMtuBytes: MTU, ...rest })
    if (to >= QpState.Rtr) modify(QpState.Rtr, {})
    if (to >= QpState.Rts) modify(QpState.Rts, { sendPsn: 0, ...(rnrRetry === undefined ? {} : { rnrRetry }) })
  }

  get state(): QpState {
    return this.qp.state
  }
  command(now: Time, command: VerbsCommand): void {
    this.qp.command(now, command)
  }
  handlePacket(now: Time, packet: Packet): void {
    this.device.carrier.handlePacket(now, packet)
  }
  handleTimeout(now: Time): void {
    this.device.carrier.handleTimeout(now)
  }
  pollTransmit(now: Time, out: Packet): boolean {
    return this.device.carrier.pollTransmit(now, out)
  }
  get nextSend(): Time {
    return this.device.carrier.nextSend
  }
  get nextTimeout(): Time {
    return this.device.carrier.nextTimeout
  }
  pollEvent(): VerbsEvent | undefined {
    return this.device.carrier.pollEvent()
  }
}

export interface Setup extends Partial<Omit<EnginePairOptions<VerbsCommand, VerbsEvent>, "pool" | "ends">> {
  readonly options?: Partial<SrdVerbsOptions>
  /** In place of `options`, of the second end. */
  readonly other?: Partial<SrdVerbsOptions>
  readonly states?: readonly [QpState, QpState]
  readonly settings?: Partial<QpSettings>
}

/** Two devices 6 µs apart, each with one queue pair and a memory of its own. */
export const srdPair = ({ options, other, states = [QpState.Rts, QpState.Rts], settings, ...network }: Setup = {}) => {
  const now = network.now ?? 0
  const ends = [new OneQueuePair(now, 0, options), new OneQueuePair(now, 1, other ?? options)] as const
  for (const end of [0, 1] as const) if (states[end] !== QpState.Reset) ends[end].bring(now, states[end], settings)
  const pool = new PacketPool()
  const pair = new EnginePair<VerbsCommand, VerbsEvent>({ path: () => [6e6], ...network, pool, ends })
  let id = 0
  const paths = [pathTo(0), pathTo(1)] as const
  const completions = (end: End, queue: "send" | "receive"): ReadonlyArray<Completion> =>
    pair.events.flatMap(({ end: at, event }) =>
      at === end && event.type === "completion" && event.queue === queue ? [event.completion] : [],
    )
  const to = (end: End): NonNullable<SendRequest["datagram"]> => ({
    path: paths[end],
    qpn: QPN[1 - end]!,
    queueKey: QUEUE_KEY,
  })
  return {
    pool,
    pair,
    ends,
    paths,
    memories: [ends[0].memory, ends[1].memory] as const,
    completions,
    to,
    /** Posts work, signaled and to the other end unless it says otherwise; its id. */
    send: (end: End, request: Partial<SendRequest> = {}): number => {
      const whole = { id: ++id, opcode: WrOpcode.Send, sges: [], signaled: true, datagram: to(end), ...request }
      pair.command(end, { type: "send", request: whole })
      return id
    },
    receive: (end: End, ...sges: ReadonlyArray<Sge>): number => {
      pair.command(end, { type: "receive", request: { id: ++id, sges } })
      return id
    },
    modify: (end: End, state: QpState, changes: Partial<QpSettings> = {}): void =>
      pair.command(end, { type: "modify", state, settings: changes }),
    /** All completions as `id status`, with the vendor's error where there is one. */
    told: (end: End, queue: "send" | "receive"): ReadonlyArray<string> =>
      completions(end, queue).map(
        (each) => `${each.id} ${statusName(each.status)}${each.vendorError === 0 ? "" : ` ${each.vendorError}`}`,
      ),
    unresponsive: (end: End): ReadonlyArray<Time> =>
      pair.events.flatMap(({ end: at, event, time }) => (at === end && event.type === "unresponsive" ? [time] : [])),
    asyncEvents: (end: End): ReadonlyArray<string> =>
      pair.events.flatMap(({ end: at, event }) => (at === end && event.type === "async" ? [event.event] : [])),
  }
}

const statuses = new Map<number, string>(Object.entries(WcStatus).map(([name, code]) => [code, name]))
const statusName = (status: WcStatus): string => statuses.get(status) ?? String(status)

/** An element of an end's memory, `offset` bytes into it. */
export const sge = (offset: number, length: number, lkey = LOCAL_KEY): Sge => ({ address: BASE + offset, length, lkey })
/** The other end's memory, as RDMA names it. */
export const remote = (offset: number, remoteKey = REMOTE_KEY) => ({ remoteAddress: BASE + offset, remoteKey })

export const pattern = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, (_, at) => at * 7 + (at >> 8))

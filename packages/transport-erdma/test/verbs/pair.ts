import {
  BASE,
  type End,
  EnginePair,
  type EnginePairOptions,
  LOCAL_KEY,
  REMOTE_KEY,
  TestMemory,
} from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import {
  type Completion,
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
import { erdmaVerbs } from "../../src/index.ts"
import { fixedWindow } from "../connection.ts"

const gid = (last: number): Uint8Array => Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last)

const pathOf = (end: End): PeerPath => ({
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
  lineRateBps: 100e9,
  baseRttPs: 12e6,
})

export const QPN: readonly [number, number] = [0x11, 0x22]

/** An engine of a queue pair with a memory of its own. */
export const engineOf = (end: End, memory: TestMemory, now: Time = 0): VerbsEngine =>
  erdmaVerbs({ controller: fixedWindow(60_000) }).makeEngine(now, {
    type: "rc",
    qpn: QPN[end],
    user: { domain: 1, qpn: QPN[end] },
    memory,
    sharedReceives: undefined,
    sendMax: 256,
    receiveMax: 256,
    signalAll: false,
  })

/** Takes an engine to a state, as `modify` would: path MTU 1,088, so that 1,024 bytes fit a segment. */
export const bring = (now: Time, engine: VerbsEngine, end: End, to: QpState, settings: Partial<QpSettings>): void => {
  const modify = (state: QpState, changes: Partial<QpSettings>): void =>
    engine.command(now, { type: "modify", state, settings: changes })
  const { initiatorDepth = 4, sendPsn = 0x100 + end, ...more } = settings
  modify(QpState.Init, { accessFlags: 14 })
  const receivePsn = 0x101 - end
  const rtr = { path: pathOf(end), pathMtuBytes: 1088, destinationQp: QPN[1 - end]!, receivePsn, responderResources: 4 }
  if (to >= QpState.Rtr) modify(QpState.Rtr, { ...rtr, ...more })
  if (to >= QpState.Rts) modify(QpState.Rts, { initiatorDepth, sendPsn })
}

export interface Setup extends Partial<Omit<EnginePairOptions<VerbsCommand, VerbsEvent>, "pool" | "ends">> {
  readonly states?: readonly [QpState, QpState]
  readonly settings?: Partial<QpSettings>
}

/** Two queue pairs 6 µs apart, connected, each with a memory of its own. */
export const verbsPair = ({ states = [QpState.Rts, QpState.Rts], settings = {}, ...network }: Setup = {}) => {
  const memories = [new TestMemory(65_536), new TestMemory(65_536)] as const
  const ends = [engineOf(0, memories[0]), engineOf(1, memories[1])] as const
  bring(0, ends[0], 0, states[0], settings)
  bring(0, ends[1], 1, states[1], settings)
  const pool = new PacketPool()
  const pair = new EnginePair<VerbsCommand, VerbsEvent>({ path: () => [6e6], ...network, pool, ends })
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
    completions,
    /** Posts work, signaled unless it says otherwise; its id. */
    send: (end: End, request: Partial<SendRequest>): number => {
      const whole = { id: ++id, opcode: WrOpcode.Send, sges: [], signaled: true, ...request }
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
    asyncEvents: (end: End): ReadonlyArray<string> =>
      pair.events.flatMap(({ end: at, event }) => (at === end && event.type === "async" ? [event.event] : [])),
  }
}

const statuses = new Map<number, string>(Object.entries(WcStatus).map(([name, code]) => [code, name]))
const statusName = (status: WcStatus): string => statuses.get(status) ?? String(status)

/** An element of an end's memory, `offset` bytes into it. */
export const sge = (offset: number, length: number, lkey = LOCAL_KEY): Sge => ({ address: BASE + offset, length, lkey })
/** The other end's memory, as RDMA and atomics name it. */
export const remote = (offset: number, remoteKey = REMOTE_KEY) => ({ remoteAddress: BASE + offset, remoteKey })

export const pattern = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, (_, at) => at * 7 + (at >> 8))

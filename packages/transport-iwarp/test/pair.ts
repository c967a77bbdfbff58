import { BASE, LOCAL_KEY, REMOTE_KEY, TestMemory } from "@rdmakit/conformance"
import {
  type Completion,
  type QpSettings,
  QpState,
  type SendRequest,
  type Sge,
  type VerbsEvent,
  WcStatus,
  WrOpcode,
} from "@rdmakit/protocol"
import { Random } from "@rdmakit/units"
import { type IwarpOptions, type IwarpQueuePair, type IwarpStreamMode, iwarpVerbs } from "../src/index.ts"

export type End = 0 | 1

export interface Setup extends IwarpOptions {
  readonly settings?: Partial<QpSettings>
  readonly mode?: Partial<IwarpStreamMode>
  /** The stream's octets come in pieces of random lengths; default: as they were written. */
  readonly splitSeed?: number
  /** What the stream does to a piece on its way from an end. */
  readonly tamper?: (from: End, octets: Uint8Array) => Uint8Array
}

export const engineOf = (end: End, memory: TestMemory, options: IwarpOptions = {}): IwarpQueuePair =>
  iwarpVerbs(options).makeEngine(0, {
    type: "rc",
    qpn: 0x11 * (end + 1),
    user: { domain: 1, qpn: 0x11 * (end + 1) },
    memory,
    sharedReceives: undefined,
    sendMax: 256,
    receiveMax: 256,
    signalAll: false,
  }) as IwarpQueuePair

export const bring = (engine: IwarpQueuePair, settings: Partial<QpSettings> = {}, to: QpState = QpState.Rts): void => {
  const modify = (state: QpState, changes: Partial<QpSettings>): void =>
    engine.command(0, { type: "modify", state, settings: changes })
  modify(QpState.Init, { accessFlags: 14 })
  modify(QpState.Rtr, { responderResources: 4, ...settings })
  if (to === QpState.Rts) modify(QpState.Rts, { initiatorDepth: 4, ...settings })
}

/** Two queue pairs at the ends of a stream, each with a memory of its own. */
export const iwarpPair = ({ settings = {}, mode = {}, splitSeed, tamper, ...options }: Setup = {}) => {
  const memories = [new TestMemory(1 << 18), new TestMemory(1 << 18)] as const
  const ends = [engineOf(0, memories[0], options), engineOf(1, memories[1], options)] as const
  const random = splitSeed === undefined ? undefined : new Random(splitSeed, 1)
  const events: Array<{ readonly end: End; readonly event: VerbsEvent }> = []
  const closed = [false, false]
  for (const end of [0, 1] as const) {
    bring(ends[end], settings)
    ends[end].attach(0, { initiator: end === 0, crc: true, markers: false, ready: true, ...mode })
  }
  const listen = (end: End): void => {
    for (let event = ends[end].pollEvent(); event !== undefined; event = ends[end].pollEvent())
      events.push({ end, event })
  }
  const carry = (from: End, octets: Uint8Array): void => {
    const to = (1 - from) as End
    const stream = tamper === undefined ? octets : tamper(from, octets)
    for (let at = 0; at < stream.length; ) {
      const bytes = random === undefined ? stream.length : 1 + random.int(Math.min(4000, stream.length - at))
      ends[to].handleOctets(0, stream.subarray(at, at + bytes))
      at += bytes
    }
  }
  const run = (): void => {
    for (let moved = true; moved; ) {
      moved = false
      for (const end of [0, 1] as const) {
        const octets = ends[end].pollOctets(0)
        if (octets !== undefined) {
          moved = true
          carry(end, octets)
        }
        listen(0)
        listen(1)
        if (!closed[end] && ends[end].over) {
          closed[end] = true
          moved = true
          ends[(1 - end) as End].handleClosed(0)
        }
      }
    }
  }
  let id = 0
  const completions = (end: End, queue: "send" | "receive"): ReadonlyArray<Completion> =>
    events.flatMap(({ end: at, event }) =>
      at === end && event.type === "completion" && event.queue === queue ? [event.completion] : [],
    )
  return {
    memories,
    ends,
    run,
    completions,
    send: (end: End, request: Partial<SendRequest>): number => {
      const whole = { id: ++id, opcode: WrOpcode.Send, sges: [], signaled: true, ...request }
      ends[end].command(0, { type: "send", request: whole })
      return id
    },
    receive: (end: End, ...sges: ReadonlyArray<Sge>): number => {
      ends[end].command(0, { type: "receive", request: { id: ++id, sges } })
      return id
    },
    told: (end: End, queue: "send" | "receive"): ReadonlyArray<string> =>
      completions(end, queue).map((each) => `${each.id} ${statusName(each.status)}`),
    asyncEvents: (end: End): ReadonlyArray<string> =>
      events.flatMap(({ end: at, event }) => (at === end && event.type === "async" ? [event.event] : [])),
  }
}

const statuses = new Map<number, string>(Object.entries(WcStatus).map(([name, code]) => [code, name]))
const statusName = (status: WcStatus): string => statuses.get(status) ?? String(status)

export const sge = (offset: number, length: number, lkey = LOCAL_KEY): Sge => ({ address: BASE + offset, length, lkey })
export const remote = (offset: number, remoteKey = REMOTE_KEY) => ({ remoteAddress: BASE + offset, remoteKey })
export const pattern = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, (_, at) => at * 7 + (at >> 8))
export const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

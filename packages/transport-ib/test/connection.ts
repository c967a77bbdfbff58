import { type Crossing, EnginePair, type EnginePairOptions } from "@rdmakit/conformance"
import { Flag, Opcode, PacketPool } from "@rdmakit/packet"
import {
  type Ack,
  type Controller,
  type ControllerFactory,
  type Feedback,
  type FlowCommand,
  type FlowEvent,
  makeAck,
  NEVER,
  type PathInfo,
  type Time,
} from "@rdmakit/protocol"
import { makeQueuePair, ns3Framing, type RcOptions, rcConfig } from "../src/index.ts"

/** 8 Gb/s: a byte takes a nanosecond. */
export const LINE_RATE_BPS = 8e9

export const path: PathInfo = {
  lineRateBps: LINE_RATE_BPS,
  baseRttPs: 2e6,
  windowBytes: 0,
  mtuBytes: 1000,
  timeModulusPs: Number.POSITIVE_INFINITY,
  bytesModulus: Number.POSITIVE_INFINITY,
  flow: 0,
  seed: 1,
}

/** A controller that does what a test says, and keeps a list of what it was told. */
export class ScriptedController implements Controller {
  window: number
  rate: number
  nextTimer: Time
  /** Answer to the next call that may set the rate. */
  acts = false
  readonly calls: Array<string> = []
  readonly acks: Array<Ack> = []

  constructor(window: number, rate: number, timer: Time) {
    this.nextTimer = timer
    this.window = window
    this.rate = rate
  }

  onSent(now: Time, bytes: number): void {
    this.calls.push(`${now} sent ${bytes}`)
  }
  onAck(now: Time, ack: Ack): boolean {
    this.calls.push(`${now} ack ${ack.sequence}`)
    this.acks.push({ ...ack, telemetry: ack.telemetry.slice() })
    return this.acts
  }
  onCnp(now: Time): boolean {
    this.calls.push(`${now} cnp`)
    return this.acts
  }
  onLoss(now: Time, timeout: boolean): boolean {
    this.calls.push(`${now} loss ${timeout ? "timeout" : "nak"}`)
    return this.acts
  }
  onTimer(now: Time): boolean {
    this.calls.push(`${now} timer`)
    this.nextTimer = NEVER
    return this.acts
  }
  metrics(): Readonly<Record<string, number>> {
    return {}
  }
}

export interface FixedOptions {
  readonly window?: number
  readonly rate?: number
  /** The controller's timer at first. */
  readonly timer?: Time
  readonly needs?: ReadonlyArray<Feedback>
}

/** Controllers of a fixed window and rate; the last one made is at hand. */
export const fixedController = ({
  window = Number.POSITIVE_INFINITY,
  rate = LINE_RATE_BPS,
  timer = NEVER,
  needs = [],
}: FixedOptions): ControllerFactory & { readonly made: Array<ScriptedController> } => {
  const made: Array<ScriptedController> = []
  return {
    name: "fixed",
    needs,
    made,
    make: () => {
      const controller = new ScriptedController(window, rate, timer)
      made.push(controller)
      return controller
    },
  }
}

const names = new Map<number, string>(Object.entries(Opcode).map(([name, code]) => [code, name]))

/** A packet in words: who sent it (`>` the requester), opcode, PSN, payload, and `again` when it was sent before. */
export const words = ({ from, opcode, psn, payloadBytes, meta }: Crossing): string => {
  const data = opcode < Opcode.Acknowledge
  const again = (meta & Flag.Retransmission) !== 0 ? " again" : ""
  return `${from === 0 ? ">" : "<"} ${names.get(opcode)} ${psn}${data ? ` ${payloadBytes} B` : ""}${again}`
}

export interface Setup extends Partial<Omit<EnginePairOptions<FlowCommand, FlowEvent>, "pool" | "ends">> {
  readonly config?: Partial<RcOptions>
  readonly fixed?: FixedOptions
  /** First PSN of the requester's packets. */
  readonly psn?: number
}

/** A requester and a responder a microsecond apart, packets of 1,000 bytes, framed as in the ns-3 model. */
export const connection = ({ config, fixed = {}, psn = 0, ...network }: Setup = {}) => {
  const pool = new PacketPool({ telemetryHops: 2, telemetryRates: [1e9, 2e9] })
  const controller = fixedController(fixed)
  const rc = rcConfig({ controller, framing: ns3Framing("none"), mtuBytes: 1000, ...config })
  const ack = makeAck(2)
  const now = network.now ?? 0
  const at = { priority: 3, flow: 0, sendPsn: psn, receivePsn: 0 }
  const requester = makeQueuePair(now, rc, ack, { ...at, node: 7, peer: 9, udpPort: 10, peerUdpPort: 20, path })
  const responder = makeQueuePair(now, rc, ack, {
    ...at,
    node: 9,
    peer: 7,
    udpPort: 20,
    peerUdpPort: 10,
    flow: 1,
    sendPsn: 0,
    receivePsn: psn,
    path: undefined,
  })
  const pair = new EnginePair<FlowCommand, FlowEvent>({ pool, ends: [requester, responder], ...network })
  let messages = 0
  return {
    pool,
    pair,
    requester,
    responder,
    controller: controller.made[0]!,
    /** Sends messages of these sizes, numbered from 0. */
    write: (...sizes: ReadonlyArray<number>): void => {
      for (const writeBytes of sizes) pair.command(0, { writeBytes, message: messages++ })
    },
    /** All packets so far. */
    said: () => pair.sent.map(words),
    /** All events so far, as `type message`. */
    told: () => pair.events.map(({ event }) => `${event.type} ${event.message}`),
  }
}

/** Delays a packet as `EnginePair` does by itself. */
export const FLIGHT: Time = 1e6

/** The path that loses the given packets, by what they are and how often that was sent before. */
export const losing = (...lost: ReadonlyArray<string>) => {
  const left = [...lost]
  return (crossing: Crossing): ReadonlyArray<Time> => {
    const index = left.indexOf(words(crossing))
    if (index < 0) return [FLIGHT]
    left.splice(index, 1)
    return []
  }
}

import type { Time } from "./Time.ts"
import type { Timers } from "./Timers.ts"

/** What a controller lives on. A world switches these on, and says so when it cannot supply one. */
export type Feedback = "rtt" | "ecn" | "cnp" | "int" | "pint"

/**
 * One acknowledgement, as a controller sees it. One object serves every acknowledgement of a world: read it inside
 * `onAck` only.
 */
export interface Ack {
  /**
   * Bytes acknowledged in all: the offset of the next byte the receiver expects. Never wraps. Below that of an earlier one
   * where this one was overtaken (`bytes` is 0), and after go-back-0 has begun a message again.
   */
  sequence: number
  /** Bytes sent in all: the offset of the next byte to send. Falls when the sender goes back. */
  sent: number
  /** Bytes this acknowledgement newly acknowledges. */
  bytes: number
  /** From the sending of the packet to this acknowledgement, ps; NaN when the packet carried no stamp. */
  rttPs: number
  /** The receiver echoes a congestion mark (ECN CE). */
  congestion: boolean
  /** INT hops in `telemetry`; 0 when the packet met no switch that stamps. */
  hops: number
  /** Identifies the path the telemetry comes from; records of another path must not be compared. */
  pathId: number
  /**
   * INT records, four numbers a hop from index `telemetryAt`: time of the stamp (ps, modulo `PathInfo.timeModulusPs`),
   * bytes the port had sent (modulo `PathInfo.bytesModulus`), queue length (bytes), port rate (bit/s).
   */
  telemetry: Float64Array
  telemetryAt: number
  /** PINT: the largest utilisation on the path, as `PintCodec` of `packet` encodes it; -1 when the packet carried none. */
  pint: number
}

/** Numbers per hop in `Ack.telemetry`. */
export const TELEMETRY_FIELDS = 4

/** An acknowledgement object, to be reused; with room for the telemetry of this many hops. */
export const makeAck = (hops: number): Ack => ({
  sequence: 0,
  sent: 0,
  bytes: 0,
  rttPs: Number.NaN,
  congestion: false,
  hops: 0,
  pathId: 0,
  telemetry: new Float64Array(TELEMETRY_FIELDS * hops),
  telemetryAt: 0,
  pint: -1,
})

/** What a controller is told of its flow when it is made. */
export interface PathInfo {
  /** Rate of the NIC port, bit/s: where every flow starts, and never exceeds. */
  readonly lineRateBps: number
  /** Round trip of an unloaded network, ps (HPCC's T). */
  readonly baseRttPs: number
  /** Window at line rate, bytes: the bandwidth-delay product. 0: the run gives no window. */
  readonly windowBytes: number
  /** Payload of a full packet, bytes. */
  readonly mtuBytes: number
  /** INT time stamps wrap at this many ps; Infinity: they do not. */
  readonly timeModulusPs: number
  /** INT byte counts wrap at this many bytes; Infinity: they do not. */
  readonly bytesModulus: number
  /** Identifies the flow, for a controller that draws by `hash(seed, flow, ordinal)`. */
  readonly flow: number
  readonly seed: number
}

/** Congestion control of one flow. Times are ps, rates bit/s, sizes bytes; time never decreases. */
export interface Controller {
  /** Bytes allowed in flight; Infinity: no window. At least 1. */
  readonly window: number
  /** Pacing rate, bit/s. Finite and positive. */
  readonly rate: number
  /**
   * When `onTimer` is wanted, a time that has passed: at once; NEVER when idle. Where there are `timers`, the first of them:
   * `timers.next`. One that is due at once again and again is a `ControllerFault`.
   */
  readonly nextTimer: Time
  /** Only where a controller has several timers. */
  readonly timers?: Timers | undefined
  /** A packet left: `bytes` of payload. */
  onSent(now: Time, bytes: number): void
  /** An acknowledgement came. True when the control law ran and set rate or window anew, be it to the same value. */
  onAck(now: Time, ack: Ack): boolean
  /** A congestion notification packet came. True as above. */
  onCnp(now: Time): boolean
  /** The transport found a loss: by a NAK, or by a timeout. True as above. */
  onLoss(now: Time, timeout: boolean): boolean
  /**
   * `nextTimer` was reached. Of several timers, number `timer` was; it has been made idle (`Timers.take`), and is set
   * again here or not at all. True as above.
   */
  onTimer(now: Time, timer: number): boolean
  /** Named internals, for traces and golden tests. Units last in a name. */
  metrics(): Readonly<Record<string, number>>
}

export interface ControllerFactory {
  /** Algorithm and variant, `hpcc` or `hpcc/ns3`. */
  readonly name: string
  readonly needs: ReadonlyArray<Feedback>
  /** Where it needs `pint`: the base of the logarithm that digests are to have, as `PintCodec` takes it. Default 1.05. */
  readonly pintBase?: number
  /**
   * Controllers of different hosts share what they know. Then a kernel keeps the order of time among all hosts, which costs
   * more. Default: each knows of its own flow alone, and those of one host may be asked before earlier events of another.
   */
  readonly shared?: boolean
  make(now: Time, path: PathInfo): Controller
}

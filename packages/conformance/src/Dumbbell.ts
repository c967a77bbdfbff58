import { PintCodec } from "@rdmakit/packet"
import {
  type Ack,
  type Controller,
  type ControllerFactory,
  fireTimer,
  NEVER,
  type PathInfo,
  TELEMETRY_FIELDS,
  type Time,
} from "@rdmakit/protocol"
import { Draws } from "./Draws.ts"
import { RecordQueue } from "./RecordQueue.ts"
import { BIT_PS, type DumbbellFlow, Sender } from "./Sender.ts"
import { WatchedController } from "./WatchedController.ts"

/** Senders on one side, one bottleneck link, receivers on the other. */
export interface DumbbellOptions {
  readonly flows: ReadonlyArray<DumbbellFlow>
  readonly durationPs: Time
  /** Rate of each NIC, bit/s. Default 10 Gb/s. */
  readonly lineRateBps?: number
  /** Rate of the bottleneck, bit/s. Default: that of the NICs. */
  readonly linkRateBps?: number
  /** Round trip of one packet through empty queues, ps. Default 10 µs. */
  readonly baseRttPs?: number
  /** Payload of a packet, bytes. Headers are not modelled. Default 1000. */
  readonly mtuBytes?: number
  /** Buffer before the bottleneck, bytes; what finds it full is dropped. Default: without end, nothing is lost. */
  readonly bufferBytes?: number
  /** Chance that a packet is lost on the bottleneck link, 0 to 1. Default 0. */
  readonly lossRate?: number
  /** The run is cut into this many slices of equal time, for which totals are kept. Default 20. */
  readonly slices?: number
  /** Whether the controllers are told of a window. Default true. */
  readonly window?: boolean
}

/** What came of a run. Arrays of a flow have one entry a slice. */
export interface DumbbellRun {
  /** Bytes that reached the receiver in order, by flow and slice. */
  readonly delivered: ReadonlyArray<Float64Array>
  /** Bytes that left the senders, all flows together, by slice. */
  readonly sent: Float64Array
  /** Longest queue before the bottleneck, bytes, by slice. */
  readonly queueBytesMax: Float64Array
  /** When the last byte of each flow was acknowledged, ps; NEVER if it was not. */
  readonly finishedPs: ReadonlyArray<Time>
  /** Packets lost, in the buffer or on the link. */
  readonly dropped: number
  /** The controllers, as the run left them. */
  readonly controllers: ReadonlyArray<Controller>
  /** A number that two runs have in common when every rate and window in them was the same. */
  readonly digest: number
}

// Fields of a packet in the queue.
const P_FLOW = 0
const P_SEQUENCE = 1
const P_BYTES = 2
const P_STAMP = 3
// Fields of an acknowledgement on its way.
const A_TIME = 0
const A_FLOW = 1
const A_SEQUENCE = 2
const A_STAMP = 3
const A_MARK = 4
const A_NAK = 5
const A_CNP = 6
const A_PINT = 7
const A_TELEMETRY = 8

const TIME_MODULUS_PS = 2 ** 24 * 1000
const BYTES_MODULUS = 2 ** 24
const PINT_BASE = 1.05
/** A receiver sends a flow one congestion notification in this time (DCQCN's N). */
const CNP_INTERVAL_PS = 50e6
/** A sender that hears nothing for so many base RTTs, with packets out, starts again from the last acknowledged byte. */
const TIMEOUT_RTTS = 200

/** The run itself. Events are few enough at a time to be searched, not sorted. */
class Dumbbell {
  readonly senders: ReadonlyArray<Sender>
  private readonly stamps: boolean
  private readonly echoes: boolean
  private readonly notifies: boolean
  private readonly telemetry: boolean
  private readonly codec: PintCodec | undefined
  private readonly baseRttPs: number
  private readonly mtuBytes: number
  private readonly linkRateBps: number
  private readonly flightPs: number
  private readonly bufferBytes: number
  private readonly lossRate: number
  private readonly timeoutPs: number
  private readonly durationPs: Time
  private readonly slicePs: number
  private readonly markFromBytes: number
  private readonly draws = new Draws(1)

  private readonly queue = new RecordQueue(4)
  private readonly acks = new RecordQueue(A_TELEMETRY + TELEMETRY_FIELDS)
  private now: Time = 0
  private queueBytes = 0
  private linkFreePs: Time = 0
  private linkBytes = 0
  /** PINT: smoothed utilisation of the link, and when and at how many bytes it was last brought up to date. */
  private utilisation = 0
  private stampedPs: Time = Number.NEGATIVE_INFINITY
  private stampedBytes = 0
  private readonly ack: Ack = {
    sequence: 0,
    sent: 0,
    bytes: 0,
    rttPs: Number.NaN,
    congestion: false,
    hops: 0,
    pathId: 1,
    telemetry: new Float64Array(TELEMETRY_FIELDS),
    telemetryAt: 0,
    pint: -1,
  }

  readonly delivered: ReadonlyArray<Float64Array>
  readonly sent: Float64Array
  readonly queueBytesMax: Float64Array
  dropped = 0
  digest = 0

  constructor(factory: ControllerFactory, options: DumbbellOptions) {
    const { lineRateBps = 10e9, baseRttPs = 10e6, mtuBytes = 1000, slices = 20 } = options
    const windowBytes = Math.floor((lineRateBps * baseRttPs) / BIT_PS)
    this.stamps = factory.needs.includes("rtt")
    this.echoes = factory.needs.includes("ecn")
    this.notifies = factory.needs.includes("cnp")
    this.telemetry = factory.needs.includes("int")
    this.codec = factory.needs.includes("pint") ? new PintCodec(factory.pintBase ?? PINT_BASE) : undefined
    this.baseRttPs = baseRttPs
    this.mtuBytes = mtuBytes
    this.linkRateBps = options.linkRateBps ?? lineRateBps
    this.flightPs = Math.max(0, baseRttPs - Math.round((mtuBytes * BIT_PS) / this.linkRateBps))
    this.bufferBytes = options.bufferBytes ?? Infinity
    this.lossRate = options.lossRate ?? 0
    this.timeoutPs = this.lossRate > 0 || this.bufferBytes < Infinity ? TIMEOUT_RTTS * baseRttPs : NEVER
    this.durationPs = options.durationPs
    this.slicePs = options.durationPs / slices
    this.markFromBytes = Math.max(windowBytes, mtuBytes)
    this.senders = options.flows.map((flow, index) => {
      const path: PathInfo = {
        lineRateBps,
        baseRttPs,
        windowBytes: (options.window ?? true) ? windowBytes : 0,
        mtuBytes,
        timeModulusPs: TIME_MODULUS_PS,
        bytesModulus: BYTES_MODULUS,
        flow: index,
        seed: 1,
      }
      const startPs = flow.startPs ?? 0
      return new Sender(new WatchedController(factory.make(startPs, path), startPs, path), flow)
    })
    this.delivered = this.senders.map(() => new Float64Array(slices))
    this.sent = new Float64Array(slices)
    this.queueBytesMax = new Float64Array(slices)
  }

  run(): void {
    while (this.step()) {
      // One event after another, until none is left within the duration.
    }
  }

  /** Does what comes next: timers first, then the acknowledgement, the link, a sender. */
  private step(): boolean {
    let time = this.acks.length > 0 ? this.acks.ring[this.acks.head + A_TIME]! : NEVER
    let kind = 1
    let who = 0
    if (this.queue.length > 0 && this.linkFreePs < time) {
      time = this.linkFreePs
      kind = 2
    }
    for (let index = 0; index < this.senders.length; index++) {
      const sender = this.senders[index]!
      const sendTime = sender.sendTime()
      if (sendTime < time) {
        time = sendTime
        kind = 3
        who = index
      }
      if (sender.controller.nextTimer <= time) {
        time = sender.controller.nextTimer
        kind = 0
        who = index
      }
      if (sender.next > sender.acknowledged && sender.progressPs + this.timeoutPs < time) {
        time = sender.progressPs + this.timeoutPs
        kind = 4
        who = index
      }
    }
    // A window that opens late lets a packet go whose pacing was over before.
    if (time < this.now) time = this.now
    if (time >= this.durationPs) return false
    this.now = time
    const sender = this.senders[who]!
    if (kind === 0) fireTimer(sender.controller, time)
    else if (kind === 1) this.acknowledge(time)
    else if (kind === 2) this.transmit(time)
    else if (kind === 3) this.send(time, who, sender)
    else this.timeOut(time, sender)
    return true
  }

  private send(now: Time, who: number, sender: Sender): void {
    const bytes = Math.min(this.mtuBytes, sender.bytes - sender.next)
    if (sender.next === sender.acknowledged) sender.progressPs = now
    const slice = Math.floor(now / this.slicePs)
    this.sent[slice]! += bytes
    if (this.queueBytes + bytes > this.bufferBytes) {
      this.dropped++
    } else {
      const at = this.queue.push()
      const { ring } = this.queue
      ring[at + P_FLOW] = who
      ring[at + P_SEQUENCE] = sender.next
      ring[at + P_BYTES] = bytes
      ring[at + P_STAMP] = now
      if (this.queueBytes === 0 && this.linkFreePs < now) this.linkFreePs = now
      this.queueBytes += bytes
      this.noteQueue(slice)
    }
    sender.next += bytes
    sender.lastBytes = bytes
    sender.lastSentPs = now
    sender.controller.onSent(now, bytes)
  }

  private noteQueue(slice: number): void {
    if (this.queueBytes > this.queueBytesMax[slice]!) this.queueBytesMax[slice] = this.queueBytes
  }

  /** The head of the queue leaves; what its receiver will answer is known at once. */
  private transmit(now: Time): void {
    const { ring: packets, head } = this.queue
    const who = packets[head + P_FLOW]!
    const sequence = packets[head + P_SEQUENCE]!
    const bytes = packets[head + P_BYTES]!
    const stamp = packets[head + P_STAMP]!
    this.noteQueue(Math.floor(now / this.slicePs))
    this.queue.shift()
    this.queueBytes -= bytes
    const pint = this.codec === undefined ? -1 : this.codec.encode(this.measure(now), this.draws.next())
    const stampedBytes = this.linkBytes
    this.linkBytes += bytes
    this.linkFreePs = now + Math.round((bytes * BIT_PS) / this.linkRateBps)
    const time = this.linkFreePs + this.flightPs

    if (this.lossRate > 0 && this.draws.next() < this.lossRate) {
      this.dropped++
      return
    }
    const sender = this.senders[who]!
    // A packet past a gap is not accepted: one NAK for each gap, then silence until it is closed.
    const gap = sequence > sender.expected
    if (gap && sender.nakked === sender.expected) return
    if (gap) sender.nakked = sender.expected
    if (sequence === sender.expected) {
      sender.expected += bytes
      this.delivered[who]![Math.floor(now / this.slicePs)]! += bytes
    }
    const mark = this.marks()
    const notify = mark && time >= sender.nextCnpPs
    if (notify) sender.nextCnpPs = time + CNP_INTERVAL_PS
    const at = this.acks.push()
    const { ring } = this.acks
    ring[at + A_TIME] = time
    ring[at + A_FLOW] = who
    ring[at + A_SEQUENCE] = sender.expected
    ring[at + A_STAMP] = stamp
    ring[at + A_MARK] = mark ? 1 : 0
    ring[at + A_NAK] = gap ? 1 : 0
    ring[at + A_CNP] = notify ? 1 : 0
    ring[at + A_PINT] = pint
    ring[at + A_TELEMETRY] = now % TIME_MODULUS_PS
    ring[at + A_TELEMETRY + 1] = stampedBytes % BYTES_MODULUS
    ring[at + A_TELEMETRY + 2] = this.queueBytes
    ring[at + A_TELEMETRY + 3] = this.linkRateBps
  }

  /** Utilisation of the link as a packet leaves, smoothed over a base RTT (HPCC §3.2, MeasureInflight). */
  private measure(now: Time): number {
    const gapPs = now - this.stampedPs
    const bytesPerPs = this.linkRateBps / BIT_PS
    const sent = gapPs > 0 && gapPs < Infinity ? (this.linkBytes - this.stampedBytes) / gapPs : 0
    const u = (this.queueBytes / this.baseRttPs + sent) / bytesPerPs
    const weight = gapPs < this.baseRttPs ? gapPs / this.baseRttPs : 1
    this.utilisation = (1 - weight) * this.utilisation + weight * u
    this.stampedPs = now
    this.stampedBytes = this.linkBytes
    return this.utilisation
  }

  /** RED on the queue: from one bandwidth-delay product, with 20 % at four of them, always beyond. */
  private marks(): boolean {
    const above = this.queueBytes - this.markFromBytes
    if (above <= 0) return false
    const share = above / (3 * this.markFromBytes)
    return share > 1 || this.draws.next() < 0.2 * share
  }

  private acknowledge(now: Time): void {
    const { acks, ack } = this
    const { ring, head } = acks
    const sender = this.senders[ring[head + A_FLOW]!]!
    const sequence = ring[head + A_SEQUENCE]!
    ack.bytes = Math.max(0, sequence - sender.acknowledged)
    if (ack.bytes > 0) {
      sender.acknowledged = sequence
      sender.progressPs = now
      if (sender.next < sequence) sender.next = sequence
      if (sequence >= sender.bytes) sender.finishedPs = Math.min(sender.finishedPs, now)
    }
    const nak = ring[head + A_NAK]! === 1
    if (nak) sender.next = sender.acknowledged
    ack.sequence = sequence
    ack.sent = sender.next
    // What the factory did not ask for, the network does not supply.
    ack.rttPs = this.stamps ? now - ring[head + A_STAMP]! : Number.NaN
    ack.congestion = this.echoes && ring[head + A_MARK]! === 1
    ack.hops = this.telemetry ? 1 : 0
    ack.pint = ring[head + A_PINT]!
    for (let field = 0; field < TELEMETRY_FIELDS; field++) ack.telemetry[field] = ring[head + A_TELEMETRY + field]!
    const notified = this.notifies && ring[head + A_CNP]! === 1
    acks.shift()
    const { controller } = sender
    if (notified) controller.onCnp(now)
    if (nak) controller.onLoss(now, false)
    controller.onAck(now, ack)
    this.fold(controller.rate)
    this.fold(Math.min(controller.window, Number.MAX_SAFE_INTEGER))
  }

  private timeOut(now: Time, sender: Sender): void {
    sender.next = sender.acknowledged
    sender.progressPs = now
    sender.nakked = -1
    sender.controller.onLoss(now, true)
  }

  /** The digest takes every rate and window with all its bits: high word, low word, fraction. */
  private fold(value: number): void {
    const whole = Math.floor(value)
    this.digest = Math.imul(this.digest ^ (whole >>> 0), 16777619)
    this.digest = Math.imul(this.digest ^ Math.floor(whole / 2 ** 32), 16777619)
    this.digest = Math.imul(this.digest ^ Math.floor((value - whole) * 2 ** 31), 16777619) >>> 0
  }
}

/**
 * Runs flows of one factory through a bottleneck, packet by packet, in virtual time. Every controller is watched: a
 * broken promise throws `ContractViolation`.
 *
 * The link is first in, first out; a packet's acknowledgement comes back by a path that is never congested. It carries
 * one INT hop, a PINT digest, an echo of a RED mark and a stamp, each only if the factory `needs` it; a marked flow gets
 * a congestion notification every 50 µs at most. Lost packets are found by a NAK or a timeout, and the sender goes back to them.
 */
export const dumbbell = (factory: ControllerFactory, options: DumbbellOptions): DumbbellRun => {
  const run = new Dumbbell(factory, options)
  run.run()
  return {
    delivered: run.delivered,
    sent: run.sent,
    queueBytesMax: run.queueBytesMax,
    finishedPs: run.senders.map((sender) => sender.finishedPs),
    dropped: run.dropped,
    controllers: run.senders.map((sender) => sender.controller),
    digest: run.digest,
  }
}

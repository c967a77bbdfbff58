import { Flag, Layout, type Packet, PSN_MASK, psnDistance } from "@rdmakit/packet"
import {
  type Ack,
  type Controller,
  checkController,
  DOUBLE_ZERO,
  fireTimer,
  NEVER,
  type PathInfo,
  type Time,
  unpaced,
} from "@rdmakit/protocol"
import { serializationPs } from "@rdmakit/units"
import { PathTable } from "./PathTable.ts"
import { BITMAP } from "./ReceivedPackets.ts"
import type { Records } from "./Records.ts"
import { RttEstimator } from "./RttEstimator.ts"
import { SentPackets } from "./SentPackets.ts"
import type { SrdConfig } from "./SrdConfig.ts"
import { timeoutsOn } from "./Timeouts.ts"

/** Timeouts in a row before they become longer: each tries another path. */
const PATIENT = 8

/** What the contexts of a device, or of a world, have in common. */
export interface SharedParts {
  readonly config: SrdConfig
  readonly records: Records
  /** Reused for each acknowledgement that a controller is told of. */
  readonly ack: Ack
}

/**
 * The sending half of a context, which is all that a device keeps of a peer: paths, packets under way, round trips, the
 * controller. It numbers packets, chooses a path for each, finds out which are lost, and sends these again on another.
 *
 * A packet is lost when one that was sent later on the same path has come; when one that was sent later on any path has
 * come, a round trip and a reordering window ago. When nothing comes for the timeout, the oldest is sent again as a probe,
 * whose acknowledgement will tell of the others.
 */
export abstract class PeerSender {
  readonly controller: Controller
  readonly paths: PathTable
  readonly packets: SentPackets
  readonly rtt: RttEstimator
  controllerActions = 0
  /** Packets sent again, and their bytes; timeouts; packets sent again for nothing. */
  retransmissions = 0
  retransmittedBytes = 0
  timeouts = 0
  spurious = 0
  paceTime: Time
  nextTimeout: Time = NEVER
  /** Nothing has come from the peer for too long: nothing more is sent. */
  unresponsive = false
  /** The controller's timers are run by somebody else. */
  timersLent = false
  bytesDelivered = 0
  /** The peer is unresponsive when packets have waited so long and nothing has come, ps. */
  readonly unresponsiveAfterPs: Time

  protected readonly config: SrdConfig
  private readonly ack: Ack
  /** For messages of faults. */
  private readonly context: number
  private bytesSent = 0
  private timeoutsInRow = 0
  /** A packet goes whatever the window is. */
  private probes = false
  /** When the last acknowledgement came, or packets were first under way; when the peer was last heard of. */
  private progressAt: Time = DOUBLE_ZERO
  private heardAt: Time = DOUBLE_ZERO
  /** Sending time and round trip of the packet that was sent last, of those that have come. */
  private newestSentAt: Time = -Infinity
  private newestRttPs: Time = DOUBLE_ZERO
  /** When the next packet under way may be found to be lost by those that have come. */
  private overdueAt: Time = NEVER

  /** @param path undefined: this end sends nothing of its own @param context its number */
  constructor(now: Time, shared: SharedParts, path: PathInfo | undefined, context: number) {
    const { ack, config, records } = shared
    this.config = config
    this.ack = ack
    this.context = context
    this.controller = path === undefined ? unpaced : config.controller.make(now, path)
    checkController(this.controller, context, now)
    this.paths = new PathTable(config, records, path?.seed ?? 0, path?.flow ?? context)
    this.packets = new SentPackets(records)
    const timeouts = timeoutsOn(config, path)
    this.rtt = new RttEstimator(timeouts)
    this.unresponsiveAfterPs = timeouts.unresponsiveAfterPs
    this.paceTime = now
    this.updateTimeout()
  }

  /** A packet with this tag was acknowledged, for the first time. */
  protected abstract packetDelivered(now: Time, tag: number, bytes: number): void

  /** As much is under way as may be; of a next packet so large. */
  protected isFull(bytes: number): boolean {
    const { flyingBytes } = this.packets
    return flyingBytes > 0 && !this.probes && flyingBytes + bytes > this.controller.window
  }
  /** Numbers are left for a new packet. */
  protected get hasRoom(): boolean {
    return this.packets.newest - this.packets.oldest < this.config.windowPackets
  }

  /**
   * Sends a packet: the first of the lost, or one just added to `packets`. The owner has written what it consists of, its
   * size on the wire included; here it gets its number, its path and its time.
   */
  protected sendNumber(now: Time, number: number, out: Packet, peerPort: number): void {
    const { packets, paths, controller } = this
    const isAgain = number === packets.firstLost
    const path = isAgain ? paths.other(packets.pathOf(number)) : paths.next()
    if (packets.flyingBytes === 0) {
      this.progressAt = now
      if (this.timeoutsInRow === 0) this.heardAt = now
    }
    this.probes = false
    packets.send(number, now, path, paths.draw(path), paths.sent(path, number))
    const bytes = packets.bytesOf(number)
    if (isAgain) {
      this.retransmissions++
      this.retransmittedBytes += bytes
      out.set(Flag.Retransmission)
    } else this.bytesSent += bytes
    out.psn = number & PSN_MASK
    out.udpPorts = (paths.entropy(path) | (peerPort << 16)) >>> 0
    out.stamp = now
    controller.onSent(now, bytes)
    this.paceTime = Math.max(now, this.paceTime) + serializationPs(out.wireBytes, controller.rate)
    this.updateTimeout()
  }

  protected handleAck(now: Time, packet: Packet): void {
    const { packets } = this
    const number = packets.oldest + psnDistance(packet.psn, packets.oldest & PSN_MASK)
    if (number >= packets.newest) return
    const before = this.bytesDelivered
    const sample = now - packet.stamp
    const isNews = this.isNews(number, packet)
    this.heardAt = now
    if (isNews) this.rtt.sample(sample)
    if (isNews && packet.stamp >= this.newestSentAt) {
      this.newestSentAt = packet.stamp
      this.newestRttPs = sample
    }
    const path = this.answered(now, number, packet, sample)
    if (packet.extension >= 0) this.readBitmap(now, packet)
    else this.deliverBefore(now, number + 1)
    if (isNews || this.bytesDelivered > before) {
      this.progressAt = now
      this.timeoutsInRow = 0
      this.findOverdue(now)
      this.runController(now, packet, sample, path, before)
    }
    this.updateTimeout()
  }

  /**
   * It is of a packet's last sending, or of the first to come. Otherwise the packet has come in the meantime, on another
   * path: how long it took on the one that was left says nothing of those that are taken now.
   */
  private isNews(number: number, packet: Packet): boolean {
    const { packets } = this
    if (!packets.isKept(number)) return false
    return !packets.isDelivered(number) || packets.sentAt(number) === packet.stamp
  }

  /** The packet that an acknowledgement names: what its path has shown. @returns the path; 0 where it is not known */
  private answered(now: Time, number: number, packet: Packet, sample: Time): number {
    const { packets, paths } = this
    if (packet.has(Flag.Retransmission)) this.cameTwice(number)
    let path = 0
    // The last sending of a packet is known by its time; of those before it the paths are not remembered.
    if (packets.isKept(number) && packets.sentAt(number) === packet.stamp) {
      path = packets.pathOf(number)
      if (packets.isFlying(number) && this.rtt.isCalm) {
        for (let lost = packets.overtaken(number); lost >= 0; lost = packets.overtaken(lost)) this.lose(now, lost)
      }
      paths.acknowledged(path, packets.drawOf(number), sample)
    }
    if (number >= packets.oldest && !packets.isDelivered(number)) this.deliver(now, number)
    return path
  }

  /** A packet has come twice: it was sent again for nothing, unless the network doubled it. */
  private cameTwice(number: number): void {
    const { packets } = this
    if (!packets.isKept(number) || !packets.wasRepeated(number)) return
    this.spurious++
    this.rtt.widen()
  }

  private deliver(now: Time, number: number): void {
    const { packets } = this
    const bytes = packets.bytesOf(number)
    const tag = packets.tagOf(number)
    packets.deliver(number)
    this.bytesDelivered += bytes
    this.packetDelivered(now, tag, bytes)
  }

  private deliverBefore(now: Time, end: number): void {
    const { packets } = this
    for (let number = packets.oldest; number < end; number++)
      if (!packets.isDelivered(number)) this.deliver(now, number)
  }

  private readBitmap(now: Time, packet: Packet): void {
    const { packets } = this
    const { extension } = packet.pool
    const at = packet.extend()
    const oldest = packets.oldest
    const end = oldest + psnDistance(extension[at + Layout.EXT.cumulative]!, oldest & PSN_MASK)
    const base = oldest + psnDistance(extension[at + Layout.EXT.sackBase]!, oldest & PSN_MASK)
    if (end > packets.newest) return
    this.deliverBefore(now, end)
    for (let word = 0; word < BITMAP / 32; word++) {
      for (let bits = extension[at + Layout.EXT.sackBits + word]!; bits !== 0; bits &= bits - 1) {
        const number = base + 32 * word + 31 - Math.clz32(bits & -bits)
        if (number >= packets.oldest && number < packets.newest && !packets.isDelivered(number))
          this.deliver(now, number)
      }
    }
  }

  private lose(now: Time, number: number): void {
    const { packets, paths } = this
    packets.lose(number)
    paths.lost(packets.pathOf(number), packets.drawOf(number))
    if (this.controller.onLoss(now, false)) this.acted(now)
  }

  /** Packets that were sent before one that has come, and should have come by now. */
  private findOverdue(now: Time): void {
    const { packets, rtt, newestSentAt } = this
    this.overdueAt = NEVER
    let sentAt = packets.firstSentAt
    if (sentAt >= newestSentAt) return
    const wait = Math.max(this.newestRttPs, rtt.smoothedPs) + rtt.reorderWindowPs
    for (; sentAt < newestSentAt; sentAt = packets.firstSentAt) {
      if (sentAt + wait > now) {
        this.overdueAt = sentAt + wait
        return
      }
      this.lose(now, packets.firstFlying)
    }
  }

  private runController(now: Time, packet: Packet, rttPs: Time, path: number, before: number): void {
    const { ack, controller } = this
    ack.sequence = this.bytesDelivered
    ack.sent = this.bytesSent
    ack.bytes = this.bytesDelivered - before
    ack.rttPs = rttPs
    ack.congestion = packet.has(Flag.CongestionEcho)
    ack.hops = 0
    ack.pathId = path
    ack.pint = -1
    if (controller.onAck(now, ack)) this.acted(now)
  }

  private acted(now: Time): void {
    this.controllerActions++
    checkController(this.controller, this.context, now)
  }

  // --- time

  /** When a timeout is due because nothing comes; NEVER with nothing under way. */
  private get deadline(): Time {
    const first = this.packets.firstSentAt
    if (first === NEVER) return NEVER
    const since = first > this.progressAt ? first : this.progressAt
    const beyond = this.timeoutsInRow - PATIENT
    return since + this.rtt.timeoutPs(beyond > 0 ? beyond : 0)
  }

  /** Gives back what was kept of paths and packets; nothing may be under way. */
  protected forget(): void {
    this.packets.release()
    this.paths.release()
    this.overdueAt = NEVER
    this.newestSentAt = -Infinity
    this.updateTimeout()
  }

  updateTimeout(): void {
    if (this.unresponsive) {
      this.nextTimeout = NEVER
      return
    }
    const { deadline, overdueAt, controller } = this
    let next = deadline < overdueAt ? deadline : overdueAt
    // Whoever arms timers is to see what is no number.
    if (!this.timersLent && !(controller.nextTimer >= next)) next = controller.nextTimer
    this.nextTimeout = next
  }

  handleTimeout(now: Time): void {
    if (this.unresponsive) return
    if (!this.timersLent && this.controller.nextTimer <= now && fireTimer(this.controller, now)) this.acted(now)
    if (this.overdueAt <= now) this.findOverdue(now)
    if (this.deadline <= now) this.timeOut(now)
    this.updateTimeout()
  }

  handleTimer(now: Time, timer: number): void {
    if (!this.unresponsive && this.controller.onTimer(now, timer)) this.acted(now)
  }

  /** Nothing comes. The oldest packet is sent again, elsewhere; from then on the timeout runs anew. */
  private timeOut(now: Time): void {
    const { packets } = this
    if (now - this.heardAt >= this.unresponsiveAfterPs) {
      this.unresponsive = true
      return
    }
    this.timeouts++
    this.timeoutsInRow++
    this.progressAt = now
    this.probes = true
    this.lose(now, packets.firstFlying)
    if (this.controller.onLoss(now, true)) this.acted(now)
  }
}

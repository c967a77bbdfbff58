import { Drop, NEVER, type Time } from "@rdmakit/protocol"
import type { ExactKernel } from "@rdmakit/sim"

/** What a PFC watchdog is set to (SONiC, PFC watchdog: detection_time, restoration_time, action). */
export interface WatchdogSettings {
  /** A switch port that is paused for so long, in one priority and without a break, is in a storm, ps. Default 200 ms. */
  readonly detectionPs?: Time
  /** A storm is over when no pause has held for so long, ps. Default 200 ms. */
  readonly restorationPs?: Time
  /**
   * What is done about a priority of a port that is in a storm. "drop", the default: what waits there is dropped, and so
   * is what comes for it or by it. "forward": its pauses are ignored.
   */
  readonly action?: "drop" | "forward"
}

/** What a PFC watchdog did in a run. */
export interface WatchdogCounts {
  /** Storms detected, and those that were over before the end. */
  readonly storms: number
  readonly restored: number
  /** Packets that waited in its queues when a storm was detected, and were dropped; others are in the drops by reason. */
  readonly drained: number
}

const DEFAULT_PS = 200e9

/**
 * The PFC watchdog of all switch ports. Times are exact: it looks when a port has been paused for the detection time,
 * where a switch polls. A pause here holds until a resume comes and is not repeated, so a storm is a pause that stands;
 * whether anything waits behind it makes no difference.
 */
export class PfcWatchdog {
  /** Priorities that are dropped, by port. */
  readonly dropping: Uint8Array
  private readonly kernel: ExactKernel
  private readonly alarmAt: (time: Time, place: number) => void
  private readonly detectionPs: Time
  private readonly restorationPs: Time
  private readonly drops: boolean
  /** Of each port and priority: paused since; in a storm, not paused since. NEVER: neither. */
  private readonly since: Float64Array
  private readonly inStorm: Uint8Array
  private readonly hasAlarm: Uint8Array
  private readonly isWatched: (port: number) => boolean
  private storms = 0
  private restored = 0
  private drained = 0

  /** @param alarmAt asks for `alarm(time, place)` */
  constructor(
    kernel: ExactKernel,
    network: { readonly count: number; readonly isWatched: (port: number) => boolean },
    settings: WatchdogSettings,
    alarmAt: (time: Time, place: number) => void,
  ) {
    this.kernel = kernel
    this.isWatched = network.isWatched
    this.alarmAt = alarmAt
    this.detectionPs = settings.detectionPs ?? DEFAULT_PS
    this.restorationPs = settings.restorationPs ?? DEFAULT_PS
    this.drops = settings.action !== "forward"
    this.dropping = new Uint8Array(network.count)
    this.since = new Float64Array(8 * network.count).fill(NEVER)
    this.inStorm = new Uint8Array(network.count)
    this.hasAlarm = new Uint8Array(8 * network.count)
  }

  get counts(): WatchdogCounts {
    const { storms, restored, drained } = this
    return { storms, restored, drained }
  }

  /** A PFC frame has taken effect at a port. */
  paused(now: Time, port: number, priority: number, pause: boolean): void {
    if (!this.isWatched(port)) return
    const place = 8 * port + priority
    if (pause === this.stormAt(place)) this.since[place] = NEVER
    else if (this.since[place] === NEVER) {
      this.since[place] = now
      this.arm(place, now + (pause ? this.detectionPs : this.restorationPs))
    }
  }

  alarm(now: Time, place: number): void {
    this.hasAlarm[place] = 0
    const since = this.since[place]!
    if (since === NEVER) return
    const storm = this.stormAt(place)
    const due = since + (storm ? this.restorationPs : this.detectionPs)
    if (now < due) this.arm(place, due)
    else {
      this.since[place] = NEVER
      this.turn(place, !storm)
    }
  }

  private stormAt(place: number): boolean {
    return ((this.inStorm[place >> 3]! >> (place & 7)) & 1) !== 0
  }

  private arm(place: number, time: Time): void {
    if (this.hasAlarm[place] === 1) return
    this.hasAlarm[place] = 1
    this.alarmAt(time, place)
  }

  /** A storm begins or is over. */
  private turn(place: number, storm: boolean): void {
    const port = place >> 3
    const priority = place & 7
    this.inStorm[port]! ^= 1 << priority
    const mask = this.inStorm[port]!
    if (storm) this.storms++
    else this.restored++
    if (this.drops) {
      this.dropping[port] = mask
      if (storm) this.drained += this.kernel.dropQueue(port, priority, Drop.Watchdog)
    }
    this.kernel.ignorePauses(port, mask)
  }
}

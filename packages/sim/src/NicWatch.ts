import { shown, type Time } from "@rdmakit/protocol"
import { NicFault } from "./NicFault.ts"

/**
 * Wake-ups that may come to a port at one moment, each of which may find something to send, or that it was overtaken. A
 * port that has had this many and asks for another lets time pass no more.
 */
const STALLS_MAX = 1000

/** What a port has asked for. */
interface Wakes {
  /** The time that it asked for last, ps. */
  asked: Time
  /** Wake-ups that have come at a moment, and the moment, ps. */
  come: number
  at: Time
}

/** Looks at what NICs of one's own ask a kernel for. */
export class NicWatch {
  private readonly nodeOf: ArrayLike<number>
  /** By port. */
  private readonly wakes = new Map<number, Wakes>()

  /** @param nodeOf the node of each port; of a host's, its complement */
  constructor(nodeOf: ArrayLike<number>) {
    this.nodeOf = nodeOf
  }

  /**
   * @param isPending the port has a wake-up, which this one takes the place of
   * @throws NicFault
   */
  wake(now: Time, port: number, time: Time, isPending: boolean): void {
    const node = this.nodeOf[port]
    if (node === undefined || node >= 0) {
      throw new NicFault(`it asked for a wake-up of port ${shown(port)}, expected a port of a host`, undefined, now)
    }
    checkTime("a wake-up", now, ~node, time)
    const wakes = this.wakes.get(port)
    if (wakes === undefined) {
      this.wakes.set(port, { asked: time, come: 0, at: now })
      return
    }
    if (wakes.at !== now) {
      wakes.at = now
      wakes.come = 0
    }
    // Nothing is pending, and it was for now: it has come.
    if (!isPending && wakes.asked === now) wakes.come++
    wakes.asked = time
    if (time > now || wakes.come < STALLS_MAX) return
    throw new NicFault(
      `it asked for a wake-up of port ${port} at ${time} ps, which is now, when ${STALLS_MAX} had just come: expected a later time`,
      ~node,
      now,
    )
  }

  /** @throws NicFault */
  timer(now: Time, node: number, time: Time): void {
    checkTime("a timer", now, node, time)
  }
}

const checkTime = (what: string, now: Time, node: number, time: Time): void => {
  if (typeof time === "number" && time >= now) return
  const found = typeof time === "number" && time < now ? `${time} ps, ${now - time} ps ago` : shown(time)
  throw new NicFault(`it asked for ${what} at ${found}: expected a time that is not before now, ps`, node, now)
}

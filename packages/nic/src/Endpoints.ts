import { NEVER, type QueuePair, type Time } from "@rdmakit/protocol"
import type { Placed } from "./Placed.ts"
import { Scan } from "./Scan.ts"

/** A queue pair as a NIC holds it: with the port it was given, its place in a list, the mark a rate change leaves. */
export interface NicQueuePair<Command, Event> extends QueuePair<Command, Event>, Placed {
  /** Its index in the world's `Endpoints`, and what the packets it sends carry. */
  readonly flow: number
  /** Kernel port it sends through. */
  port: number
  /** The controller set the rate since the NIC last cleared this. */
  rateChanged: boolean
}

/**
 * Every queue pair of a world, by its flow index: packets that carry flow f go to endpoint f ^ 1. One table serves all
 * NICs, so that finding an endpoint is one array access.
 */
export class Endpoints<Command, Event> {
  private readonly table: Array<NicQueuePair<Command, Event> | undefined> = []
  private armedAt = new Float64Array(64).fill(NEVER)
  /** For schedulers that look at many queue pairs for each packet: what they look at, in one byte each, and pacing times. */
  scan = new Uint8Array(64)
  paceTimes = new Float64Array(64)

  add(endpoint: NicQueuePair<Command, Event>): void {
    const index = endpoint.flow
    while (this.table.length <= index) this.table.push(undefined)
    this.table[index] = endpoint
    if (index >= this.armedAt.length) {
      const grown = new Float64Array(Math.max(index + 1, this.armedAt.length * 2)).fill(NEVER)
      grown.set(this.armedAt)
      this.armedAt = grown
      const scan = new Uint8Array(grown.length)
      scan.set(this.scan)
      this.scan = scan
      const paceTimes = new Float64Array(grown.length)
      paceTimes.set(this.paceTimes)
      this.paceTimes = paceTimes
    }
    this.armedAt[index] = NEVER
  }

  at(index: number): NicQueuePair<Command, Event> | undefined {
    return this.table[index]
  }

  remove(index: number): void {
    if (index >= this.table.length) return
    this.table[index] = undefined
    this.scan[index] = Scan.Finished
  }

  /** Brings up to date what a scan reads of an endpoint that is in the table. */
  note(endpoint: NicQueuePair<Command, Event>): void {
    if (this.table[endpoint.flow] !== endpoint) return
    this.paceTimes[endpoint.flow] = endpoint.paceTime
    this.scan[endpoint.flow] =
      (endpoint.hasData ? Scan.HasData : 0) |
      (endpoint.windowBound ? Scan.WindowBound : 0) |
      (endpoint.finished ? Scan.Finished : 0) |
      (endpoint.priority << Scan.PRIORITY_SHIFT)
  }

  /** Earliest timer asked for on behalf of an endpoint; NEVER when none is on its way. */
  armed(index: number): Time {
    return this.armedAt[index]!
  }
  arm(index: number, time: Time): void {
    this.armedAt[index] = time
  }
}

import { NEVER, type QueuePair, type Time } from "@rdmakit/protocol"
import type { Placed } from "./Placed.ts"

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

  add(endpoint: NicQueuePair<Command, Event>): void {
    const index = endpoint.flow
    while (this.table.length <= index) this.table.push(undefined)
    this.table[index] = endpoint
    if (index >= this.armedAt.length) {
      const grown = new Float64Array(Math.max(index + 1, this.armedAt.length * 2)).fill(NEVER)
      grown.set(this.armedAt)
      this.armedAt = grown
    }
    this.armedAt[index] = NEVER
  }

  at(index: number): NicQueuePair<Command, Event> | undefined {
    return this.table[index]
  }

  remove(index: number): void {
    if (index < this.table.length) this.table[index] = undefined
  }

  /** Earliest timer asked for on behalf of an endpoint; NEVER when none is on its way. */
  armed(index: number): Time {
    return this.armedAt[index]!
  }
  arm(index: number, time: Time): void {
    this.armedAt[index] = time
  }
}

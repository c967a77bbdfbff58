import type { Time } from "@rdmakit/protocol"
import type { IdealCompletion } from "./IdealCompletion.ts"
import type { World } from "./World.ts"

/**
 * How long each flow would take alone where routes change under way: in the network as it was when the flow began, or
 * became while it went on, whichever is quicker. So a link that goes down makes a flow slower and not its ideal longer,
 * and one that comes up makes no flow quicker than its ideal.
 *
 * Nothing is reckoned until routes change or a flow finishes: a flow's path is known by then. Changes at the moment a
 * flow begins are from before it, and a network that lasted for no time at all is none.
 */
export class ChangingIdeal {
  private readonly world: World
  private readonly ideal: IdealCompletion
  /** By flow, of the networks it has had until the last change, ps; NaN: none yet. */
  private readonly least: Float64Array
  private changed: Time = Number.NEGATIVE_INFINITY

  /** @param world one with faults, before its first event */
  constructor(world: World, ideal: IdealCompletion) {
    this.world = world
    this.ideal = ideal
    this.least = new Float64Array(world.flows.count).fill(Number.NaN)
    world.onFinish = (flow) => this.note(flow)
    if (world.faults !== undefined) world.faults.onReroute = (now) => this.changing(now)
  }

  /** ps; NaN where there is no way. */
  of(flow: number): Time {
    const least = this.least[flow]!
    return Number.isNaN(least) || this.world.isUnderWay(flow) ? this.now(flow) : least
  }

  private changing(now: Time): void {
    if (now === this.changed) return
    this.changed = now
    const { created, start, count } = this.world.flows
    for (let flow = 0; flow < count && start[flow]! < now; flow++) {
      if (created[flow]! < now && this.world.isUnderWay(flow)) this.note(flow)
    }
  }

  private note(flow: number): void {
    this.least[flow] = this.now(flow)
  }

  /** With the network as it is now. */
  private now(flow: number): Time {
    const least = this.least[flow]!
    if (Number.isNaN(least)) return this.ideal.of(flow)
    // A path that is only guessed at might be one that the flow never had.
    const here = this.ideal.of(flow, "taken")
    return here < least ? here : least
  }
}

import { cycleText, portCycle } from "@rdmakit/topology"
import type { World } from "./World.ts"

/** Ports that are paused and wait for each other in a cycle. */
export interface Deadlock {
  readonly priority: number
  /** Each is paused because of packets that wait at the next. */
  readonly ports: ReadonlyArray<number>
  /** The cycle, by nodes and ports. */
  readonly text: string
}

/**
 * A cycle in the pause graph of a world as it is now, of the lowest priority that has one. A paused port waits for the
 * paused ports of the node that paused it, as far as packets that came from it are held there.
 */
export const pauseCycle = ({ kernel, ports, parts }: World): Deadlock | undefined => {
  const { isSwitch } = parts.graph
  for (let priority = 1; priority < 8; priority++) {
    const isPaused = (port: number): boolean => ((kernel.pausedMask(port) >> priority) & 1) !== 0
    const next = new Map<number, Set<number>>()
    for (let port = 0; port < ports.count; port++) {
      const peer = ports.peerNode(port)
      if (!isPaused(port) || isSwitch[peer] === 0) continue
      const waitsFor = [...ports.portsOf(peer)].filter(
        (egress) => isPaused(egress) && kernel.queueBytesFrom(egress, priority, ports.peer(port)) > 0,
      )
      next.set(port, new Set(waitsFor))
    }
    const cycle = portCycle(next)
    if (cycle !== undefined) return { priority, ports: cycle, text: cycleText(cycle, ports) }
  }
  return undefined
}

/** How long nothing may move until a world is looked at for a deadlock, ps, if no link is long. */
const LOOK_PS = 1e9

/**
 * Looks whether a world is in a deadlock for good: for some time no packet has arrived anywhere, pauses stand in a
 * cycle, no flow is still to start, and none has anything to wait for but a port that is paused.
 */
export class StallWatch {
  /** When to look next, ps. */
  next: number
  private readonly world: World
  private readonly everyPs: number
  private waitPs: number
  private moved = -1

  constructor(world: World) {
    this.world = world
    this.everyPs = Math.max(LOOK_PS, 4 * world.ports.delayPs.reduce((most, delay) => Math.max(most, delay), 0))
    this.waitPs = this.everyPs
    this.next = (world.flows.count > 0 ? world.flows.start[0]! : 0) + this.everyPs
  }

  /** True: nothing will ever move again. Every event before `now` has been executed. */
  look(now: number): boolean {
    const { kernel } = this.world
    const moved = kernel.packetHops + kernel.pfcFrames
    if (moved !== this.moved) this.waitPs = this.everyPs
    else if (kernel.pauses.pauses > 0 && this.world.allStalled() && pauseCycle(this.world) !== undefined) return true
    // What has not moved for long is looked at less often.
    else this.waitPs *= 2
    this.moved = moved
    this.next = now + this.waitPs
    return false
  }
}

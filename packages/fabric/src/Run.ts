import { dropNames, NEVER, type Time } from "@rdmakit/protocol"
import { BlackHole, LinkCorruption, LinkDown, LinkLoss, ReceiverOverflow } from "@rdmakit/sim"
import { formatTime, hash32, NANOSECOND } from "@rdmakit/units"
import { type Deadlock, pauseCycle, StallWatch } from "./Deadlock.ts"
import type { FlowTable } from "./FlowTable.ts"
import type { WatchdogCounts } from "./PfcWatchdog.ts"
import type { World } from "./World.ts"

/** How far a run has come. */
export interface RunProgress {
  readonly flowsTotal: number
  readonly flowsFinished: number
  /** Share of the flows' bytes that belongs to finished flows, 0 to 1: what an estimate can be made from. */
  readonly finishedShare: number
  readonly packetHops: number
  readonly events: number
  /** Simulated time since the first flow started, ps. */
  readonly simulatedPs: Time
}

/** A flow that did not finish, and why. */
export interface UnfinishedFlow {
  readonly flow: number
  readonly source: number
  readonly destination: number
  readonly bytes: number
  readonly reason: string
}

/** What came of a run; everything here depends on inputs and seed alone. */
export interface RunOutcome {
  /** Stopped before its end: what had finished is here. */
  readonly partial: boolean
  /** What carried the flows, by name: `rc`, `tcp`. */
  readonly transport: string
  readonly controller: string
  readonly seed: number
  readonly flowsTotal: number
  readonly flowsFinished: number
  readonly packetHops: number
  readonly pfcFrames: number
  readonly events: number
  /** From the first flow's start to the end of the last, finished or failed, or as far as the run came, ps. */
  readonly simulatedPs: Time
  readonly dropsByReason: Readonly<Record<string, number>>
  readonly retransmissions: number
  /** Pause frames that took effect. */
  readonly pfcPauses: number
  /** Mean over all ports of the share of the simulated time in which at least one priority was paused, 0 to 1. */
  readonly pfcPauseFraction: number
  /**
   * Most packets alive at once: at any moment, or where the fused kernel lets nodes take turns, at the ends of windows as
   * long as the shortest link's delay. Beside `events` all that kernels tell differently.
   */
  readonly packetsPeak: number
  /** Times controllers set their rates. */
  readonly controllerActions: number
  /** Of sizes, starts and completions of all flows: equal digests are equal results. */
  readonly digest: string
  readonly unfinished: ReadonlyArray<UnfinishedFlow>
  /** Pauses that stand in a cycle at the end of a run that left flows unfinished. */
  readonly deadlock: Deadlock | null
  /** What the PFC watchdog did, where there is one. */
  readonly watchdog: WatchdogCounts | null
  /** What its user should know of the run itself. */
  readonly notes: ReadonlyArray<string>
  readonly flows: FlowTable
  /** Completion time of each flow alone in the network, ps. */
  readonly idealPs: Float64Array
}

/**
 * Looks at a world between its events. A watch is no event, so a run is the same with and without one, counts of events
 * included; a `Sampler` of the world is one.
 */
export interface Watch {
  /** When the next look is due, ps, not before the last one; NEVER: no more. Asked after each look. */
  readonly next: Time
  /** Every event before `now` has been executed, and none at or after it. Must not change anything. */
  look(now: Time): void
}

/** A run in steps: plain code that a caller drives, watches and may stop. */
export interface Run {
  readonly world: World
  /** Adds the watch of this run, before its first step; one at most. */
  watch(watch: Watch): void
  /** Executes up to `budget` events; false when nothing is left to do. */
  step(budget: number): boolean
  progress(): RunProgress
  /** What came of it. `partial`: it was stopped. */
  outcome(partial: boolean): RunOutcome
}

/** Names of every reason for a drop, by minus its code. */
const kernelReasons: Readonly<Record<number, string>> = {
  [LinkLoss]: "link-loss",
  [LinkDown]: "link-down",
  [LinkCorruption]: "corruption",
  [BlackHole]: "black-hole",
  [ReceiverOverflow]: "receiver-overflow",
}
const reasonName = (code: number): string => kernelReasons[-code] ?? dropNames[-code] ?? `reason-${code}`

const dropsOf = (world: World): Record<string, number> => {
  const drops: Record<string, number> = {}
  world.kernel.dropCounts.forEach((count, code) => {
    if (count > 0) drops[reasonName(code)] = count
  })
  return drops
}

/** Which of the two 32-bit words of a double is the upper half on this machine: of 1.0, whose lower half is 0. */
const UPPER = new Uint32Array(Float64Array.of(1).buffer)[0] === 0 ? 1 : 0

/** 64 bits, in hex, of every flow's size, creation and completion, and of how far those came that have not finished. */
function digestOf(flows: FlowTable, unfinished: ReadonlyArray<UnfinishedFlow>): string {
  const columns = [flows.bytes, flows.created, flows.finished].map(
    ({ buffer, byteOffset, length }) => new Uint32Array(buffer, byteOffset, 2 * length),
  )
  let a = 0
  let b = 0x9e3779b9
  for (let i = 0; i < flows.count; i++) {
    for (const words of columns) {
      const upper = words[2 * i + UPPER]!
      const lower = words[2 * i + 1 - UPPER]!
      a = hash32(a, upper, lower)
      b = hash32(b, lower, upper)
    }
  }
  for (const { flow, reason } of unfinished) {
    let at = 0
    for (const letter of reason) {
      const code = letter.codePointAt(0)!
      a = hash32(a, flow, code)
      b = hash32(b, code, at++)
    }
  }
  return a.toString(16).padStart(8, "0") + b.toString(16).padStart(8, "0")
}

const unfinishedOf = (world: World): Array<UnfinishedFlow> => {
  const { flows } = world
  const unfinished: Array<UnfinishedFlow> = []
  for (let flow = 0; flow < flows.count; flow++) {
    if (flows.finished[flow] !== NEVER) continue
    unfinished.push({
      flow,
      source: flows.source[flow]!,
      destination: flows.destination[flow]!,
      bytes: flows.bytes[flow]!,
      reason: world.unfinishedReason(flow),
    })
  }
  return unfinished
}

/** No run goes on after this, ps: the event queue counts in steps that are lost in later times. */
const TIME_MAX = 2 ** 60

/** Digests leave this out: it says of the run what its notes say, where the reader of one flow looks. */
const endedByTime = (flow: UnfinishedFlow): UnfinishedFlow => ({
  ...flow,
  reason: `the run was ended at 2^60 ps, thirteen days, before it was done; ${flow.reason}`,
})

export interface WorldRunOptions {
  readonly until: Time
  readonly controller: string
  readonly seed: number
  readonly ideal: (flow: number) => Time
  readonly notes?: ReadonlyArray<string>
  /** True: the run ends as soon as it is in a deadlock for good. Default: it goes on with timers and retries. */
  readonly endsDeadlocked?: boolean
}

/** Steps a world up to a stop time and sums up. */
export class WorldRun implements Run {
  readonly world: World
  private readonly until: Time
  private readonly controller: string
  private readonly seed: number
  private readonly ideal: (flow: number) => Time
  private readonly known: ReadonlyArray<string>
  private readonly bytesTotal: number
  private bytesFinished = 0
  private watching: Watch | undefined = undefined
  private readonly stall: StallWatch | undefined
  private deadlocked = false

  /**
   * @param options.until no event at or after this is executed
   * @param options.ideal completion time of a flow alone in the network
   * @param options.notes what the outcome's reader should know beforehand
   */
  constructor(world: World, options: WorldRunOptions) {
    this.world = world
    this.until = Math.min(options.until, TIME_MAX)
    this.controller = options.controller
    this.seed = options.seed
    this.ideal = options.ideal
    this.known = options.notes ?? []
    this.stall = options.endsDeadlocked === true ? new StallWatch(world) : undefined
    const { flows } = world
    this.bytesTotal = flows.bytes.reduce((sum, bytes) => sum + Math.max(1, bytes), 0)
    const { onFinish } = world
    world.onFinish = (flow, now) => {
      this.bytesFinished += Math.max(1, flows.bytes[flow]!)
      onFinish(flow, now)
    }
  }

  watch(watch: Watch): void {
    this.watching = watch
  }

  step(budget: number): boolean {
    const { world, until, watching, stall } = this
    if (this.deadlocked) return false
    if (watching === undefined && stall === undefined) return world.run(until, budget) > 0
    let left = budget
    for (;;) {
      const next = Math.min(watching?.next ?? NEVER, stall?.next ?? NEVER)
      left -= world.run(Math.min(next, until), left)
      // With nothing left to do there is nothing left to see. A kernel may have done more than it was to.
      if (left <= 0 || next >= until || world.kernel.isDone) return left < budget
      if (watching?.next === next) watching.look(next)
      if (stall?.next === next && stall.look(next)) {
        this.deadlocked = true
        return left < budget
      }
    }
  }

  private get start(): Time {
    const { flows } = this.world
    return flows.count > 0 ? flows.start[0]! : 0
  }

  /**
   * From the first start to `now`, or to the last completion or failure once every flow has finished or failed: samplers
   * and timers may run on.
   */
  private simulatedUntil(now: Time): Time {
    const { flows, failures } = this.world
    const done = flows.count > 0 && flows.finishedCount + failures.count === flows.count
    return Math.max(0, (done ? Math.max(failures.last, flows.lastFinish) : now) - this.start)
  }

  progress(): RunProgress {
    const { flows, kernel } = this.world
    return {
      flowsTotal: flows.count,
      flowsFinished: flows.finishedCount,
      finishedShare: this.bytesTotal === 0 ? 1 : this.bytesFinished / this.bytesTotal,
      packetHops: kernel.packetHops,
      events: kernel.events,
      simulatedPs: this.simulatedUntil(kernel.now),
    }
  }

  outcome(partial: boolean): RunOutcome {
    const { world } = this
    const { flows, kernel } = world
    const isStopped = !partial && !this.deadlocked && !kernel.isDone
    const simulatedPs = this.simulatedUntil(isStopped ? this.until : kernel.now)
    const totals = world.totals()
    const portTime = simulatedPs * world.ports.count
    const unfinished = unfinishedOf(world)
    const deadlock = unfinished.length > 0 && kernel.pauses.pauses > 0 ? (pauseCycle(world) ?? null) : null
    const watchdog = world.watchdog?.counts ?? null
    return {
      partial,
      transport: world.parts.transport.name,
      controller: this.controller,
      seed: this.seed,
      flowsTotal: flows.count,
      flowsFinished: flows.finishedCount,
      packetHops: kernel.packetHops,
      pfcFrames: kernel.pfcFrames,
      events: kernel.events,
      simulatedPs,
      dropsByReason: dropsOf(world),
      retransmissions: totals.retransmissions,
      pfcPauses: kernel.pauses.pauses,
      pfcPauseFraction: portTime > 0 ? kernel.pauses.totalPs(this.start + simulatedPs, this.start) / portTime : 0,
      packetsPeak: kernel.packetsPeak,
      controllerActions: totals.controllerActions,
      digest: digestOf(flows, unfinished),
      unfinished: simulatedPs + this.start >= TIME_MAX ? unfinished.map(endedByTime) : unfinished,
      deadlock,
      watchdog,
      notes: this.notes(deadlock, this.start + simulatedPs, isStopped && this.until < TIME_MAX ? unfinished : []),
      flows,
      idealPs: Float64Array.from({ length: flows.count }, (_, flow) => this.ideal(flow)),
    }
  }

  private notes(deadlock: Deadlock | null, end: Time, cutOff: ReadonlyArray<UnfinishedFlow>): Array<string> {
    const { world } = this
    const notes: Array<string> = [...this.known]
    const underWay = cutOff.filter(({ flow }) => world.isUnderWay(flow)).length
    if (underWay > 0) {
      const flows = underWay === 1 ? "a flow that was" : `${underWay} flows that were`
      const rest = cutOff.length - underWay
      const others = rest === 0 ? "" : `, and ${rest} more did not finish: each says why`
      notes.push(
        `the stop time, ${formatTime(this.until)}, cut off ${flows} under way: a later one lets them go on${others}`,
      )
    }
    if (world.flows.count === 0) notes.push("there are no flows: nothing was simulated but an idle network")
    if (deadlock !== null) {
      const isOver = this.deadlocked || world.kernel.isDone
      const what = isOver ? "deadlock" : "when the run ended, perhaps in a deadlock"
      notes.push(
        `${what}: PFC pauses priority ${deadlock.priority} at ports that wait for each other: ${deadlock.text}`,
      )
    }
    const counts = world.watchdog?.counts
    if (counts !== undefined) {
      const { storms, restored, drained } = counts
      notes.push(`PFC watchdog: ${storms} storms detected, ${restored} over, ${drained} waiting packets dropped`)
    }
    if (world.flowsHeldBack > 0) {
      const mean = formatTime(Math.round(world.heldBackPs / world.flowsHeldBack / NANOSECOND) * NANOSECOND)
      notes.push(
        `admission control held ${world.flowsHeldBack} of ${world.flows.count} flows back, for ${mean} on average`,
      )
    }
    if (end > Number.MAX_SAFE_INTEGER) {
      notes.push("the run went past 2^53 ps, two hours and a half: times after that are rounded, no longer exact")
    }
    if (end >= TIME_MAX) {
      notes.push("the run was ended at 2^60 ps, thirteen days: farther apart, events can no longer be put in order")
    }
    if (world.flows.finishedCount > 0 && world.totals().controllerActions === 0) {
      notes.push(`controller ${this.controller} never acted: no flow was long enough for its feedback, or none came`)
    }
    return notes
  }
}

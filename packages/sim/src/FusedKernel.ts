import { Layout } from "@rdmakit/packet"
import { NEVER, type Time } from "@rdmakit/protocol"
import { ExactKernel } from "./ExactKernel.ts"
import type { ExactKernelOptions } from "./ExactKernelOptions.ts"
import type { NodeEvents } from "./NodeEvents.ts"
import * as P from "./PortTable.ts"
import { ARRIVALS, BEFORE_ALL, CALLS } from "./TieOrder.ts"
import type { NoteSource, Turns } from "./Turns.ts"

/**
 * The fused kernel: one event a hop, the arrival. What ports of switches send, and when, is found out when somebody
 * looks, and is what the exact kernel finds, event by event: the same results (see `Departures`).
 *
 * With the option `turns`, nodes take turns. What happens at a node is unknown at all others until a packet has told them,
 * which takes the delay of a link; so a node may execute all its events of a window of time as long as the shortest link's
 * delay before the next node does the same. It is what conservative parallel simulators do (Chandy and Misra 1979; windows
 * as in YAWNS, Nicol 1993), on one processor: a node finds its state in the cache, and the packets that come to it in the
 * window are known and fetched at once. Results are those of the order of time for parts that keep to the rule. Calls at
 * the world (`callAt`) are in that order: nodes have executed all before them, and nothing after.
 */
export class FusedKernel extends ExactKernel {
  /** Set by the world, before the first event: notes that are known beforehand. */
  notes: NoteSource | undefined = undefined
  private isReady = false
  /** Every event before this has been executed, ps. */
  private position: Time = NEVER
  private rehearsals = 64
  private peak = 0
  /** Whether the last look at all nodes found one with anything to do. */
  private isIdle = false
  /** What was read early, kept so that no reading is found useless. */
  private sink = 0

  /** @throws RangeError where ties go by insertion: the order in which departures are found out is another */
  constructor(options: Omit<ExactKernelOptions, "fused">) {
    super({ ...options, fused: true })
    this.position = 0
  }

  /** Whether nodes take turns: not where links are too short for it, nor under a tracer, which sees events in their order. */
  get takesTurns(): boolean {
    return this.turns !== undefined && this.tracer === undefined
  }
  /** Where nodes take turns, of the moments between windows. */
  override get packetsPeak(): number {
    return this.turns === undefined ? super.packetsPeak : this.peak
  }
  override get pendingEvents(): number {
    return super.pendingEvents + (this.turns?.own.size ?? 0)
  }
  override get isDone(): boolean {
    const { notes, turns } = this
    if (!super.isDone || (notes !== undefined && notes.next !== NEVER)) return false
    return turns === undefined || (turns.own.size === 0 && !this.isUnderWay(turns))
  }

  private isUnderWay({ inboxes }: Turns): boolean {
    if (inboxes.ahead() !== NEVER) return true
    return this.switches.some((_, node) => inboxes.has(node) || this.mayLeave(node))
  }

  /** As in every kernel; but where nodes take turns, whole windows, until they are `budget` events or more. */
  override run(until: Time, budget: number): number {
    if (!this.isReady) {
      this.isReady = true
      if (this.turns !== undefined && !this.takesTurns) this.turns = undefined
      if (this.turns === undefined) this.notes?.give(NEVER)
    }
    return this.turns === undefined ? super.run(until, budget) : this.runWindows(this.turns, until, budget)
  }

  private runWindows(turns: Turns, until: Time, budget: number): number {
    const { inboxes, own } = turns
    const world = this.switches.length
    this.prepare()
    this.between = false
    let done = 0
    while (done < budget && this.position < until) {
      const close = inboxes.start + inboxes.width
      const middle = inboxes.start + inboxes.width / 2
      // The first windows are cut in halves, so that nothing is new to the compiler when one is cut later.
      const isCut = this.rehearsals > 0 && this.position < middle
      const end = Math.min(isCut ? middle : close, until)
      this.notes?.give(end)
      const call = own.first[world]!
      if (call < end) {
        done += this.runNodes(turns, call, CALLS) + this.runCalls(turns, world, call)
        this.position = call
        continue
      }
      done += this.runNodes(turns, end, BEFORE_ALL)
      this.position = end
      if (end !== close) continue
      this.peak = Math.max(this.peak, this.pool.alive)
      if (this.rehearsals > 0) this.rehearsals--
      if (!this.isIdle) inboxes.advance(1)
      else if (!this.skip(turns, until)) break
      this.position = inboxes.start
    }
    this.events += done
    this.between = true
    this.time = this.position
    this.currentOrder = BEFORE_ALL
    return done
  }

  /** Nothing happens in this window: on to the next in which something may; false where there is none. */
  private skip({ inboxes, own }: Turns, until: Time): boolean {
    const next = Math.min(until, this.notes?.next ?? NEVER, own.next)
    const { start, width } = inboxes
    let windows = Math.min(inboxes.ahead(), Math.floor((next - start) / width))
    if (windows === NEVER) return false
    // Far away the quotient is rounded.
    while (windows > 1 && start + windows * width > next) windows--
    inboxes.advance(Math.max(1, windows))
    return true
  }

  /** All calls at a time, those that they make included. */
  private runCalls({ own }: Turns, world: number, time: Time): number {
    let done = 0
    while (own.first[world] === time) {
      const event = own.peek(world)
      own.pop(world)
      done += this.execute(own, event)
    }
    this.reached = Math.max(this.reached, time)
    return done
  }

  /** Every node executes its events before `end`, and those at `end` whose orders are below `order`. */
  private runNodes({ inboxes, own }: Turns, end: Time, order: number): number {
    const { switches, waitingCount } = this
    const last = order === BEFORE_ALL ? end - 1 : end
    let done = 0
    this.isIdle = true
    for (let node = 0; node < switches.length; node++) {
      if (!inboxes.has(node) && !own.has(node, last) && (waitingCount[node] === 0 || !this.mayLeave(node))) continue
      this.isIdle = false
      const isHost = switches[node] === undefined
      done += isHost ? this.hostTurn(node, end, order !== BEFORE_ALL) : this.switchTurn(node, end, order !== BEFORE_ALL)
      if (waitingCount[node] === 0) continue
      this.time = end
      this.currentOrder = order
      this.settleNode(node)
    }
    return done
  }

  private readonly switchTurn = (node: number, end: Time, inclusive: boolean): number => {
    const { inboxes, own } = this.turns!
    const count = inboxes.gather(node)
    if (count > 1) this.fetch(count)
    const { handles, offsets, start } = inboxes
    const { first } = own
    let done = 0
    let at = 0
    for (;;) {
      const arrival = at < count ? start + offsets[at]! : NEVER
      const mine = first[node]!
      const time = mine < arrival ? mine : arrival
      if (inclusive ? time > end : time >= end) break
      if (mine <= arrival) {
        const some = this.ownEvent(own, node, mine, arrival)
        if (some >= 0) {
          done += some
          continue
        }
      }
      done++
      this.time = arrival
      const handle = handles[at++]!
      const from = inboxes.fromOf(handle)
      this.currentOrder = ARRIVALS | from
      this.arrive(from, handle, node)
    }
    this.endTurn(node, done, at, count)
    return done
  }

  /** The same of a host; the end of what its only port sends is not in the heap, if it has but one. */
  private readonly hostTurn = (node: number, end: Time, inclusive: boolean): number => {
    const { inboxes, own } = this.turns!
    const count = inboxes.gather(node)
    if (count > 1) this.fetchTelemetry(count)
    const { handles, offsets, start } = inboxes
    const { ends, first } = own
    let done = 0
    let at = 0
    for (;;) {
      const arrival = at < count ? start + offsets[at]! : NEVER
      const sent = ends[node]!
      const mine = first[node]!
      const early = sent <= mine ? sent : mine
      const time = early < arrival ? early : arrival
      if (inclusive ? time > end : time >= end) break
      if (sent === time) {
        ends[node] = NEVER
        done++
        this.complete(sent, own.lone[node]!)
        continue
      }
      if (mine <= arrival) {
        const some = this.ownEvent(own, node, mine, arrival)
        if (some >= 0) {
          done += some
          continue
        }
      }
      done++
      this.time = arrival
      const handle = handles[at++]!
      const from = inboxes.fromOf(handle)
      this.currentOrder = ARRIVALS | from
      this.arrive(from, handle, ~node)
    }
    this.endTurn(node, done, at, count)
    return done
  }

  /** Executes the first event that a node has made for itself, if it comes before an arrival: -1 if not, 0 for one cancelled. */
  private readonly ownEvent = (own: NodeEvents, node: number, time: Time, arrival: Time): number => {
    const event = own.peek(node)
    // At one time ends of serializations come before arrivals, and all others after them: see `TieOrder`.
    const isCompletion = event < this.fixedNodes
    if (time === arrival && !isCompletion) return -1
    own.pop(node)
    if (!isCompletion) return this.execute(own, event)
    this.complete(time, event >> 1)
    return 1
  }

  private readonly complete = (time: Time, port: number): void => {
    this.time = time
    this.currentOrder = port
    this.transmit(port, port << P.PORT_SHIFT)
  }

  /** What arrives after the end of a window that is cut short comes later. */
  private readonly endTurn = (node: number, done: number, at: number, count: number): void => {
    if (done > 0 && this.time > this.reached) this.reached = this.time
    this.turns!.inboxes.putBack(node, at, count)
  }

  /** Reads that do not depend on each other are under way together. */
  private readonly fetch = (count: number): void => {
    const { handles } = this.turns!.inboxes
    const { words } = this.pool
    let read = 0
    for (let i = 0; i < count; i++) read ^= words[handles[i]! << Layout.RECORD_SHIFT]!
    this.sink ^= read
  }

  /** And of telemetry that hosts will read. */
  private readonly fetchTelemetry = (count: number): void => {
    this.fetch(count)
    const { handles } = this.turns!.inboxes
    const { telemetry, telemetryStride, words } = this.pool
    let read = 0
    for (let i = 0; i < count; i++) {
      const block = words[(handles[i]! << Layout.RECORD_SHIFT) | Layout.TELEMETRY]!
      // Of none it is negative, and its block is none: there is nothing to read there.
      const first = (block & 0xffffff) * telemetryStride
      if (block >= 0) read ^= telemetry[first]! ^ telemetry[first + telemetryStride - 1]!
    }
    this.sink ^= read
  }
}

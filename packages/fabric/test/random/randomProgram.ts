import { dcqcn, dcqcnPresets } from "@rdmakit/cc-dcqcn"
import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { Cause, Context, Effect, Exit } from "effect"
import { sharedBufferSwitches, VerbsNetwork } from "../../src/index.ts"
import { VirtualRun } from "../../src/program/VirtualRun.ts"
import { runDatagrams } from "./Datagrams.ts"
import { Complaints, SharedSlots } from "./Ends.ts"
import { runLane } from "./Lane.ts"
import { MESSAGE_BYTES, type Plan, planOf } from "./Plan.ts"
import { runWindows } from "./Windows.ts"

/** A minute: no program takes a second. */
const UNTIL = 60e12
const SHARED_SLOTS = 6

const controllers = {
  none: undefined,
  dcqcn: dcqcn(dcqcnPresets.paper),
  hpcc: hpcc(hpccPresets.simulation),
}

const networkOf = ({ seed, graph, kernel, selective, controller, lossless }: Plan): VerbsNetwork => {
  const factory = controllers[controller]
  return new VerbsNetwork({
    graph,
    seed,
    kernel,
    switches: sharedBufferSwitches({ bufferBytes: 1 << 20, lossless }),
    queuePairs: { recovery: selective ? "selective-repeat" : "go-back-n" },
    ...(factory === undefined ? {} : { controller: factory }),
  })
}

const isClean = ({ impairments, flaps, lossless }: Plan): boolean =>
  lossless &&
  flaps.length === 0 &&
  impairments.every((each) => each.loss === 0 && each.corruption === 0 && each.duplication === 0)

/** Nothing is repeated, and nothing passes anything else. */
const isInOrder = ({ impairments, flaps }: Plan): boolean =>
  flaps.length === 0 &&
  impairments.every((each) => each.duplication === 0 && each.reordering === 0 && each.delayPs === undefined)

/** Everything that the plan has going on at once, on a network that has its faults. */
const programOf = (plan: Plan, { devices, links }: VerbsNetwork, complaints: Complaints): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const [link, impairment] of plan.impairments.entries()) links.impair(link, impairment)
    const flapping = yield* Effect.forEach(plan.flaps, ({ link, afterNs, forNs }) =>
      Effect.forkChild(
        Effect.gen(function* () {
          yield* Effect.sleep(`${afterNs} nanos`)
          links.set(link, false)
          yield* Effect.sleep(`${forNs} nanos`)
          links.set(link, true)
        }),
      ),
    )
    const shared = new Map<number, SharedSlots>()
    for (const { left, right, shared: wants } of plan.lanes) {
      if (!wants) continue
      for (const host of [left, right]) {
        if (!shared.has(host)) shared.set(host, new SharedSlots(devices[host]!, SHARED_SLOTS, MESSAGE_BYTES))
      }
    }
    const parts = [
      ...plan.lanes.map((lane) => runLane(lane, devices, shared, isInOrder(plan), isClean(plan), complaints)),
      ...plan.windows.map((windows) => runWindows(windows, devices, isClean(plan), complaints)),
      ...(plan.datagrams === undefined ? [] : [runDatagrams(plan.datagrams, devices, isClean(plan), complaints)]),
    ]
    yield* Effect.all(parts, { concurrency: "unbounded", discard: true })
    for (const slots of shared.values()) slots.unmake()
    for (const [host, { resources }] of devices.entries()) {
      const left = Object.entries(resources).filter(([, count]) => count !== 0)
      complaints.expect(left.length === 0, () => `host ${host} has left ${JSON.stringify(Object.fromEntries(left))}`)
    }
    void flapping
  })

export interface SeedOutcome {
  /** What was wrong; empty: nothing. */
  readonly wrong: ReadonlyArray<string>
  readonly digest: string
  readonly events: number
}

/** Runs the program of a seed: exactly once, in order, the right octets, and nothing left behind. */
export const runSeed = (seed: number): SeedOutcome => {
  const plan = planOf(seed)
  return runPlan(plan, networkOf(plan))
}

/** Runs the program of a plan on a network that is made for it. */
export const runPlan = (plan: Plan, network: VerbsNetwork): SeedOutcome => {
  const { seed } = plan
  const complaints = new Complaints()
  const options = { seed, until: UNTIL, outstanding: () => network.outstanding() }
  const run = new VirtualRun(network, programOf(plan, network, complaints), Context.empty(), options)
  while (run.step(1 << 20)) {}
  const { exit, fault } = run
  if (fault !== undefined) complaints.lines.push(String(fault))
  else if (exit === undefined || Exit.isFailure(exit)) {
    complaints.lines.push(exit === undefined ? "it did not end" : Cause.pretty(exit.cause))
  } else {
    // What was still on its way finds nobody.
    network.run()
    const { pool, stragglerCount } = network.kernel
    complaints.expect(network.outstanding().length === 0, () => network.outstanding().join("; "))
    complaints.expect(pool.alive === 0, () => `${pool.alive} packets are left in the pool`)
    complaints.expect(pool.payloads.alive === 0, () => `${pool.payloads.alive} payloads are left in the pool`)
    complaints.expect(stragglerCount === 0, () => `${stragglerCount} packets are held up for ever`)
  }
  return { wrong: complaints.lines, digest: network.digest, events: network.kernel.events }
}

import { Drop, type Switch } from "@rdmakit/protocol"
import { fail } from "./ContractViolation.ts"
import type { Check } from "./controllerChecks.ts"
import { Draws } from "./Draws.ts"
import { type Burst, SwitchBench, type SwitchEvent, type SwitchSetup } from "./SwitchBench.ts"

/** A switch policy, as the suite gets hold of it. */
export interface SwitchUnderTest {
  readonly name: string
  /** A fresh switch for this node. A lossless one keeps `headroomBytes` aside for each port. */
  readonly make: (setup: SwitchSetup) => Switch
}

/** What a switch promises beyond the contract. */
export interface SwitchExpectations {
  /** Drops nothing for want of buffer: it pauses its neighbours. Default true. */
  readonly lossless?: boolean
}

const SEEDS = [1, 2, 3]
/** Seven ports send to the first host: more than any buffer of the suite holds. */
const incast: ReadonlyArray<Burst> = [1, 2, 3, 4, 5, 6, 7].map((from) => ({
  from,
  to: 0,
  packets: 150,
  wireBytes: 1500,
  priority: 3,
}))

/** Bursts of any size, priority and pair of ports, among hosts that one port leads to each. */
const mixture = (seed: number): ReadonlyArray<Burst> => {
  const draws = new Draws(seed)
  return Array.from({ length: 30 }, () => ({
    from: draws.below(8),
    to: draws.below(3),
    packets: 1 + draws.below(80),
    wireBytes: 64 + draws.below(1437),
    priority: 1 + draws.below(7),
  })).filter(({ from, to }) => from !== to)
}

const loads = [incast, ...SEEDS.map(mixture)]

const count = (events: ReadonlyArray<SwitchEvent>, what: SwitchEvent["what"]): number =>
  events.reduce((sum, event) => sum + (event.what === what ? 1 : 0), 0)

/** The first event in which two runs differ. */
const difference = (one: ReadonlyArray<SwitchEvent>, other: ReadonlyArray<SwitchEvent>): string | undefined => {
  for (let i = 0; i < Math.max(one.length, other.length); i++) {
    const [a, b] = [JSON.stringify(one[i]), JSON.stringify(other[i])]
    if (a !== b) return `event ${i}: ${a}, then ${b}`
  }
  return undefined
}

/**
 * What `switchSuite` registers, for other test runners: run each, and count what throws. A broken promise of the
 * contract is a `ContractViolation`.
 */
export const switchChecks = (
  { make }: SwitchUnderTest,
  { lossless = true }: SwitchExpectations = {},
): ReadonlyArray<Check> => [
  {
    name: "routes to the next hops it was given, and to nothing else",
    run: () => {
      const bench = new SwitchBench(make)
      const { nextHops } = bench.setup
      for (let flow = 0; flow < 500; flow++) {
        for (const host of bench.setup.hosts) {
          const packet = bench.make(flow, host, 1000, 3)
          const { handle } = packet
          const egress = bench.subject.route(flow, packet)
          if (!nextHops(host).includes(egress)) fail(`port ${egress} is no next hop of node ${host}`)
          bench.pool.release(handle)
        }
      }
    },
  },
  {
    name: "has no route to what is no host",
    run: () => {
      const bench = new SwitchBench(make)
      for (const node of [bench.setup.node, 0, 101]) {
        const egress = bench.subject.route(0, bench.make(1, node, 1000, 3))
        if (egress !== Drop.NoRoute) fail(`route to node ${node} is ${egress}, not Drop.NoRoute`)
      }
    },
  },
  {
    name: "keeps a flow on its route, unless it says that it chooses for each packet",
    run: () => {
      const bench = new SwitchBench(make)
      if (bench.subject.perPacket) return
      const host = bench.setup.hosts.at(-1)!
      const route = (flow: number, bytes: number): number => {
        const packet = bench.make(flow, host, bytes, 3)
        const { handle } = packet
        const egress = bench.subject.route(flow, packet)
        bench.pool.release(handle)
        return egress
      }
      const first = Array.from({ length: 100 }, (_, flow) => route(flow, 64))
      for (let flow = 99; flow >= 0; flow--) {
        if (route(flow, 1500) !== first[flow]) fail(`flow ${flow} changed its route`)
      }
    },
  },
  {
    name: "passes a lone packet on at once: no drop, no pause, no mark",
    run: () => {
      for (const wireBytes of [64, 1500]) {
        const bench = new SwitchBench(make)
        const events = bench.run([{ from: 1, to: 0, packets: 1, wireBytes, priority: 3 }])
        if (events.length !== 1 || events[0]!.what !== "delivered") fail(`a lone packet met ${JSON.stringify(events)}`)
        if (bench.marked > 0) fail("a lone packet was marked")
      }
    },
  },
  {
    name: "loses no packet that it does not count as dropped",
    run: () => {
      for (const load of loads) {
        const sent = load.reduce((sum, { packets }) => sum + packets, 0)
        const events = new SwitchBench(make).run(load)
        const accounted = count(events, "delivered") + count(events, "dropped")
        if (accounted !== sent) fail(`${sent} packets came, ${accounted} were delivered or dropped`)
      }
    },
  },
  {
    name: lossless ? "drops nothing while its headroom is enough" : "drops when it is overloaded, and pauses nobody",
    run: () => {
      for (const load of loads) {
        const events = new SwitchBench(make).run(load)
        const dropped = count(events, "dropped")
        if (lossless && dropped > 0) fail(`${dropped} packets dropped`)
        if (!lossless && count(events, "paused") > 0) fail("a lossy switch sent a pause")
      }
      const events = new SwitchBench(make).run(incast)
      if (lossless && count(events, "paused") === 0) fail("seven ports sent to one, and none was paused")
      if (!lossless && count(events, "dropped") === 0) fail("seven ports sent to one, and nothing was dropped")
    },
  },
  {
    name: "resumes whatever it paused",
    run: () => {
      for (const load of loads) {
        const events = new SwitchBench(make).run(load)
        const open = new Set<string>()
        for (const { what, port, which } of events) {
          if (what === "paused") open.add(`priority ${which} of port ${port}`)
          if (what === "resumed") open.delete(`priority ${which} of port ${port}`)
        }
        if (open.size > 0) fail(`never resumed: ${[...open].join(", ")}`)
      }
    },
  },
  {
    name: "gives back every byte: the twentieth load meets the switch that the first one met",
    run: () => {
      for (const load of loads) {
        const bench = new SwitchBench(make)
        const first = bench.run(load)
        for (let round = 2; round <= 20; round++) {
          const differs = difference(first, bench.run(load))
          if (differs !== undefined) fail(`load ${round} went unlike the first, ${differs}`)
        }
      }
    },
  },
  {
    name: "does the same again when it is made again",
    run: () => {
      for (const load of loads) {
        const [one, other] = [new SwitchBench(make), new SwitchBench(make)]
        const differs = difference(one.run(load), other.run(load))
        if (differs !== undefined) fail(differs)
        if (one.marked !== other.marked) fail(`${one.marked} marks, then ${other.marked}`)
      }
    },
  },
]

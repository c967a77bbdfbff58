import { PacketPool } from "@rdmakit/packet"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ExactKernel, FusedKernel, type TieOrder } from "../src/index.ts"
import { Bench, threeHosts } from "./bench.ts"
import { NaiveKernel } from "./NaiveKernel.ts"
import {
  Journal,
  type Link,
  networkOf,
  PlainNic,
  PlainSwitch,
  serializationPs,
  shortestRoutes,
} from "./smallNetwork.ts"

const HOPS_MAX = 6
const PFC_BYTES = 64

/** A tree of switches with hosts at random ones, of few different rates, delays and sizes: ties abound. */
const scenario = fc
  .record({
    hosts: fc.integer({ min: 2, max: 5 }),
    switches: fc.integer({ min: 1, max: 4 }),
    places: fc.array(fc.nat(100), { minLength: 9, maxLength: 9 }),
    rates: fc.array(fc.constantFrom(8e12, 8e12, 4e12), { minLength: 9, maxLength: 9 }),
    delays: fc.array(fc.constantFrom(0, 500, 1000, 1000, 5000), { minLength: 9, maxLength: 9 }),
    ties: fc.constantFrom<TieOrder>("canonical", "insertion"),
    strict: fc.boolean(),
    perPacket: fc.boolean(),
    pauseBytes: fc.constantFrom(undefined, 1200, 4000),
    queueBytesMax: fc.constantFrom(undefined, undefined, 5000),
    gapPs: fc.constantFrom(0, 0, 700, 1500),
    answers: fc.boolean(),
    sends: fc.array(
      fc.record({
        time: fc.constantFrom(0, 0, 500, 1000, 2000, 3000, 12_000),
        from: fc.nat(100),
        to: fc.nat(100),
        priority: fc.constantFrom(0, 1, 3, 3, 7),
        wireBytes: fc.constantFrom(100, 500, 1000, 1000),
        count: fc.integer({ min: 1, max: 12 }),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ hosts, switches, places, rates, delays, ...rest }) => {
    const links: Array<Link> = []
    const add = (a: number, b: number) =>
      links.push({ between: [a, b], rateBps: rates[links.length]!, delayPs: delays[links.length]! })
    for (let host = 0; host < hosts; host++) add(host, hosts + (places[host]! % switches))
    for (let s = 1; s < switches; s++) add(hosts + s, hosts + (places[hosts + s - 1]! % s))
    return { ...rest, hosts, network: networkOf(hosts, switches, links) }
  })
type Scenario = typeof scenario extends fc.Arbitrary<infer A> ? A : never

/** Puts policies into a kernel, runs it, and tells all that it showed; untraced, what hosts saw. */
const play = (
  s: Scenario,
  kernel: ExactKernel | NaiveKernel,
  run: () => void,
  isTraced = true,
): ReadonlyArray<string> => {
  const { network, hosts } = s
  const routes = shortestRoutes(network)
  const journal = new Journal()
  const nics: Array<PlainNic> = []
  for (let node = 0; node < network.nodes; node++) {
    if (node < hosts) {
      const nic = new PlainNic(kernel, {
        answers: s.answers,
        gapPs: s.gapPs,
        onReceive: (now, packet) => void journal.lines.push(`${now} delivered ${node}: ${packet.flow}.${packet.psn}`),
        onTimer: (now, endpoint) => void journal.lines.push(`${now} timer ${node}: ${endpoint}`),
      })
      nics.push(nic)
      kernel.nics[node] = nic
    } else {
      kernel.switches[node] = new PlainSwitch(kernel, {
        routes: routes[node]!,
        perPacket: s.perPacket,
        dequeue: "lazy",
        ...(s.pauseBytes === undefined ? {} : { pauseBytes: s.pauseBytes }),
        ...(s.queueBytesMax === undefined ? {} : { queueBytesMax: s.queueBytesMax }),
      })
    }
  }
  if (isTraced) kernel.tracer = journal
  kernel.onCall = (now, _target, index) => {
    const { from, to, priority, wireBytes, count } = s.sends[index]!
    const source = from % hosts
    const destination = (source + 1 + (to % (hosts - 1))) % hosts
    for (let psn = 0; psn < count; psn++) {
      const port = network.portNode.indexOf(source)
      nics[source]!.send(now, port, { source, destination, priority, wireBytes, flow: 2 * index, psn })
    }
    kernel.timerAt(source, index, 0, now + 1000)
  }
  s.sends.forEach(({ time }, index) => void kernel.callAt(time, 0, index))
  run()
  return journal.lines
}

describe("the exact kernel", () => {
  it("does what a kernel with every event in place does, in the same order", () => {
    fc.assert(
      fc.property(scenario, (s) => {
        const naive = new NaiveKernel(s.network, serializationPs, {
          ties: s.ties,
          strict: s.strict,
          hopsMax: HOPS_MAX,
          pfcBytes: PFC_BYTES,
        })
        const expected = play(s, naive, () => naive.run())
        const pool = new PacketPool({ capacity: 64 })
        const kernel = new ExactKernel({
          network: s.network,
          pool,
          ties: s.ties,
          discipline: s.strict ? "strict" : "round-robin",
          serializationPs,
          wireBytesMax: 1000,
          pfcBytes: PFC_BYTES,
          hopsMax: HOPS_MAX,
        })
        const lines = play(s, kernel, () => {
          while (kernel.run(Number.POSITIVE_INFINITY, 7) > 0);
        })
        expect(lines).toEqual(expected)
        expect([kernel.packetHops, kernel.now]).toEqual([naive.packetHops, kernel.now])
        expect(pool.alive).toBe(naive.pool.alive)
        // Nothing stays behind, unless a drop kept a pause from ending.
        expect(pool.alive === 0 || s.pauseBytes !== undefined).toBe(true)
      }),
      { numRuns: 250 },
    )
  }, 60_000)
})

describe("the fused kernel", () => {
  it("does the same, traced or not", () => {
    fc.assert(
      fc.property(scenario, fc.boolean(), (s, isTraced) => {
        const options = { ties: "canonical", strict: s.strict, hopsMax: HOPS_MAX, pfcBytes: PFC_BYTES } as const
        const naive = new NaiveKernel(s.network, serializationPs, options)
        const expected = play(s, naive, () => naive.run(), isTraced)
        const pool = new PacketPool({ capacity: 64 })
        const kernel = new FusedKernel({
          network: s.network,
          pool,
          discipline: s.strict ? "strict" : "round-robin",
          serializationPs,
          wireBytesMax: 1000,
          pfcBytes: PFC_BYTES,
          hopsMax: HOPS_MAX,
        })
        const run = () => {
          while (kernel.run(Number.POSITIVE_INFINITY, 7) > 0);
        }
        expect(play(s, kernel, run, isTraced)).toEqual(expected)
        expect([kernel.packetHops, pool.alive]).toEqual([naive.packetHops, naive.pool.alive])
      }),
      { numRuns: 250 },
    )
  }, 60_000)

  it("takes one event a hop at switches, though packets wait", () => {
    const flow = { priority: 3, wireBytes: 1000, flow: 0 }
    const eventsOf = (Kernel: typeof ExactKernel) => {
      const bench = new Bench({ ...threeHosts, plainSwitch: { dequeue: "lazy" } }, Kernel)
      for (const source of [0, 1]) bench.send(0, source, 2, flow, 50)
      bench.run()
      expect(bench.times()).toEqual(Array.from({ length: 100 }, (_, i) => 4000 + 1000 * i))
      return bench.kernel.events
    }
    // Calls, arrivals, and the ends that the hosts wait for; and in the exact kernel those that the switch waits for.
    expect(eventsOf(FusedKernel)).toBe(100 + 200 + 98)
    expect(eventsOf(ExactKernel)).toBe(100 + 200 + 98 + 99)
  })

  it("cannot have ties by insertion", () => {
    expect(() => new Bench({ ...threeHosts, ties: "insertion" }, FusedKernel)).toThrow(RangeError)
  })
})

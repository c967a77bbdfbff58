import { hpccFamily } from "@rdmakit/cc-erdma"
import { erdmaFlows } from "@rdmakit/transport-erdma"
import { expect, test } from "vitest"
import { growth } from "../claims/growth.ts"
import { overlay } from "../claims/overlay.ts"
import { traits } from "../claims/traits.ts"
import type { Figure } from "../src/Claim.ts"
import { evaluate, tallyOf } from "../src/Evaluation.ts"
import { runSystem } from "../src/Experiment.ts"
import { completionPs, type Growth, hostsCached, memoryBytes } from "../src/Growth.ts"
import { latenciesOf } from "../src/Latency.ts"
import { claimsPage } from "../src/Page.ts"
import { queuePairsFor } from "../src/Scaling.ts"
import { handled, linksUsed, overtaken, timeoutOf } from "../src/Traits.ts"
import { TwoHosts } from "../src/TwoHosts.ts"
import { claimsJson } from "../src/tables.ts"

const run = (figure: Figure) => Promise.all(figure.systems.map((system) => runSystem(figure, system, "quick")))

test("a line between two hosts sends one packet at a time, and every byte comes", () => {
  const transport = erdmaFlows({ controller: hpccFamily({ variant: "rtt" }) })
  const departures: Array<number> = []
  let completed = -1
  const hosts = new TwoHosts({
    transport,
    rateBps: 100e9,
    baseRttPs: 10e6,
    seed: 1,
    arrival: ({ time, from }) => {
      if (from === 0) departures.push(time)
      return time + 5e6
    },
    onEvent: ({ message }) => {
      completed = message
    },
  })
  hosts.send(0, 7, 10 * transport.mtuBytes)
  hosts.run()
  expect(completed).toBe(7)
  const wirePs = ((transport.mtuBytes + transport.framing.dataBytes) * 8e12) / 100e9
  for (let index = 1; index < departures.length; index++)
    expect(departures[index]! - departures[index - 1]!).toBeGreaterThanOrEqual(wirePs)
  expect(departures).toHaveLength(10)
})

test("a message over a quiet line takes its delay, its octets and the stages of the hosts", () => {
  const setting = {
    ...{ messageBytes: 64, messages: { quick: 20, full: 20 }, rateBps: 10e9 },
    ...{ delay: "3us", jitter: "0us", loss: 0 },
  }
  const { whole, network } = latenciesOf(
    setting,
    { transport: "tcp", send: { call: "2us" }, receive: { interrupt: "4us", wake: "1us" } },
    "quick",
  )
  // Ethernet, IPv4, TCP with time stamps, preamble and gap are 90 octets, VXLAN is 50.
  const wireSeconds = ((64 + 90 + 50) * 8) / 10e9
  expect(whole[0]).toBeCloseTo(3e-6 + 7e-6 + wireSeconds, 12)
  expect(whole.at(-1)).toBeCloseTo(whole[0]!, 12)
  expect(network[0]).toBeCloseTo(3e-6 + wireSeconds, 12)
})

test("waits and losses: both stacks have the same waits, and eRDMA has no timeouts of milliseconds", async () => {
  const [erdma, tcp] = await run(overlay)
  expect(erdma!.values["network-mean"]).toBeLessThan(4e-6)
  expect(tcp!.values["network-tail"]).toBeGreaterThan(10e-3)
  expect(erdma!.values["network-tail"]).toBeLessThan(50e-6)
})

const setting = { processes: 4, cacheBytes: 2 ** 21, fetches: 16, messagePs: 10e3, rateBps: 100e9, rttPs: 4e6 }
const rc: Growth = {
  contexts: (hosts, processes) => (hosts - 1) * processes ** 2,
  contextBytes: 375,
  queuePairs: (hosts, processes) => (hosts - 1) * processes ** 2,
  ringBytes: 10_240,
  wireBytes: 64 + 82,
  missPs: 1e6,
}

test("what a cache of 2 MiB holds, and what there is of it beyond", () => {
  // 5,592 contexts of 375 bytes: 349 peers with sixteen connections each.
  expect(hostsCached(setting, rc)).toBe(350)
  expect(hostsCached({ ...setting, processes: 1 }, rc)).toBe(5593)
  expect(memoryBytes(setting, rc, 101)).toBe(1600 * (375 + 10_240))
  // As long as all contexts are there the wire is slower than the NIC: 146 octets take 11.68 ns.
  expect(completionPs(setting, rc, 101)).toBeCloseTo(4e6 + 1600 * 11_680, 0)
  // Twice as many contexts as the cache holds: half of them are 1 µs away, sixteen at a time.
  const half = { ...setting, cacheBytes: 1600 * 375 * 0.5 }
  expect(completionPs(half, rc, 101)).toBeCloseTo(4e6 + 1600 * (10e3 + 0.5 * 62_500), 0)
})

test("the formula's wire agrees with the packets, a process a host", async () => {
  const points = growth.sweep!.points.filter(({ name }) => name === "64")
  const figure = { ...growth, sweep: { ...growth.sweep!, points } }
  const measured = await runSystem(figure, growth.systems[0]!, "quick")
  const [[, seconds]] = measured.curves[0] as unknown as [readonly [number, number]]
  const reckoned = completionPs({ ...setting, processes: 1 }, rc, 64) / 1e12
  expect(seconds / reckoned).toBeGreaterThan(0.95)
  expect(seconds / reckoned).toBeLessThan(1.1)
})

test("traits, each by its run", async () => {
  expect([overtaken("tcp"), overtaken("rc")]).toEqual([0, 0])
  expect(overtaken("srd")).toBeGreaterThan(0.5)
  expect(timeoutOf("tcp", 20e6)).toBeCloseTo(0.2, 6)
  // 4.096 µs · 2^14, whatever the round trip.
  expect([timeoutOf("rc", 20e6), timeoutOf("rc", 200e6)]).toEqual([0.067108864, 0.067108864])
  expect(timeoutOf("srd", 20e6)).toBeLessThan(100e-6)
  expect([await linksUsed("tcp"), await linksUsed("srd")]).toEqual([1, 16])
  expect(handled("rc", 2 ** 20)).toBe(2)
  // 725 segments of 1,448 bytes, and an acknowledgement for every two of them at least.
  expect(handled("tcp", 2 ** 20)).toBeGreaterThanOrEqual(725 + 362)
  expect([await queuePairsFor("rc", 5), await queuePairsFor("srd", 5)]).toEqual([5, 1])
})

test("a table is in the page, and lines of a bench are in its data", async () => {
  const numbers = { late: 0.5, links: 16 }
  const table: Figure = { ...traits, bench: () => ({ numbers, lines: {} }) }
  const lines: Figure = { ...overlay, bench: () => ({ numbers: {}, lines: { latency: [[0, 1e-6]] } }) }
  const figures = [table, lines]
  const measured = (await Promise.all(figures.map(run))).flat()
  const evaluated = evaluate(
    figures.map((figure) => ({ figure, claims: figure.claims })),
    measured,
    "quick",
  )
  const page = claimsPage(evaluated, tallyOf(evaluated), "quick")
  expect(page).toContain('<td class="prose">sprayed over many: 16 of 16 links</td>')
  expect(page).toContain('aria-label="Latency of 64 bytes"')
  const data = claimsJson(evaluated, tallyOf(evaluated), "quick").figures[1] as unknown as {
    readonly lines: ReadonlyArray<{ readonly systems: unknown }>
  }
  expect(data.lines[0]!.systems).toContainEqual({ system: "eRDMA", values: [1e-6] })
})

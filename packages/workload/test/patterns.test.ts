import fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import {
  allToAllFlows,
  allToAllSteps,
  bytesOf,
  fixedSize,
  listedFlows,
  mergedFlows,
  permutationFlows,
  permutationSteps,
  poissonFlows,
  poissonSteps,
  randomIncastFlows,
  randomIncastSteps,
  ringFlows,
  ringSteps,
  STEP_FLOWS,
  WorkloadError,
  type WorkloadFlow,
} from "../src/index.ts"
import { finished } from "../src/Steps.ts"
import { byStart, byStartSteps } from "../src/WorkloadFlow.ts"

const sizes = fixedSize(1000)
const pairs = (flows: ReadonlyArray<WorkloadFlow>) => flows.map(({ source, destination }) => [source, destination])
const hostLists = fc.uniqueArray(fc.nat(65_535), { minLength: 2, maxLength: 40 })

describe("a permutation", () => {
  it("has every host send once and hear once, never from itself", () => {
    fc.assert(
      fc.property(hostLists, fc.nat(), fc.integer({ min: 1, max: 3 }), (hosts, seed, rounds) => {
        const flows = permutationFlows({ hosts, sizes, seed, rounds, gapPs: 10 })
        const sorted = hosts.toSorted((a, b) => a - b)
        for (let round = 0; round < rounds; round++) {
          const part = flows.filter(({ startPs }) => startPs === round * 10)
          expect(part.map(({ source }) => source)).toEqual(hosts)
          expect(part.map(({ destination }) => destination).toSorted((a, b) => a - b)).toEqual(sorted)
          expect(part.some(({ source, destination }) => source === destination)).toBe(false)
        }
        expect(permutationFlows({ hosts, sizes, seed, rounds, gapPs: 10 })).toEqual(flows)
      }),
    )
  })

  it("is every one of the nine of four hosts, equally often", () => {
    const counts = new Map<string, number>()
    for (let seed = 0; seed < 9000; seed++) {
      const key = permutationFlows({ hosts: [0, 1, 2, 3], sizes, seed })
        .map(({ destination }) => destination)
        .join("")
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    expect(counts.size).toBe(9)
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(4 * Math.sqrt(1000))
  })
})

describe("all to all", () => {
  it("has every ordered pair once, in rounds that are permutations", () => {
    const flows = allToAllFlows({ hosts: [3, 5, 7], sizes, startPs: 100, gapPs: 10 })
    expect(pairs(flows)).toEqual([
      [3, 5],
      [5, 7],
      [7, 3],
      [3, 7],
      [5, 3],
      [7, 5],
    ])
    expect(flows.map(({ startPs }) => startPs)).toEqual([100, 100, 100, 110, 110, 110])
    expect(bytesOf(flows)).toBe(6000)
  })

  it("refuses more flows than fit", () => {
    const hosts = Array.from({ length: 4000 }, (_, i) => i)
    expect(() => allToAllFlows({ hosts, sizes })).toThrow("flows is 15996000, expected at most 10000000 in all")
  })
})

describe("a ring", () => {
  it("closes", () => {
    expect(pairs(ringFlows({ hosts: [4, 2, 9], sizes }))).toEqual([
      [4, 2],
      [2, 9],
      [9, 4],
    ])
    const rounds = ringFlows({ hosts: [0, 1], sizes, rounds: 3, gapPs: 7 })
    expect(rounds.map(({ startPs }) => startPs)).toEqual([0, 0, 7, 7, 14, 14])
  })

  it.each<[Parameters<typeof ringFlows>[0], string]>([
    [{ hosts: [1], sizes }, "hosts is 1, expected 2 hosts or more"],
    [{ hosts: [1, 2], sizes, rounds: 0 }, "rounds is 0"],
    [{ hosts: [1, 2], sizes, gapPs: -1 }, "gapPs is -1"],
    [{ hosts: [1, 2], sizes, rounds: 2, gapPs: 2 ** 53 - 1 }, "gapPs is 9007199254740991"],
    [{ hosts: [1, 2], sizes, priority: 8 }, "priority is 8"],
  ])("refuses %o", (options, message) => {
    expect(() => ringFlows(options)).toThrow(WorkloadError)
    expect(() => ringFlows(options)).toThrow(message)
  })
})

describe("lists", () => {
  it("are sorted by start; equal starts keep their order", () => {
    const flows = listedFlows([
      { source: 0, destination: 1, sizeBytes: 5, startPs: 20 },
      { source: 2, destination: 1, sizeBytes: 6, startPs: 10, priority: 1, destinationPort: 7 },
      { source: 3, destination: 1, sizeBytes: 7, startPs: 20 },
    ])
    expect(flows).toEqual([
      { source: 2, destination: 1, sizeBytes: 6, startPs: 10, priority: 1, destinationPort: 7 },
      { source: 0, destination: 1, sizeBytes: 5, startPs: 20, priority: 3, destinationPort: 100 },
      { source: 3, destination: 1, sizeBytes: 7, startPs: 20, priority: 3, destinationPort: 100 },
    ])
  })

  it("are merged", () => {
    const ring = ringFlows({ hosts: [0, 1], sizes, startPs: 5 })
    const other = listedFlows([{ source: 1, destination: 0, sizeBytes: 9, startPs: 5 }])
    expect(mergedFlows([ring, other]).map(({ sizeBytes }) => sizeBytes)).toEqual([1000, 1000, 9])
    expect(mergedFlows([other, ring]).map(({ sizeBytes }) => sizeBytes)).toEqual([9, 1000, 1000])
  })

  it.each<[Partial<WorkloadFlow>, string]>([
    [{ source: -1 }, "flows[0].source is -1"],
    [{ destination: 0 }, "flows[0].destination is 0, expected another host"],
    [{ sizeBytes: 0 }, "flows[0].sizeBytes is 0"],
    [{ startPs: 0.5 }, "flows[0].startPs is 0.5"],
    [{ priority: 0 }, "flows[0].priority is 0"],
    [{ destinationPort: 65_536 }, "flows[0].destinationPort is 65536"],
  ])("with %o are refused", (changed, message) => {
    expect(() => listedFlows([{ source: 0, destination: 1, sizeBytes: 1, ...changed }])).toThrow(message)
  })
})

test("what is made in steps is what is made at once, a step for every hundred thousand flows", () => {
  const hosts = [0, 1, 2, 3, 4]
  const common = { hosts, sizes: fixedSize(1000), seed: 7 }
  const poisson = { ...common, payloadBps: 1e9, durationPs: 500e9 }
  const pairs = [
    [ringFlows({ ...common, rounds: 50_000 }), ringSteps({ ...common, rounds: 50_000 })],
    [permutationFlows({ ...common, rounds: 50_000 }), permutationSteps({ ...common, rounds: 50_000 })],
    [allToAllFlows(common), allToAllSteps(common)],
    [poissonFlows(poisson), poissonSteps(poisson)],
    [randomIncastFlows({ ...poisson, fanIn: 3 }), randomIncastSteps({ ...poisson, fanIn: 3 })],
  ] as const
  for (const [flows, steps] of pairs) {
    let yields = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) yields++
    expect(step.value).toEqual(flows)
    expect(yields).toBeGreaterThanOrEqual(Math.floor(flows.length / (1.1 * STEP_FLOWS)))
  }
})

test("flows are sorted in steps as at once, those of equal start in their order", () => {
  let state = 1
  const flows = Array.from({ length: 3.5 * STEP_FLOWS }, (_, source): WorkloadFlow => {
    state = (state * 48_271) % 2_147_483_647
    return { source, destination: 0, sizeBytes: 1, startPs: state % 1000, priority: 3, destinationPort: 100 }
  })
  expect(finished(byStartSteps([...flows]))).toEqual(byStart([...flows]))
  for (const length of [0, 1, STEP_FLOWS, STEP_FLOWS + 1]) {
    expect(finished(byStartSteps(flows.slice(0, length)))).toEqual(byStart(flows.slice(0, length)))
  }
})

import { parseEfaRdm } from "@rdmakit/wire/efa-rdm"
import { describe, expect, it, test } from "vitest"
import {
  allToAll,
  busFactor,
  CollectiveError,
  type CollectiveOperation,
  CollectiveRun,
  checkProgram,
  collectiveBandwidth,
  type RankProgram,
  type RingOptions,
  ringAllGather,
  ringAllReduce,
  ringReduceScatter,
} from "../src/collectives.ts"
import { AtomicDatatype, AtomicOperation } from "../src/index.ts"
import { Network } from "./datagrams.ts"

const reduction = { datatype: AtomicDatatype.Uint32, operation: AtomicOperation.Sum }

/** Ranks on hosts of their own, and the octets of messages that each pair exchanged. */
const ranksOf = (ranks: number, seed: number, programs: (rank: number) => RankProgram) => {
  const bytes = Array.from({ length: ranks }, () => new Array<number>(ranks).fill(0))
  const world = new Network({
    seed,
    hosts: Array.from({ length: ranks }, () => ({ mediumBytesMax: 3000 })),
    watch: (from, to, octets) => {
      const parse = parseEfaRdm(octets)
      if (parse.ok) bytes[from]![to]! += octets.length - parse.payloadStart
    },
  })
  const data = Array.from({ length: ranks }, (_, rank) => new Uint32Array(programs(rank).dataBytes / 4))
  for (const [rank, words] of data.entries())
    for (const at of words.keys()) words[at] = (rank + 1) * 1_000_003 * (at + 1)
  const given = data.map((words) => words.slice())
  const runs = data.map(
    (words, rank) =>
      new CollectiveRun(world.hosts[rank]!.endpoint, {
        program: programs(rank),
        data: new Uint8Array(words.buffer),
        peers: data.map((_, peer) => peer),
        firstContext: 100,
        channel: 7,
        reduction,
      }),
  )
  /** Until nothing happens any more. */
  const rest = (): void => {
    for (let told = 1; told > 0; ) {
      world.run()
      told = 0
      for (const [rank, { events }] of world.hosts.entries())
        for (const event of events.splice(0)) {
          expect(runs[rank]!.handleEvent(event)).toBe(true)
          told++
        }
    }
  }
  return { world, runs, data, given, bytes, rest }
}

const ring =
  (make: (options: RingOptions) => RankProgram, ranks: number, elements: number) =>
  (rank: number): RankProgram =>
    make({ rank, ranks, elements, elementBytes: 4 })

/** The sum of what all ranks gave at one place, as 32 bits. */
const sumAt = (given: ReadonlyArray<Uint32Array>, at: number): number =>
  given.reduce((sum, words) => (sum + words[at]!) >>> 0, 0)
const bounds = (ranks: number, elements: number, rank: number) =>
  [Math.floor((elements * rank) / ranks), Math.floor((elements * (rank + 1)) / ranks)] as const

describe.each([1, 2, 3, 5, 8])("of %i ranks", (ranks) => {
  const seeds = [1, 2, 3]

  test.each([1, 7, 1000, 4000])("an all-reduce of %i elements sums them everywhere", (elements) => {
    for (const seed of seeds) {
      const { runs, data, given, rest } = ranksOf(ranks, seed, ring(ringAllReduce, ranks, elements))
      rest()
      expect(runs.map(({ done }) => done)).toEqual(data.map(() => true))
      const expected = Uint32Array.from(data[0]!, (_, at) => sumAt(given, at))
      for (const words of data) expect(words).toEqual(expected)
    }
  })

  it("a reduce-scatter leaves each its own part of the sum", () => {
    for (const seed of seeds) {
      const { runs, data, given, rest } = ranksOf(ranks, seed, ring(ringReduceScatter, ranks, 1001))
      rest()
      expect(runs.every(({ done }) => done)).toBe(true)
      for (const [rank, words] of data.entries()) {
        const [first, next] = bounds(ranks, 1001, rank)
        for (let at = first; at < next; at++) expect(words[at]).toBe(sumAt(given, at))
      }
    }
  })

  it("an all-gather gives everyone everyone's part", () => {
    for (const seed of seeds) {
      const { runs, data, given, rest } = ranksOf(ranks, seed, ring(ringAllGather, ranks, 1001))
      rest()
      expect(runs.every(({ done }) => done)).toBe(true)
      const expected = new Uint32Array(1001)
      for (const [rank, words] of given.entries()) {
        const [first, next] = bounds(ranks, 1001, rank)
        expected.set(words.subarray(first, next), first)
      }
      for (const words of data) expect(words).toEqual(expected)
    }
  })

  it("an all-to-all turns rows into columns", () => {
    const part = 300
    for (const seed of seeds) {
      const { runs, data, given, rest } = ranksOf(ranks, seed, ring(allToAll, ranks, part * ranks))
      rest()
      expect(runs.every(({ done }) => done)).toBe(true)
      for (const [rank, words] of data.entries())
        for (const [from, row] of given.entries())
          expect(words.subarray(from * part, (from + 1) * part)).toEqual(row.subarray(rank * part, (rank + 1) * part))
    }
  })
})

describe("bandwidths as nccl-tests computes them", () => {
  test.each([
    ["allReduce", 8, 1.75],
    ["allReduce", 2, 1],
    ["allGather", 8, 0.875],
    ["reduceScatter", 8, 0.875],
    ["allToAll", 8, 0.875],
    ["allToAll", 2, 0.5],
    ["allReduce", 1, 0],
    ["allGather", 1, 0],
    ["reduceScatter", 1, 0],
    ["allToAll", 1, 0],
  ] as const)("%s of %i ranks: %f of the algorithm's", (collective, ranks, factor) => {
    expect(busFactor(collective, ranks)).toBe(factor)
    // 1 GB in 0.1 s are 80 Gbit/s.
    expect(collectiveBandwidth(collective, ranks, 1e9, 0.1)).toEqual({ algorithmBps: 80e9, busBps: 80e9 * factor })
  })

  test.each([
    ["allReduce", ringAllReduce],
    ["allGather", ringAllGather],
    ["reduceScatter", ringReduceScatter],
    ["allToAll", allToAll],
  ] as const)("each rank of %s sends as many bytes as the factor says", (collective, make) => {
    const [ranks, elements] = [8, 1600]
    const { bytes, rest } = ranksOf(ranks, 3, ring(make, ranks, elements))
    rest()
    for (const sent of bytes)
      expect(sent.reduce((sum, each) => sum + each, 0)).toBe(4 * elements * busFactor(collective, ranks))
  })

  it("of an all-to-all of 16 ranks on two hosts, a NIC each, come to 1.875 times the rate of a NIC", () => {
    const [ranks, elements] = [16, 1600]
    const { bytes, rest } = ranksOf(ranks, 3, ring(allToAll, ranks, elements))
    rest()
    // Ranks 0 to 7 share a host: what they send each other passes no NIC, and counts all the same (nccl-tests#45).
    const throughNic = bytes[0]!.slice(8).reduce((sum, each) => sum + each, 0)
    const nicBps = 100e9
    const seconds = (8 * throughNic) / nicBps
    expect(collectiveBandwidth("allToAll", ranks, 4 * elements, seconds).busBps / nicBps).toBeCloseTo(1.875, 9)
  })

  it("are not of no ranks, and not in no time", () => {
    expect(() => busFactor("allReduce", 0)).toThrow(CollectiveError)
    expect(() => collectiveBandwidth("allReduce", 2, 1, 0)).toThrow("0 seconds")
  })
})

describe("an operation whose producer never ends", () => {
  /** Rank 0 computes, then sends; rank 1 receives and reduces. */
  const programs = (rank: number): RankProgram => {
    const range = { buffer: "data", offset: 0, bytes: 400 } as const
    const operations: ReadonlyArray<CollectiveOperation> =
      rank === 0
        ? [
            { kind: "compute", name: "gradients", after: [] },
            { kind: "send", to: 1, step: 0, range, after: [0] },
            { kind: "compute", name: "loss", after: [1] },
          ]
        : [
            { kind: "receive", from: 0, step: 0, range: { ...range, buffer: "scratch" }, after: [] },
            { kind: "reduce", source: { ...range, buffer: "scratch" }, range, after: [0] },
          ]
    return { rank, ranks: 2, dataBytes: 400, scratchBytes: 400, operations }
  }

  it("is told by name, and has sent nothing", () => {
    const { runs, bytes, rest, world } = ranksOf(2, 1, programs)
    rest()
    expect(runs.map(({ done }) => done)).toEqual([false, false])
    expect(runs[0]!.unfinished).toMatchObject([
      { index: 0, state: "running", waitsFor: [], operation: { kind: "compute", name: "gradients" } },
      { index: 1, state: "blocked", waitsFor: [0], operation: { kind: "send" } },
      { index: 2, state: "blocked", waitsFor: [1] },
    ])
    expect(runs[1]!.unfinished).toMatchObject([
      { index: 0, state: "running", operation: { kind: "receive", from: 0 } },
      { index: 1, state: "blocked", waitsFor: [0] },
    ])
    expect(bytes[0]![1]).toBe(0)
    expect(world.hosts[0]!.endpoint.counters.packetsSent).toBe(0)
  })

  it("begins when it does end", () => {
    const { runs, bytes, rest, data, given } = ranksOf(2, 1, programs)
    rest()
    runs[0]!.finish(0)
    rest()
    expect(bytes[0]![1]).toBe(400)
    expect(runs[1]!.done).toBe(true)
    expect(data[1]![5]).toBe(sumAt(given, 5))
    expect(() => runs[0]!.finish(1)).toThrow("operation 1 is no computation that runs")
    runs[0]!.finish(2)
    expect(runs[0]!.done).toBe(true)
  })

  it("is told to have failed when its peer is gone", () => {
    const { runs, world, rest } = ranksOf(2, 1, ring(ringAllReduce, 2, 5000))
    world.kill(1)
    rest()
    const failed = runs[0]!.unfinished.filter(({ state }) => state === "failed")
    expect(failed.length).toBeGreaterThan(0)
    for (const { failure } of failed) expect(failure).toBe("unreachable")
    expect(runs[0]!.done).toBe(false)
  })
})

describe("a program that cannot end is refused before it begins", () => {
  const range = { buffer: "data", offset: 0, bytes: 4 } as const
  const program = (operations: ReadonlyArray<CollectiveOperation>): RankProgram => ({
    rank: 0,
    ranks: 2,
    dataBytes: 4,
    scratchBytes: 0,
    operations,
  })
  test.each<readonly [string, ReadonlyArray<CollectiveOperation>]>([
    [
      "operation 0, send, waits for operation 3, which there is not",
      [{ kind: "send", to: 1, step: 0, range, after: [3] }],
    ],
    [
      "operation 0, compute, waits for itself",
      [
        { kind: "compute", name: "a", after: [1] },
        { kind: "compute", name: "b", after: [0] },
      ],
    ],
    ["operation 0, send, is to rank 2", [{ kind: "send", to: 2, step: 0, range, after: [] }]],
    [
      "operation 0, receive, leaves its buffer of 4 bytes",
      [{ kind: "receive", from: 1, step: 0, range: { ...range, offset: 1 }, after: [] }],
    ],
  ])("%s", (message, operations) => {
    expect(() => checkProgram(program(operations))).toThrow(message)
  })

  it("and so are numbers of ranks that cannot be", () => {
    const options = { rank: 0, ranks: 3, elements: 10, elementBytes: 4 }
    expect(() => allToAll(options)).toThrow("10 elements do not divide by 3 ranks")
    expect(() => ringAllReduce({ ...options, rank: 3 })).toThrow(CollectiveError)
    expect(() => ringAllGather({ ...options, elements: 0.5 })).toThrow(CollectiveError)
  })
})

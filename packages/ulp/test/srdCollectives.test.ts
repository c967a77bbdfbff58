import { srd } from "@rdmakit/cc-srd"
import type { Provider } from "@rdmakit/device/layer"
import { NetworkLinks, type ProgramServices, simulateProgram, Topology } from "@rdmakit/fabric"
import { srdVerbs } from "@rdmakit/transport-srd"
import { openDevice } from "@rdmakit/verbs"
import { Effect, Layer, type Scope } from "effect"
import { describe, expect, it, test } from "vitest"
import {
  allToAll,
  type Collective,
  collectiveBandwidth,
  type RankProgram,
  type RingOptions,
  ringAllGather,
  ringAllReduce,
  ringReduceScatter,
} from "../src/collectives.ts"
import { AtomicDatatype, AtomicOperation } from "../src/index.ts"
import { type CollectiveFailed, openMessages, type SrdMessages } from "../src/srd.ts"

const RANKS = 4
const ELEMENTS = 1 << 20
const LINE_BPS = 100e9
const hosts = Array.from({ length: RANKS }, (_, host) => host)
/** Hosts at one switch. */
const star = {
  nodes: RANKS + 1,
  isSwitch: Uint8Array.from([...hosts.map(() => 0), 1]),
  links: hosts.map((host) => ({ a: host, b: RANKS, rateBps: LINE_BPS, delayPs: 1e6, lossRate: 0 })),
}
const together = { concurrency: "unbounded" } as const

/** Endpoints that know each other by rank, and their data, which RDMA may use. */
const members = Effect.gen(function* () {
  const ends = yield* Effect.forEach(hosts, (host) =>
    Effect.gen(function* () {
      const context = yield* openDevice(host)
      const domain = yield* context.protectionDomain
      const memory = yield* domain.memory(4 * ELEMENTS, ["local-write", "remote-read"])
      const messages = yield* openMessages(context, domain)
      yield* messages.lend(memory)
      const words = new Uint32Array(memory.octets.buffer, memory.octets.byteOffset, ELEMENTS)
      for (const at of words.keys()) words[at] = (host + 1) * (at + 1)
      return { context, messages, data: memory.octets, words }
    }),
  )
  const peersOf = (messages: SrdMessages) => Effect.forEach(ends, (other) => messages.peer(other.messages.address))
  return yield* Effect.forEach(ends, (end) => Effect.map(peersOf(end.messages), (peers) => ({ ...end, peers })))
})

/** Every rank's part, at once. */
const collective = (ranks: Effect.Success<typeof members>, make: (options: RingOptions) => RankProgram) =>
  Effect.all(
    ranks.map(({ messages, data, peers }, rank) =>
      messages.collective({
        program: make({ rank, ranks: RANKS, elements: ELEMENTS, elementBytes: 4 }),
        data,
        peers,
        channel: 1,
        reduction: { datatype: AtomicDatatype.Uint32, operation: AtomicOperation.Sum },
      }),
    ),
    together,
  )

/** In the network, as a promise. */
const run = <A, E>(program: Effect.Effect<A, E, ProgramServices | Provider | Scope.Scope>) =>
  Effect.runPromise(
    simulateProgram(Effect.scoped(program), { transport: srdVerbs({ controller: srd() }) }).pipe(
      Effect.provide(Layer.succeed(Topology, star)),
    ),
  )

describe("collectives of four ranks with 100 Gbit/s each, over queue pairs of SRD", () => {
  test.each<readonly [Collective, (options: RingOptions) => RankProgram]>([
    ["allReduce", ringAllReduce],
    ["reduceScatter", ringReduceScatter],
    ["allGather", ringAllGather],
    ["allToAll", allToAll],
  ])("%s of 4 MiB: the bus bandwidth is below the line's rate, and above half of it", async (name, make) => {
    const program = Effect.gen(function* () {
      const ranks = yield* members
      const start = ranks[0]!.context.now
      yield* collective(ranks, make)
      const seconds = (ranks[0]!.context.now - start) / 1e12
      if (name === "allReduce")
        for (const { words } of ranks) expect(words.every((word, at) => word === (10 * (at + 1)) >>> 0)).toBe(true)
      return collectiveBandwidth(name, RANKS, 4 * ELEMENTS, seconds).busBps
    })
    const { value } = await run(program)
    expect(value).toBeLessThan(LINE_BPS)
    expect(value).toBeGreaterThan(LINE_BPS / 2)
  })

  it("one whose link is down fails at its neighbours, by name", async () => {
    const program = Effect.gen(function* () {
      const ranks = yield* members
      const links = yield* NetworkLinks
      links.set(links.ofHost(2), false)
      const { messages, data, peers } = ranks[1]!
      const options = { rank: 1, ranks: RANKS, elements: ELEMENTS, elementBytes: 4 }
      return yield* Effect.flip(messages.collective({ program: ringAllGather(options), data, peers, channel: 1 }))
    })
    const { value } = await run(program)
    const failed: CollectiveFailed = value
    expect(failed.unfinished.find(({ state }) => state === "failed")).toMatchObject({
      operation: { kind: "send", to: 2 },
      failure: "unreachable",
    })
    expect(failed.message).toMatch(/^operation 0, send: unreachable; /)
  })
})

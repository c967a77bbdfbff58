import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { type PerfOptions, perf, perfSettings, perfTests } from "../src/index.ts"
import { end, errorOf, failureOf, measured, PS_PER_BYTE, simulated, succeeds } from "./ends.ts"

/** Octets of a RoCEv2 frame on the wire: preamble and gap 20, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4. */
const FRAME = 82
const ACK = FRAME + 4
const RETH = 16
const AETH = 4
const DETH = 8
const ATOMIC_ETH = 28
const ATOMIC_ACK = FRAME + 4 + 8
/** From host to host over two links of a microsecond, through a switch that stores and forwards. */
const across = (frameBytes: number) => 2 * (1e6 + frameBytes * PS_PER_BYTE)
const us = (ps: number) => ps / 1e6

describe("in virtual time, numbers are exact", { timeout: 30_000 }, () => {
  const latencyOf = async (options: PerfOptions) => {
    const { value } = await succeeds(measured({ iterations: 20, bytes: 8, ...options }))
    return value
  }

  test("a latency of datagrams is one way", async () => {
    const { client } = await latencyOf({ test: "send-lat", connection: "ud" })
    const expected = us(across(FRAME + DETH + 8))
    expect(expected).toBe(2.01568)
    const [result] = client.latencies
    expect([result!.minUs, result!.maxUs, result!.typicalUs]).toEqual([expected, expected, expected])
    expect(result!.deviationUs).toBe(0)
  })

  test("a latency of WRITEs is one way, behind the acknowledgement of the one before", async () => {
    const { client, server } = await latencyOf({ test: "write-lat" })
    const expected = us(across(FRAME + RETH + 8) + ACK * PS_PER_BYTE)
    expect(client.latencies[0]!.typicalUs).toBeCloseTo(expected, 9)
    expect(server.latencies[0]!.typicalUs).toBeCloseTo(expected, 9)
  })

  test("a latency of READs is there and back", async () => {
    const { client, server } = await latencyOf({ test: "read-lat" })
    expect(client.latencies[0]!.typicalUs).toBeCloseTo(us(across(FRAME + RETH) + across(FRAME + AETH + 8)), 9)
    expect(server.latencies).toEqual([])
  })

  test("a latency of atomics is there and back", async () => {
    const { client } = await latencyOf({ test: "atomic-lat" })
    expect(client.latencies[0]!.typicalUs).toBeCloseTo(us(across(FRAME + ATOMIC_ETH) + across(ATOMIC_ACK)), 9)
  })

  /** MB/s of messages that take so long all together. */
  const megabytes = (messages: number, bytes: number, ps: number) => (messages * bytes) / 2 ** 20 / (ps / 1e12)

  test("a bandwidth of SENDs is the link's without headers, and the way of the last one there and back", async () => {
    const { value } = await succeeds(measured({ test: "send-bw", iterations: 200 }))
    const wirePs = 200 * 16 * (FRAME + 4096) * PS_PER_BYTE
    const lastPs = 2e6 + (FRAME + 4096) * PS_PER_BYTE + across(ACK)
    expect(value.client.bandwidths[0]!.average).toBeCloseTo(megabytes(200, 65_536, wirePs + lastPs), 6)
    expect(value.server.bandwidths[0]!.peak).toBe(0)
    // From the first message to the last.
    expect(value.server.bandwidths[0]!.average).toBeCloseTo(megabytes(200, 65_536, (wirePs * 199) / 200), 6)
  })

  test("a bandwidth of WRITEs, which the server is told of", async () => {
    const { value } = await succeeds(measured({ test: "write-bw", iterations: 200 }))
    const wirePs = 200 * (16 * (FRAME + 4096) + RETH) * PS_PER_BYTE
    const lastPs = 2e6 + (FRAME + RETH + 4096) * PS_PER_BYTE + across(ACK)
    expect(value.client.bandwidths[0]!.average).toBeCloseTo(megabytes(200, 65_536, wirePs + lastPs), 6)
    expect(value.server.bandwidths).toEqual(value.client.bandwidths)
  })

  test("a bandwidth of READs is that of their responses", async () => {
    const { value } = await succeeds(measured({ test: "read-bw", iterations: 200 }))
    // The first and the last response of a message have an AETH.
    const wirePs = 200 * (16 * (FRAME + 4096) + 2 * AETH) * PS_PER_BYTE
    const restPs = across(FRAME + RETH) + 2e6 + (FRAME + AETH + 4096) * PS_PER_BYTE
    expect(value.client.bandwidths[0]!.average).toBeCloseTo(megabytes(200, 65_536, wirePs + restPs), 6)
  })

  test("both directions together have twice the link", async () => {
    const { value } = await succeeds(measured({ test: "write-bw", iterations: 200, bidirectional: true }))
    const [both] = value.client.bandwidths
    expect(value.server.bandwidths[0]).toEqual(both)
    expect(both!.average).toBeGreaterThan(23_000)
    expect(both!.iterations).toBe(200)
  })

  test("queue pairs share the link, and count together", async () => {
    const { value } = await succeeds(measured({ test: "send-bw", iterations: 100, queuePairs: 3 }))
    expect(value.client.bandwidths[0]!.iterations).toBe(300)
    expect(value.client.bandwidths[0]!.average).toBeGreaterThan(11_500)
  })

  test("the path MTU that the sides agree on is the smaller", async () => {
    const options = { test: "write-bw", iterations: 20 } as const
    const { value } = await succeeds(measured({ ...options, mtuBytes: 1024 }, {}, { ...options, mtuBytes: 2048 }))
    expect([value.client.mtuBytes, value.server.mtuBytes]).toEqual([1024, 1024])
  })

  test.each(perfTests.filter((name) => !name.startsWith("atomic")))("%s of all sizes", async (name) => {
    const { value } = await succeeds(measured({ test: name, iterations: 5, all: true }))
    const results = [...value.client.bandwidths, ...value.client.latencies]
    expect(results.map(({ bytes }) => bytes)).toEqual(Array.from({ length: 23 }, (_, index) => 2 ** (index + 1)))
  })
})

describe("a simulated network that loses, repeats and reorders", { timeout: 30_000 }, () => {
  const faults = { loss: 0.02, duplication: 0.02, reordering: 0.05 }

  test.each(perfTests)("%s completes, and the same seed gives the same numbers", async (name) => {
    const options = { test: name, iterations: 60, ...(name.startsWith("atomic") ? {} : { bytes: 9000 }) }
    const first = await succeeds(measured(options, { seed: 7, faults }))
    const second = await succeeds(measured(options, { seed: 7, faults }))
    expect(first.digest).toBe(second.digest)
    expect(first.value.client).toEqual(second.value.client)
    const other = await succeeds(measured(options, { seed: 8, faults }))
    expect(other.digest).not.toBe(first.digest)
  })

  test("datagrams that are lost are given up", async () => {
    const options = { test: "send-lat", connection: "ud", iterations: 500 } as const
    expect(await failureOf(measured(options, { faults: { loss: 0.05 } }))).toMatch(
      /^\d{1,3} of 500 messages came, then none for 10 s$/,
    )
  })

  test("a receiver of a bandwidth test says how many of its messages came, and what helps", async () => {
    const options = { test: "send-bw", connection: "ud", iterations: 500 } as const
    const server = end("server", (device, connection) => perf(device, connection, "server", perfSettings(options)))
    const client = end("client", (device, connection) => perf(device, connection, "client", perfSettings(options)))
    const error = await errorOf(simulated(Effect.exit(client), server, { faults: { loss: 0.05 } }))
    expect(error.message).toMatch(/^4\d\d of 500 messages came, then none for 10 s$/)
    expect(error.doThis).toMatch(/fewer in flight lose less, --tx-depth \(-t\)$/)
  })
})

describe("what cannot be is told", () => {
  test("a path MTU that the port does not have", async () => {
    const options = { test: "send-bw", connection: "ud", bytes: 3000, mtuBytes: 2048 } as const
    expect(await failureOf(measured(options))).toBe(
      "bytes: found 3000, expected at most 2048, the path MTU, for datagrams",
    )
  })

  test.each<[PerfOptions, string]>([
    [{ test: "send-bw", queuePairs: 64 }, "63: each has up to 512 completions (--tx-depth, --iters), and 32767 fit"],
    [
      { test: "send-bw", queuePairs: 52, bidirectional: true },
      "51: each has up to 640 completions (--tx-depth, --iters), and 32767 fit",
    ],
    [{ test: "write-bw", queuePairs: 256 }, "255: each has up to 128 completions (--tx-depth, --iters), and 32767 fit"],
  ])("more queue pairs than completions fit, before anybody is spoken to: %o", async (options, most) => {
    expect(await failureOf(measured(options))).toBe(`queuePairs: found ${options.queuePairs}, expected at most ${most}`)
  })

  test("as many queue pairs as are said to fit do", async () => {
    const { value } = await succeeds(measured({ test: "send-bw", queuePairs: 63, iterations: 520, bytes: 8 }))
    expect(value.client.bandwidths[0]?.iterations).toBe(63 * 520)
  })

  test("an address that the port does not have, before anybody is spoken to", async () => {
    expect(await failureOf(measured({ test: "send-bw", gidIndex: 9 }))).toBe("gidIndex: found 9, expected 0..1")
  })

  test("a peer that leaves in the midst of a test", async () => {
    const settings = perfSettings({ test: "send-bw", iterations: 50 })
    const client = end("client", (device, connection) => perf(device, connection, "client", settings))
    // It goes through the introductions, and then no further.
    const server = end("server", (device, connection) =>
      perf(device, connection, "server", settings, { connected: () => Effect.interrupt }),
    )
    const ended = simulated(client, Effect.exit(Effect.scoped(server)))
    expect(await failureOf(ended)).toMatch(/the peer closed the connection/)
  })
})

import { layer } from "@rdmakit/softnic"
import { openDevice } from "@rdmakit/verbs"
import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import {
  memoryOutOfBand,
  OutOfBand,
  type PerfOptions,
  perf,
  perfSettings,
  pingpong,
  pingpongSettings,
  type Role,
  rpingClient,
  rpingServer,
  rpingSettings,
} from "../src/index.ts"

const OWN = "10.255.1.1"
const PEER = "10.255.1.2"
const PORTS = [48_610, 48_611] as const

/** Two devices of this process, each with a socket of loopback. */
const twoDevices = layer(
  [OWN, PEER].map((gid, index) => {
    const other = { address: index === 0 ? PEER : OWN, host: "127.0.0.1", port: PORTS[1 - index]! }
    return {
      link: { udp: { address: "127.0.0.1", port: PORTS[index]!, gid, peers: [other] } },
      device: { name: `rdmakit${index}`, seed: index },
    }
  }),
)

const connection = (role: Role) =>
  Effect.gen(function* () {
    const { connect, listen } = yield* OutOfBand
    if (role === "client") return yield* connect("server", 1)
    return yield* Effect.flatMap(listen(1), ({ accept }) => accept)
  })

const device = (role: Role) => openDevice(role === "client" ? 0 : 1)

describe("over UDP on loopback", { timeout: 30_000 }, () => {
  test.each<PerfOptions>([
    { test: "send-bw", iterations: 50, bytes: 20_000 },
    { test: "write-lat", iterations: 50 },
    { test: "read-bw", iterations: 50, queuePairs: 2 },
    { test: "atomic-lat", iterations: 50 },
    { test: "send-bw", iterations: 50, connection: "ud", bytes: 1000, bidirectional: true },
  ])("$test $connection", async (options) => {
    const settings = perfSettings(options)
    const side = (role: Role) =>
      Effect.gen(function* () {
        return yield* perf(yield* device(role), yield* connection(role), role, settings)
      })
    const both = Effect.all([side("client"), side("server")], { concurrency: "unbounded" }).pipe(Effect.scoped)
    const [client] = await Effect.runPromise(both.pipe(Effect.provide(twoDevices), Effect.provide(memoryOutOfBand)))
    const results = [...client.bandwidths, ...client.latencies]
    expect(results.length).toBe(1)
    expect(results[0]!.iterations).toBe(50 * settings.queuePairs)
    for (const value of Object.values(results[0]!)) expect(Number.isFinite(value)).toBe(true)
  })

  test("a pingpong whose octets are checked", async () => {
    const settings = pingpongSettings({ type: "srq", check: true, iterations: 100 })
    const side = (role: Role) =>
      Effect.gen(function* () {
        return yield* pingpong(yield* device(role), yield* connection(role), role, settings)
      })
    const both = Effect.all([side("client"), side("server")], { concurrency: "unbounded" }).pipe(Effect.scoped)
    const [client, server] = await Effect.runPromise(
      both.pipe(Effect.provide(twoDevices), Effect.provide(memoryOutOfBand)),
    )
    expect(client.theirs).toEqual(server.mine)
  })

  test("rping through the connection manager", async () => {
    const settings = rpingSettings({ rounds: 5, bytes: 5000, validate: true })
    const program = Effect.gen(function* () {
      const server = Effect.flatMap(device("server"), (context) => rpingServer(context, 7174))
      const client = Effect.flatMap(device("client"), (context) => rpingClient(context, PEER, 7174, settings))
      return yield* Effect.all([server, client], { concurrency: "unbounded" })
    }).pipe(Effect.scoped)
    const [server] = await Effect.runPromise(program.pipe(Effect.provide(twoDevices)))
    expect([server.rounds, server.bytes]).toEqual([5, 5000])
  })
})

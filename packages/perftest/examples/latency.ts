import { onHost, simulateProgram, Topology } from "@rdmakit/fabric"
import { latencyLine, memoryOutOfBand, OutOfBand, perf, perfSettings } from "@rdmakit/perftest"
import { openDevice } from "@rdmakit/verbs"
import { Effect } from "effect"

const settings = perfSettings({ test: "send-lat", bytes: 8, iterations: 100 })
const PORT = 18_515

const client = Effect.gen(function* () {
  const connection = yield* OutOfBand.use(({ connect }) => connect("server", PORT))
  return yield* perf(yield* openDevice(), connection, "client", settings)
})

const server = Effect.gen(function* () {
  const { accept } = yield* OutOfBand.use(({ listen }) => listen(PORT))
  return yield* perf(yield* openDevice(), yield* accept, "server", settings)
})

/** Two hosts at a switch, 100 Gb/s and a microsecond each. */
const link = { rateBps: 100e9, delayPs: 1e6, lossRate: 0 }
const star = {
  nodes: 3,
  isSwitch: Uint8Array.of(0, 0, 1),
  links: [
    { a: 0, b: 2, ...link },
    { a: 1, b: 2, ...link },
  ],
}

const both = Effect.all([onHost(0)(client), onHost(1)(server)], { concurrency: "unbounded" })
const network = simulateProgram(both.pipe(Effect.scoped, Effect.provide(memoryOutOfBand)))

/** The client's line of the table. In virtual time it is the same each time. */
export const line = Effect.map(network, ({ value: [{ latencies }] }) => latencyLine(latencies[0]!)).pipe(
  Effect.provideService(Topology, star),
)

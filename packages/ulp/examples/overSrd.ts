import { srd } from "@rdmakit/cc-srd"
import { SwitchModel, sharedBufferSwitches, simulateProgram, Topology } from "@rdmakit/fabric"
import { srdVerbs } from "@rdmakit/transport-srd"
import { openMessages } from "@rdmakit/ulp/srd"
import { openDevice } from "@rdmakit/verbs"
import { Effect, Layer } from "effect"

const together = { concurrency: "unbounded" } as const
const sizes = [1_048_576, 8, 100_000, 0]

/** Messages over a queue pair of SRD, and memory that RDMA may use for the long ones. */
const end = Effect.fnUntraced(function* (device: number) {
  const context = yield* openDevice(device)
  const domain = yield* context.protectionDomain
  const memory = yield* domain.memory("2MiB", ["local-write", "remote-write", "remote-read"])
  const messages = yield* openMessages(context, domain)
  yield* messages.lend(memory)
  return { memory, messages }
})

/** All are sent at once, over sixteen ways, and end in the order they were sent. */
export const program = Effect.gen(function* () {
  const [left, right] = [yield* end(0), yield* end(1)]
  // Plain data: it may travel by any channel.
  const peer = yield* left.messages.peer(right.messages.address)
  const order: Array<number> = []
  const receive = () =>
    Effect.tap(right.messages.receive(new Uint8Array(1_048_576)), ({ bytes }) => Effect.sync(() => order.push(bytes)))
  const send = (size: number) => left.messages.send(peer, left.memory.octets.subarray(0, size))
  yield* Effect.all([...sizes.map(receive), ...sizes.map(send)], together)
  return order
}).pipe(Effect.scoped)

/** Two hosts at two leaves, and sixteen spines between them, each further than the one before; all lose a packet in a hundred. */
const spines = Array.from({ length: 16 }, (_, spine) => 4 + spine)
const network = {
  nodes: 20,
  isSwitch: Uint8Array.from({ length: 20 }, (_, node) => (node < 2 ? 0 : 1)),
  links: [
    ...[0, 1].map((host) => ({ a: host, b: 2 + host, rateBps: 100e9, delayPs: 1e6, lossRate: 0 })),
    ...[2, 3].flatMap((leaf) => spines.map((b) => ({ a: leaf, b, rateBps: 25e9, delayPs: b * 1e6, lossRate: 0.01 }))),
  ],
}
const switches = sharedBufferSwitches({ loadBalancer: "entropy" })

export const simulated = simulateProgram(program, { transport: srdVerbs({ controller: srd() }) }).pipe(
  Effect.provide(Layer.merge(Layer.succeed(Topology, network), Layer.succeed(SwitchModel, switches))),
)

/* A process of its own: it answers whoever sends to it, over SRD and UDP, until its parent goes. */
import { srd } from "@rdmakit/cc-srd"
import { layer } from "@rdmakit/softnic"
import { srdVerbs } from "@rdmakit/transport-srd"
import { Effect } from "effect"
import { end } from "./ends.ts"

const [, , address, port, queueKey] = process.argv

const transport = srdVerbs({
  controller: srd(),
  initialTimeoutPs: 20e9,
  leastTimeoutPs: 5e9,
  mostTimeoutPs: 100e9,
})

const answering = Effect.gen(function* () {
  const { domain, memory, qp } = yield* end(0, { type: "srd" })
  yield* qp.activate({ queueKey: Number(queueKey) })
  process.send?.({ qpn: qp.number, address: memory.address, rkey: memory.rkey })
  for (;;) {
    const request = yield* qp.receive()
    // The handle lasts as long as the process: the peer's WRITEs need one.
    const back = yield* domain.addressHandleFrom(request)
    const to = { address: back, qpn: request.sourceQp, queueKey: Number(queueKey) }
    yield* qp.send([], { to, immediate: (request.immediate ?? 0) + 1 })
  }
})

process.once("disconnect", () => process.exit())
Effect.runFork(
  Effect.scoped(answering).pipe(
    Effect.provide(
      layer([{ link: { udp: { address: address!, port: Number(port) } }, device: { seed: 9 }, transport }]),
    ),
  ) as Effect.Effect<never>,
)

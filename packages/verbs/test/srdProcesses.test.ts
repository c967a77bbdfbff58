import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { srd } from "@rdmakit/cc-srd"
import { Provider } from "@rdmakit/device/layer"
import { openSoftnic } from "@rdmakit/softnic"
import { srdVerbs } from "@rdmakit/transport-srd"
import { Effect, Fiber } from "effect"
import { expect, it } from "vitest"
import { end, pattern } from "./ends.ts"

const QUEUE_KEY = 0x1234
const THERE = "127.0.0.9"

interface Peer {
  readonly qpn: number
  readonly address: number
  readonly rkey: number
}

it("two processes, SRD over UDP: a SEND is answered, a WRITE comes back by a READ", async () => {
  const timeouts = { initialTimeoutPs: 20e9, leastTimeoutPs: 5e9, mostTimeoutPs: 100e9 }
  const transport = srdVerbs({ controller: srd(), ...timeouts })
  const here = await openSoftnic({ link: { udp: { address: "127.0.0.8", port: 0 } }, device: { seed: 3 }, transport })
  const child = fork(fileURLToPath(new URL("srdPeer.ts", import.meta.url)), [THERE, `${here.port}`, `${QUEUE_KEY}`], {
    execArgv: ["--conditions=@rdmakit/source"],
  })
  try {
    const [peer] = (await once(child, "message")) as [Peer]
    const program = Effect.gen(function* () {
      const { domain, memory, qp } = yield* end(0, { type: "srd" })
      yield* qp.activate({ queueKey: QUEUE_KEY })
      const address = yield* domain.addressHandle({ gid: `::ffff:${THERE}` })
      const to = { address, qpn: peer.qpn, queueKey: QUEUE_KEY }
      const answer = yield* Effect.forkChild(qp.receive(), { startImmediately: true })
      yield* qp.send([], { to, immediate: 41 })
      const { immediate, sourceQp } = yield* Fiber.join(answer)
      memory.octets.set(pattern(30_000))
      const there = { address: peer.address, rkey: peer.rkey }
      yield* qp.write(memory.range(0, 30_000), there, { to })
      yield* qp.read(memory.range(30_000, 30_000), there, { to })
      return { immediate, sourceQp, octets: memory.octets.slice(30_000, 60_000) }
    })
    const devices = [here.device]
    const value = await Effect.runPromise(Effect.provideService(Effect.scoped(program), Provider, { devices }))
    expect([value.immediate, value.sourceQp]).toEqual([42, peer.qpn])
    expect(value.octets).toEqual(pattern(30_000))
  } finally {
    child.disconnect()
    here.close()
  }
})

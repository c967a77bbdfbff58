import { rpingClient, rpingServer, rpingSettings } from "@rdmakit/perftest"
import { iwarpLayer } from "@rdmakit/softnic"
import { openDevice } from "@rdmakit/verbs"
import { Deferred, Effect } from "effect"
import { expect, it } from "vitest"

const MEETING_PORT = 21_003 + (process.pid % 300) * 40
const PORT = MEETING_PORT + 1

it("rping over iWARP, both ends", async () => {
  const program = Effect.gen(function* () {
    const left = yield* openDevice("left")
    const right = yield* openDevice("right")
    const settings = rpingSettings({ bytes: 5000, rounds: 20, validate: true })
    const listening = yield* Deferred.make<void>()
    const server = rpingServer(right, PORT, Deferred.succeed(listening, undefined).pipe(Effect.asVoid))
    const client = Effect.andThen(Deferred.await(listening), rpingClient(left, "127.0.0.14", PORT, settings))
    return yield* Effect.all([Effect.scoped(server), Effect.scoped(client)], { concurrency: "unbounded" })
  })
  const devices = iwarpLayer([
    { address: "127.0.0.13", meetingPort: MEETING_PORT, device: { name: "left", seed: 1 } },
    { address: "127.0.0.14", meetingPort: MEETING_PORT, device: { name: "right", seed: 2 } },
  ])
  const [server, client] = await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(devices)))
  expect(client).toMatchObject({ role: "client", rounds: 20, bytes: 5000 })
  expect(server).toMatchObject({ role: "server", rounds: 20, bytes: 5000 })
})

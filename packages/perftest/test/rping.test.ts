import { openDevice } from "@rdmakit/verbs"
import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { type RpingSettings, rpingClient, rpingServer, rpingSettings } from "../src/index.ts"
import { fillPing, pingText } from "../src/rping/PingText.ts"
import { failureOf, type RunOptions, simulated, succeeds } from "./ends.ts"

const SERVER = "11.0.1.1"

const rpinged = (options: Partial<RpingSettings>, run: RunOptions = {}) => {
  const pings: Array<string> = []
  const ping = (text: string) => Effect.sync(() => void pings.push(text))
  const settings = rpingSettings({ validate: true, ...options })
  const client = Effect.flatMap(openDevice(), (device) => rpingClient(device, SERVER, 7174, settings))
  const server = Effect.flatMap(openDevice(), (device) => rpingServer(device, 7174, Effect.void, { ping }))
  return Effect.map(simulated(client, server, run), ({ value }) => ({ ...value, pings }))
}

describe("rping", { timeout: 30_000 }, () => {
  test("100 rounds, and the server reads what rping writes", async () => {
    const { client, server, pings } = await succeeds(rpinged({ rounds: 100 }))
    expect([client.rounds, server.rounds, server.bytes]).toEqual([100, 100, 64])
    expect(client.peer).toBe("11.0.1.1 port 7174")
    expect(pings.length).toBe(100)
    expect(pings[0]).toBe("rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr")
    expect(pings[1]).toBe("rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs")
  })

  test("pings of 64 KiB over a network that loses, repeats and reorders", async () => {
    const faults = { loss: 0.02, duplication: 0.02, reordering: 0.05 }
    const { server } = await succeeds(rpinged({ rounds: 20, bytes: 65_536 }, { faults }))
    expect([server.rounds, server.bytes]).toEqual([20, 65_536])
  })

  test("a peer that is silent is told of until it is given up, after 103 s", async () => {
    const told: Array<string> = []
    const waiting = (peer: string, seconds: number) => Effect.sync(() => void told.push(`${peer} ${seconds}`))
    const ping = () => Effect.void
    const settings = rpingSettings({ rounds: 2 })
    const client = Effect.flatMap(openDevice(), (device) =>
      rpingClient(device, SERVER, 7174, settings, { waiting, ping }),
    )
    const gone = await failureOf(simulated(client, Effect.void, { faults: { loss: 1 } }))
    expect(gone).toMatch(/^11\.0\.1\.1 port 7174 did not answer the request/)
    expect(told).toEqual([2, 22, 42, 62, 82, 102].map((seconds) => `11.0.1.1 port 7174 ${seconds}`))
    told.length = 0
    const server = Effect.flatMap(openDevice(), (device) => rpingServer(device, 7174))
    await succeeds(simulated(client, server))
    expect(told).toEqual([])
  })

  test("nobody listens", async () => {
    const settings = rpingSettings({})
    const client = Effect.flatMap(openDevice(), (device) => rpingClient(device, SERVER, 7174, settings))
    const server = Effect.flatMap(openDevice(), (device) => rpingServer(device, 7175))
    expect(await failureOf(simulated(client, server))).toMatch(/11\.0\.1\.1 port 7174/)
  })

  test("what cannot be is refused", () => {
    expect(() => rpingSettings({ bytes: 65_537 })).toThrow("bytes: found 65537, expected a whole number 16..65536")
    expect(() => rpingSettings({ rounds: 0 })).toThrow("rounds: found 0")
  })
})

describe("a ping", () => {
  test("begins one letter further each time, and after z comes A", () => {
    const octets = new Uint8Array(80)
    fillPing(octets, 57)
    expect(pingText(octets).slice(0, 17)).toBe("rdma-ping-57: zAB")
    expect(octets.at(-1)).toBe(0)
  })
})

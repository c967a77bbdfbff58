import { Random } from "@rdmakit/units"
import { expect, it } from "vitest"
import type { CmEvent } from "../src/index.ts"
import { accept, connect, Pair, SECOND_PS, service } from "./pair.ts"

const CONNECTIONS = 8

/**
 * Eight connections over a network that loses three datagrams in ten, doubles three and delays half of them by up to a
 * second. Some are rejected, some ended by the client, some by the server, some by both.
 */
const life = (seed: number): Pair => {
  const pair = new Pair({ seed, network: { loss: 0.3, duplication: 0.3, lateness: 0.5 } })
  const random = new Random(seed, 5)
  const { client, server } = pair
  pair.do(server, { type: "listen", serviceId: service })
  const sometimes = (): boolean => random.bits() % 2 === 0
  server.react = (event) => {
    if (event.type === "request") {
      if (event.remoteQpn % 4 === 0) pair.do(server, { type: "reject", id: event.id })
      else pair.do(server, { ...accept, id: event.id, qpn: event.remoteQpn + 1000 })
    }
    if (event.type === "disconnectRequested") pair.do(server, { type: "disconnect", id: event.id })
    if (event.type === "established" && sometimes()) pair.do(server, { type: "disconnect", id: event.id })
  }
  client.react = (event) => {
    if (event.type === "reply") pair.do(client, { type: "ready", id: event.id })
    if (event.type === "disconnectRequested") pair.do(client, { type: "disconnect", id: event.id })
  }
  for (let index = 0; index < CONNECTIONS; index++) {
    pair.do(client, { ...connect, qpn: 100 + index })
    pair.run(pair.now + SECOND_PS)
  }
  pair.run(pair.now + 200 * SECOND_PS)
  for (const event of client.events.filter(({ type }) => type === "reply"))
    client.cm.command(pair.now, { type: "disconnect", id: event.id })
  pair.run()
  return pair
}

const historyOf = (events: ReadonlyArray<CmEvent>, id: number): string =>
  events
    .filter((event) => event.id === id)
    .map(({ type }) => type)
    .join(" ")

/** What may happen to an id, in order. */
const clientLife =
  /^((rejected|unreachable)( timewaitEnded)?|reply( (disconnectRequested|disconnected|unreachable|rejected))* timewaitEnded)$/
const serverLife =
  /^request( rejected| unreachable)?( established)?( (disconnectRequested|disconnected|unreachable|rejected))*( timewaitEnded)?$/

const seeds = Array.from({ length: 100 }, (_, index) => index + 1)

it.each(seeds)("seed %i: each id lives once and in order, and nothing is left", (seed) => {
  const { client, server } = life(seed)
  const clients = new Set(client.events.map(({ id }) => id))
  const servers = new Set(server.events.map(({ id }) => id))
  expect(clients.size).toBe(CONNECTIONS)
  for (const id of clients) expect(historyOf(client.events, id)).toMatch(clientLife)
  for (const id of servers) expect(historyOf(server.events, id)).toMatch(serverLife)
  expect([client.cm.size, server.cm.size]).toEqual([0, 0])
})

it("most connections come about, for messages are repeated", () => {
  const established = seeds.flatMap((seed) => life(seed).server.events.filter(({ type }) => type === "established"))
  // Two in eight are rejected.
  expect(established.length).toBeGreaterThan(0.95 * seeds.length * (CONNECTIONS - 2))
})

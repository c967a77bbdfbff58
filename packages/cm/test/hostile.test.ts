import { Random } from "@rdmakit/units"
import { cmAttributes, serviceIdOf } from "@rdmakit/wire/cm"
import { describe, expect, it } from "vitest"
import { Cm } from "../src/index.ts"
import { capturedMads, messageOf } from "./capture.ts"
import { accept, connect, mirror, Pair, route, SECOND_PS, serverGuid, service } from "./pair.ts"

const source = mirror(route)

const drained = (cm: Cm): number => {
  let count = 0
  while (cm.pollTransmit() !== undefined) count++
  while (cm.pollEvent() !== undefined) count++
  return count
}

const listening = (limits = {}): Cm => {
  const cm = new Cm({ caGuid: serverGuid, seed: 1, limits })
  cm.command(0, { type: "listen", serviceId: service })
  return cm
}

const rping = capturedMads("cm_rping_v4")[0]!.octets

const requestOf = (id: number, qpn: number): Uint8Array => {
  const octets = rping.slice()
  const view = new DataView(octets.buffer)
  view.setUint32(24, id)
  view.setUint32(24 + 32, ((qpn & 0xffffff) << 8) | 1)
  return octets
}

describe("octets of any kind", () => {
  it("are counted, and nothing throws", () => {
    const random = new Random(1)
    const cm = listening()
    for (let round = 0; round < 20_000; round++) {
      const octets = new Uint8Array(round % 7 === 0 ? random.bits() % 300 : 256)
      for (let at = 0; at < octets.length; at++) octets[at] = random.bits()
      // Half of them have the header of a message, so that they reach the machine.
      if (round % 2 === 0 && octets.length === 256) {
        octets.set([1, 7, 2, 3], 0)
        octets.set([0, 0x10 + (random.bits() % 12)], 16)
      }
      cm.handleMad(round * 1e6, octets, source)
      if (cm.nextTimeout <= round * 1e6) cm.handleTimeout(round * 1e6)
      drained(cm)
    }
    expect(cm.counters.received).toBe(20_000)
    expect(cm.counters.malformed).toBeGreaterThan(9_000)
    expect(cm.counters.unsupported).toBeGreaterThan(500)
    expect(cm.size).toBe(0)
  })

  it("in messages with right ids, at every stage: nothing throws, and ids end", () => {
    const kinds = Object.values(cmAttributes)
    for (let seed = 1; seed <= 300; seed++) {
      const random = new Random(seed, 3)
      const pair = new Pair({ seed })
      const stages = ["request", "reply", "established"]
      const stage = stages[seed % 3]!
      pair.do(pair.server, { type: "listen", serviceId: service })
      pair.server.react = (event) => {
        if (event.type === "request" && stage !== "request") pair.do(pair.server, { ...accept, id: event.id })
      }
      pair.client.react = (event) => {
        if (event.type === "reply" && stage === "established") pair.do(pair.client, { type: "ready", id: event.id })
      }
      const client = pair.do(pair.client, connect)
      pair.run(1e9)
      const server = pair.server.events[0]!.id
      for (const [end, own, theirs, from] of [
        [pair.client, client, server, route],
        [pair.server, server, client, source],
      ] as const) {
        for (let round = 0; round < 20; round++) {
          const octets = new Uint8Array(256)
          for (let at = 32; at < 256; at++) octets[at] = random.bits() % 3 === 0 ? random.bits() : 0
          octets.set([1, 7, 2, 3], 0)
          const view = new DataView(octets.buffer)
          view.setUint16(16, kinds[random.bits() % kinds.length]!)
          view.setUint32(24, random.bits() % 4 === 0 ? random.bits() : theirs)
          view.setUint32(28, random.bits() % 4 === 0 ? random.bits() : own)
          if (random.bits() % 2 === 0) view.setUint32(32, (end === pair.client ? 0x29 : 0x28) << 8)
          end.cm.handleMad(pair.now, octets, from)
        }
      }
      pair.do(pair.client, { type: "close", id: client })
      pair.do(pair.server, { type: "close", id: server })
      pair.run()
      expect([pair.client.cm.size, pair.server.cm.size]).toEqual([0, 0])
    }
  })
})

describe("limits", () => {
  it("on requests that are no connections yet: more are not answered, so that peers try again", () => {
    const cm = listening({ halfOpen: 100 })
    for (let id = 1; id <= 1_000; id++) cm.handleMad(id, requestOf(id, id + 1), source)
    expect(cm.size).toBe(100)
    expect(cm.counters.overflowed).toBe(900)
    expect(drained(cm)).toBe(100)
  })

  it("on resolve requests likewise", () => {
    const cm = listening({ halfOpen: 100 })
    const pair = new Pair()
    pair.do(pair.client, { type: "resolve", serviceId: service, route, ip: connect.ip! })
    const octets = pair.wire[0]!.octets.slice()
    for (let id = 1; id <= 1_000; id++) {
      new DataView(octets.buffer).setUint32(24, id)
      cm.handleMad(id, octets, source)
    }
    expect(cm.size).toBe(100)
  })

  it("on what waits to be polled", () => {
    const cm = listening({ queued: 50 })
    // Nobody listens: each is answered with a reject that nobody fetches.
    for (let id = 1; id <= 1_000; id++) {
      const octets = requestOf(id, id + 1)
      octets[24 + 15] = 1
      cm.handleMad(id, octets, source)
    }
    for (let id = 1; id <= 1_000; id++) cm.handleMad(id, requestOf(id, id + 1), source)
    expect(cm.counters.overflowed).toBe(950 + 950)
    expect(drained(cm)).toBe(50 + 50)
  })

  it("on connections in timewait: the oldest go", () => {
    const pair = new Pair({ limits: { timewait: 3 } })
    pair.establish()
    pair.server.react = (event) => {
      if (event.type === "request") pair.do(pair.server, { ...accept, id: event.id, qpn: event.remoteQpn + 500 })
      if (event.type === "disconnectRequested") pair.do(pair.server, { type: "disconnect", id: event.id })
    }
    for (let index = 0; index < 10; index++) pair.do(pair.client, { ...connect, qpn: 100 + index })
    pair.run(pair.now + 1e9)
    for (const event of pair.client.events.filter(({ type }) => type === "reply"))
      pair.do(pair.client, { type: "disconnect", id: event.id })
    pair.run(pair.now + 1e9)
    expect([pair.client.cm.size, pair.server.cm.size]).toEqual([3, 3])
    expect(pair.client.types().filter((type) => type === "timewaitEnded").length).toBe(8)
  })

  it("on listeners and on ids of the program", () => {
    const cm = listening({ listeners: 2, connections: 2 })
    expect(cm.command(0, { type: "listen", serviceId: serviceIdOf(6, 1) }).ok).toBe(true)
    expect(cm.command(0, { type: "listen", serviceId: serviceIdOf(6, 2) })).toMatchObject({ reason: "limit" })
    expect(cm.command(0, connect).ok).toBe(true)
    expect(cm.command(0, connect).ok).toBe(true)
    expect(cm.command(0, connect)).toMatchObject({ reason: "limit" })
  })

  it("on how long a peer makes this side wait, and how quickly it makes it repeat", () => {
    const cm = listening()
    const request = requestOf(7, 9)
    // Response timeouts of 4 µs, and the longest ACK timeout.
    request[24 + 47] = 0x07
    request[24 + 95] = 31 << 3
    cm.handleMad(0, request, source)
    const event = cm.pollEvent()!
    cm.command(0, { ...accept, id: event.id })
    expect(cm.nextTimeout).toBe(4_096_000 * 2 ** 8)
    while (cm.size > 0) cm.handleTimeout(cm.nextTimeout)
    // 16 replies, then 69 s of timewait in place of two and a half hours.
    expect(drained(cm)).toBe(16 + 1 + 2)
  })

  it("and a flood does not disturb a connection", () => {
    const pair = new Pair({ limits: { halfOpen: 10, connections: 20 } })
    const { client, server } = pair.establish()
    pair.server.react = () => {}
    for (let id = 1; id <= 500; id++) pair.server.cm.handleMad(pair.now, requestOf(id, id + 100), source)
    pair.do(pair.client, { type: "disconnect", id: client })
    pair.run(pair.now + SECOND_PS)
    expect(pair.server.types()).toContain("disconnectRequested")
    expect(pair.server.last("disconnectRequested").id).toBe(server)
  })
})

it("a datagram for another class, of another version or another method is none of the machine's", () => {
  const cm = listening()
  for (const [at, value] of [
    [0, 2],
    [1, 3],
    [2, 1],
    [3, 1],
  ] as const) {
    const octets = requestOf(1, 2)
    octets[at] = value
    cm.handleMad(0, octets, source)
  }
  cm.handleMad(0, requestOf(1, 2).subarray(0, 255), source)
  expect(cm.counters.malformed).toBe(5)
  expect(drained(cm)).toBe(0)
})

it("a peer cannot take the id 0, nor a queue pair of management", () => {
  const cm = listening()
  cm.handleMad(0, requestOf(0, 9), source)
  cm.handleMad(0, requestOf(1, 1), source)
  expect(cm.counters.malformed).toBe(2)
  expect(messageOf(requestOf(1, 1)).message).toMatchObject({ qpn: 1 })
})

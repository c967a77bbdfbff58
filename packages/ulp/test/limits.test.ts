import { hash32 } from "@rdmakit/units"
import { type EfaRdm, efaRdmBytes, emitEfaRdm } from "@rdmakit/wire/efa-rdm"
import { describe, expect, it, test } from "vitest"
import { MemoryTable, RdmEndpoint, RdmError, type RdmOptions } from "../src/index.ts"
import { addressOf, Network, pattern } from "./datagrams.ts"

const endpoint = (options: Partial<RdmOptions> = {}): RdmEndpoint =>
  new RdmEndpoint({ address: addressOf(0), mtuBytes: 1024, memory: new MemoryTable(), ...options })

const octetsOf = (packet: EfaRdm, payload = new Uint8Array(0)): Uint8Array => {
  const octets = new Uint8Array(efaRdmBytes(packet) + payload.length)
  octets.set(payload, emitEfaRdm(packet, octets))
  return octets
}
const none = { rawAddress: undefined, cqData: undefined, connid: undefined, tag: undefined }
const eager = (messageId: number) =>
  octetsOf({ kind: "message", ...none, protocol: "eager", deliveryComplete: false, messageId }, new Uint8Array(100))

describe("what there is no room for", () => {
  it("a program is told", () => {
    const small = endpoint({ operationsMax: 2, receivesMax: 1, peersMax: 1 })
    expect(small.send(1, new Uint8Array(8), 1)).toBeUndefined()
    expect(small.send(1, new Uint8Array(8), 2)).toBeUndefined()
    expect(small.send(1, new Uint8Array(8), 3)).toBe("busy")
    expect(small.receive(new Uint8Array(8), 1)).toBeUndefined()
    expect(small.receive(new Uint8Array(8), 2)).toBe("busy")
    expect(small.send(2, new Uint8Array(8), 3)).toBe("peers")
  })

  it("of messages without a receive stays with the service until a receive comes", () => {
    const world = new Network({ seed: 2, hosts: [{}, { unexpectedBytesMax: 2000 }] })
    const [a, b] = world.hosts
    const sent = Array.from({ length: 40 }, (_, context) => pattern(200, context))
    for (const [context, data] of sent.entries()) a!.endpoint.send(1, data, context)
    world.run()
    expect(world.heldBack).toBeGreaterThan(0)
    expect(b!.endpoint.counters.heldBack).toBeGreaterThan(0)
    const buffers = sent.map(() => new Uint8Array(200))
    for (const [context, buffer] of buffers.entries()) {
      b!.endpoint.receive(buffer, context)
      world.run()
    }
    expect(world.heldBack).toBe(0)
    expect(buffers).toEqual(sent)
    expect(b!.endpoint.counters.unexpectedBytesPeak).toBeLessThanOrEqual(2000)
  })

  it("of packets ahead of their turn stays with the service until the one that is next comes", () => {
    const one = endpoint({ reorderBytesMax: 500 })
    const taken = [1, 2, 3, 4, 5].map((messageId) => one.handlePacket(1, eager(messageId)))
    expect(taken).toEqual([true, true, true, false, false])
    for (let context = 0; context < 6; context++) one.receive(new Uint8Array(100), context)
    expect(one.handlePacket(1, eager(0))).toBe(true)
    expect(one.handlePacket(1, eager(4))).toBe(true)
    expect(one.handlePacket(1, eager(5))).toBe(true)
    const contexts: Array<number> = []
    for (let event = one.pollEvent(); event !== undefined; event = one.pollEvent())
      if (event.type === "completed") contexts.push(event.context)
    expect(contexts).toEqual([0, 1, 2, 3, 4, 5])
    expect(one.counters.reorderBytesPeak).toBeLessThanOrEqual(500)
  })

  it("of packets to send waits for the service", () => {
    const one = endpoint({ packetsInFlightMax: 3 })
    for (let context = 0; context < 5; context++) one.send(1, new Uint8Array(8), context)
    const tokens: Array<number> = []
    for (let request = one.pollTransmit(); request !== undefined; request = one.pollTransmit())
      tokens.push(request.token)
    expect(tokens).toHaveLength(3)
    one.handleCompletion(tokens[1]!, "done")
    expect(one.pollTransmit()).toMatchObject({ token: tokens[1], peer: 1 })
    expect(one.pollTransmit()).toBeUndefined()
    expect(() => one.handleCompletion(99, "done")).toThrow(RdmError)
  })
})

test.each<readonly [string, Partial<RdmOptions>]>([
  ["mtuBytes", { mtuBytes: 511 }],
  ["receiveWindow", { receiveWindow: 12 }],
  ["credits", { credits: 0 }],
  ["operationsMax", { operationsMax: 65_537 }],
  ["unexpectedBytesMax", { unexpectedBytesMax: -1 }],
])("%s out of its range is refused by name", (field, options) => {
  expect(() => endpoint(options)).toThrow(`rdm: ${field} is`)
})

describe("a peer that is gone", () => {
  const three = () => {
    const world = new Network({ seed: 4, hosts: [{}, {}, {}] })
    const [a, b, c] = world.hosts as [Network["hosts"][number], Network["hosts"][number], Network["hosts"][number]]
    for (const host of [b, c]) host.endpoint.receive(new Uint8Array(200_000), 1)
    a.endpoint.receive(new Uint8Array(8), 9, { from: 1 })
    a.endpoint.receive(new Uint8Array(8), 8)
    a.endpoint.send(1, pattern(200_000, 1), 1)
    a.endpoint.send(2, pattern(200_000, 1), 2)
    return { world, a, b, c }
  }
  const failures = ({ a }: ReturnType<typeof three>) =>
    a.events.map((event) => (event.type === "failed" ? `${event.context} ${event.reason}` : event.type)).toSorted()

  it("fails all that concerns it, and nothing else", () => {
    const net = three()
    net.world.kill(1)
    expect(net.world.run()).toBe(true)
    expect(failures(net)).toEqual(["1 unreachable", "9 unreachable", "completed"])
    expect(net.c.events).toMatchObject([{ type: "completed", bytes: 200_000 }])
    expect(net.a.endpoint.open).toBe(1)
    expect(net.a.endpoint.send(1, new Uint8Array(1), 5)).toBe("unreachable")
    expect(net.a.endpoint.receive(new Uint8Array(1), 5, { from: 1 })).toBe("unreachable")
  })

  it("is given up by whoever knows that it is, while nothing is on its way to it", () => {
    const net = three()
    net.world.run(100)
    net.world.kill(1)
    expect(net.world.run()).toBe(true)
    net.a.endpoint.handlePeerLost(1)
    expect(net.world.run()).toBe(true)
    expect(failures(net)).toEqual(["1 unreachable", "9 unreachable", "completed"])
    net.b.endpoint.handlePeerLost(0)
    expect(net.b.endpoint.pollEvent()).toMatchObject({ type: "failed", context: 1, reason: "unreachable" })
    expect(net.b.endpoint.open).toBe(0)
  })
})

describe("packets that belong to nothing", () => {
  it("are counted by cause, and change nothing", () => {
    const one = endpoint()
    one.receive(new Uint8Array(200), 1)
    expect(one.handlePacket(1, eager(0))).toBe(true)
    expect(one.handlePacket(1, eager(0))).toBe(true)
    expect(one.counters.duplicates).toBe(1)
    one.handlePacket(1, Uint8Array.of(1, 2, 3))
    expect(one.lastFault).toMatchObject({ what: "length", format: "efaRdm", offset: 0, found: 3 })
    one.handlePacket(1, octetsOf({ kind: "receipt", sendId: 7, messageId: 0, connid: 5 }))
    one.handlePacket(1, octetsOf({ kind: "receipt", sendId: 7, messageId: 0, connid: 6 }))
    one.handlePacket(undefined, eager(1))
    expect(one.counters).toMatchObject({ malformed: 1, stray: 1, staleConnections: 1, unknownPeers: 1 })
  })
})

/** Any packet of the protocol, with numbers that are near to what an endpoint has, and then spoiled. */
const fuzzPacket = (draw: (limit: number) => number, messageId: number): Uint8Array => {
  const types = [3, 4, 5, 7, 8, 9, 10, 11, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 128, 129, 130, 133, 134]
  types.push(135, 136, 137, 138, 139, 140, 141, 145, 146)
  const octets = new Uint8Array(4 + draw(160))
  octets[0] = draw(50) === 0 ? draw(256) : types[draw(types.length)]!
  octets[1] = draw(100) === 0 ? draw(256) : 4
  for (let at = 4; at < octets.length; at += 4) octets[at] = draw(3) === 0 ? draw(256) : draw(6)
  if (octets.length > 4 && draw(4) > 0) octets[4] = messageId
  if (draw(4) === 0) octets[2] = draw(256)
  if (draw(4) === 0) octets[3] = draw(2) * 0x80 + draw(2) * 0x20
  return octets
}

it("200,000 packets of anyone neither throw, nor hang, nor take more memory than the limits allow", () => {
  const seed = 20_261
  let drawn = 0
  const draw = (limit: number): number => hash32(seed, 1, drawn++) % limit
  const memory = new MemoryTable()
  memory.add(new Uint8Array(64), new Set(["read", "write", "atomic"]))
  const limits = {
    unexpectedBytesMax: 1500,
    reorderBytesMax: 1500,
    operationsMax: 50,
    receivesMax: 50,
    peersMax: 4,
  }
  const make = () => endpoint({ ...limits, memory, rdmaRead: true, runtBytes: 600, packetsInFlightMax: 16 })
  let one = make()
  const under: Array<number> = []
  let [taken, held, requests] = [0, 0, 0]
  for (let count = 0; count < 200_000; count++) {
    // Now and then a new one, so that its peers are not all full of what they sent.
    if (count % 500 === 0) {
      one = make()
      under.length = 0
    }
    if (draw(20) === 0) one.receive(new Uint8Array(draw(300)), count, draw(2) === 0 ? {} : { tag: 0n, ignore: 255n })
    if (draw(40) === 0) one.send(draw(4), new Uint8Array(draw(70_000)), count)
    if (one.handlePacket(draw(3), fuzzPacket(draw, ((count % 500) >> 4) + draw(4)))) taken++
    else held++
    for (let request = one.pollTransmit(); request !== undefined; request = one.pollTransmit()) {
      under.push(request.token)
      requests++
    }
    if (draw(2) === 0 && under.length > 0) {
      const [token] = under.splice(draw(under.length), 1)
      one.handleCompletion(token!, draw(10) === 0 ? "refused" : "done")
    }
    while (one.pollEvent() !== undefined);
    if (one.counters.unexpectedBytesPeak > limits.unexpectedBytesMax) throw new Error(`unexpected, packet ${count}`)
    if (one.counters.reorderBytesPeak > limits.reorderBytesMax) throw new Error(`reordered, packet ${count}`)
    if (one.open > limits.operationsMax + limits.receivesMax) throw new Error(`open, packet ${count}`)
  }
  expect(taken + held).toBe(200_000)
  // It reaches what it is about.
  expect(held).toBeGreaterThan(100)
  expect(requests).toBeGreaterThan(10_000)
})

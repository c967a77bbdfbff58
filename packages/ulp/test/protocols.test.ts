import { parseEfaRdm } from "@rdmakit/wire/efa-rdm"
import { describe, expect, it, test } from "vitest"
import type { RdmOptions, RdmSendOptions } from "../src/index.ts"
import { Network, type NetworkOptions, pattern } from "./datagrams.ts"

interface Told {
  readonly from: number
  readonly kind: string
}

/** Two hosts, and what they say to each other. */
const pair = (options: Partial<RdmOptions> = {}, network: Partial<NetworkOptions> = {}) => {
  const told: Array<Told> = []
  const world = new Network({
    seed: 1,
    hosts: [options, options],
    watch: (from, _, octets) => {
      const parse = parseEfaRdm(octets)
      if (!parse.ok) throw new Error(JSON.stringify(parse.error))
      const { value } = parse
      told.push({ from, kind: "protocol" in value ? `${value.kind} ${value.protocol}` : value.kind })
    },
    ...network,
  })
  const [a, b] = world.hosts as [Network["hosts"][number], Network["hosts"][number]]
  return { world, a, b, told }
}

/** Lets both know what the other can do. */
const acquaint = ({ world, a, b }: ReturnType<typeof pair>): void => {
  b.endpoint.receive(new Uint8Array(0), 999)
  a.endpoint.send(1, new Uint8Array(0), 999)
  world.run()
  a.events.length = 0
  b.events.length = 0
}

const kinds = (told: ReadonlyArray<Told>): ReadonlyArray<string> => [...new Set(told.map(({ kind }) => kind))]

const MIB = 1_048_576

describe("a message goes by the protocol of its size, and arrives as it was", () => {
  const rdma = { rdmaRead: true, rdmaWrite: true }
  test.each<readonly [string, number, Partial<RdmOptions>, RdmSendOptions, ReadonlyArray<string>]>([
    ["nothing", 0, {}, {}, ["message eager"]],
    ["what just fits a packet of 1,024 with a tag, data and connid", 996, {}, {}, ["message eager"]],
    ["65,536 bytes", 65_536, {}, {}, ["message medium"]],
    ["65,537 bytes", 65_537, {}, {}, ["message longCts", "cts", "ctsData"]],
    ["1 MiB where both can READ", MIB, rdma, {}, ["message longRead", "endOfRead"]],
    ["1 MiB where both can READ, some ahead", MIB, { ...rdma, runtBytes: 4000 }, {}, ["message runtRead", "endOfRead"]],
    ["all of it ahead", MIB, { ...rdma, runtBytes: 2 * MIB }, {}, ["message runtRead"]],
    ["confirmed, eager", 8, {}, { deliveryComplete: true }, ["message eager", "receipt"]],
    ["confirmed, medium", 5000, {}, { deliveryComplete: true }, ["message medium", "receipt"]],
    ["confirmed, long", 70_000, {}, { deliveryComplete: true }, ["message longCts", "cts", "ctsData", "receipt"]],
  ])("%s", (_, bytes, options, sending, protocols) => {
    for (const tagged of [false, true]) {
      const both = pair(options)
      acquaint(both)
      const { world, a, b, told } = both
      told.length = 0
      const data = pattern(bytes, 5)
      const buffer = new Uint8Array(bytes + 3)
      const tag = 0x1234_5678_9abc_def0n
      expect(b.endpoint.receive(buffer, 7, tagged ? { tag } : {})).toBeUndefined()
      expect(a.endpoint.send(1, data, 3, { ...sending, cqData: 42n, ...(tagged ? { tag } : {}) })).toBeUndefined()
      expect(world.run()).toBe(true)
      expect(a.events).toMatchObject([{ type: "completed", operation: "send", context: 3, peer: 1, bytes }])
      expect(b.events).toEqual([
        {
          type: "completed",
          operation: "receive",
          context: 7,
          peer: 0,
          bytes,
          tag: tagged ? tag : undefined,
          cqData: 42n,
        },
      ])
      expect(Buffer.compare(buffer.subarray(0, bytes), data)).toBe(0)
      expect(buffer.subarray(bytes)).toEqual(new Uint8Array(3))
      expect(kinds(told).toSorted()).toEqual(protocols.toSorted())
      expect([a.endpoint.open, b.endpoint.open, a.memory.count]).toEqual([0, 0, 0])
    }
  })
})

describe("the handshake", () => {
  it("comes once from each side, in answer to the first packet", () => {
    const { world, a, b, told } = pair()
    for (let count = 0; count < 5; count++) {
      b.endpoint.receive(new Uint8Array(8), count)
      a.endpoint.send(1, pattern(8, count), count)
    }
    world.run()
    expect(told.filter(({ kind }) => kind === "handshake").map(({ from }) => from)).toEqual([1, 0])
    // Features 1, 3, 4 and 6: delivery complete, connid, runting read, read nack.
    expect(a.endpoint.featuresOf(1)).toBe(0b101_1010n)
  })

  it("ends the raw address in requests", () => {
    const sizes: Array<number> = []
    const { world, a, b } = pair({}, { watch: (from, _, octets) => from === 0 && sizes.push(octets.length) })
    for (const context of [0, 1]) {
      b.endpoint.receive(new Uint8Array(8), context)
      a.endpoint.send(1, new Uint8Array(8), context)
      world.run()
    }
    // 8 octets of header, 40 of the raw address or 4 of connid, 8 of data; and the handshake between them.
    expect(sizes).toEqual([56, 24, 20])
  })

  it("tells a sender whom the device does not know by its address", () => {
    const { world, a, b } = pair({}, { anonymous: true })
    b.endpoint.receive(new Uint8Array(8), 1)
    a.endpoint.send(1, pattern(8, 1), 2)
    world.run()
    expect(b.events).toMatchObject([{ operation: "receive", peer: 0 }])
  })

  it("is waited for by what needs a feature, and by what would overtake it", () => {
    const { world, a, b, told } = pair()
    for (const context of [0, 1]) b.endpoint.receive(new Uint8Array(8), context)
    a.endpoint.send(1, Uint8Array.of(1), 10, { deliveryComplete: true })
    a.endpoint.send(1, Uint8Array.of(2), 11)
    world.run()
    // The write of nothing makes the peer send its handshake.
    expect(told.slice(0, 2).map(({ kind }) => kind)).toEqual(["write eager", "handshake"])
    expect(b.events.map((event) => event.type === "completed" && event.context)).toEqual([0, 1])
    expect(a.events).toHaveLength(2)
  })

  it("without delivery complete makes a confirmed send fail, not others", () => {
    const world = new Network({ seed: 3, hosts: [{}, { deliveryComplete: false }] })
    const [a, b] = world.hosts
    b!.endpoint.receive(new Uint8Array(8), 1)
    a!.endpoint.send(1, Uint8Array.of(1), 2, { deliveryComplete: true })
    a!.endpoint.send(1, Uint8Array.of(2), 3)
    world.run()
    expect(a!.events).toMatchObject([
      { type: "failed", context: 2, reason: "unsupported" },
      { type: "completed", context: 3 },
    ])
    expect(b!.events).toMatchObject([{ type: "completed", context: 1, bytes: 1 }])
  })

  it("without RDMA READ makes a long message go by long-CTS", () => {
    const told: Array<string> = []
    const world = new Network({
      seed: 3,
      hosts: [{ rdmaRead: true }, {}],
      watch: (_, __, octets) => {
        const parse = parseEfaRdm(octets)
        if (parse.ok) told.push("protocol" in parse.value ? parse.value.protocol : parse.value.kind)
      },
    })
    const [a, b] = world.hosts
    for (const context of [1, 2]) {
      b!.endpoint.receive(new Uint8Array(MIB), context)
      a!.endpoint.send(1, pattern(MIB, context), context)
      world.run()
    }
    expect(told).not.toContain("longRead")
    expect(b!.events).toMatchObject([{ context: 1 }, { context: 2 }])
  })
})

describe("a READ that is refused", () => {
  test.each([0, 4000])("comes by long-CTS from where the packets ended, %i bytes ahead", (runtBytes) => {
    const both = pair({ rdmaRead: true, runtBytes }, { refuses: () => true })
    acquaint(both)
    const { world, a, b, told } = both
    const data = pattern(MIB, 9)
    const buffer = new Uint8Array(MIB)
    b.endpoint.receive(buffer, 1)
    a.endpoint.send(1, data, 2)
    a.endpoint.send(1, data.subarray(0, 5), 3)
    b.endpoint.receive(new Uint8Array(5), 4)
    world.run()
    expect(Buffer.compare(buffer, data)).toBe(0)
    expect(kinds(told)).toEqual(expect.arrayContaining(["readNack", "message longCts", "ctsData"]))
    expect(b.events).toMatchObject([{ context: 1 }, { context: 4 }])
    expect(a.memory.count).toBe(0)
  })
})

describe("receives", () => {
  it("match by tag under a mask, oldest first", () => {
    const { world, a, b } = pair({ order: "matching" })
    b.endpoint.receive(new Uint8Array(8), 1, { tag: 0x10n, ignore: 0x0fn })
    b.endpoint.receive(new Uint8Array(8), 2, { tag: 0x1fn })
    b.endpoint.receive(new Uint8Array(8), 3, { tag: 0x30n })
    b.endpoint.receive(new Uint8Array(8), 4)
    for (const tag of [0x30n, 0x1fn, 0x1fn]) a.endpoint.send(1, Uint8Array.of(Number(tag)), 0, { tag })
    world.run()
    expect(b.events.map((event) => event.type === "completed" && [event.context, event.tag])).toEqual([
      [3, 0x30n],
      [1, 0x1fn],
      [2, 0x1fn],
    ])
  })

  it("of one peer take none of another's", () => {
    const world = new Network({ seed: 1, hosts: [{}, {}, {}] })
    const [a, b, c] = world.hosts
    c!.endpoint.receive(new Uint8Array(8), 1, { from: 1 })
    c!.endpoint.receive(new Uint8Array(8), 2, { from: 0 })
    a!.endpoint.send(2, Uint8Array.of(1), 0)
    world.run()
    expect(c!.events).toMatchObject([{ context: 2, peer: 0 }])
    b!.endpoint.send(2, Uint8Array.of(1), 0)
    world.run()
    expect(c!.events[1]).toMatchObject({ context: 1, peer: 1 })
  })

  test.each([10, 3000, 70_000, MIB])("may come after their message of %i bytes", (bytes) => {
    const both = pair({ rdmaRead: true })
    acquaint(both)
    const { world, a, b } = both
    a.endpoint.send(1, pattern(bytes, 3), 1)
    world.run()
    expect(b.endpoint.unexpected).toBe(1)
    const buffer = new Uint8Array(bytes)
    b.endpoint.receive(buffer, 2)
    world.run()
    expect(b.endpoint.unexpected).toBe(0)
    expect(Buffer.compare(buffer, pattern(bytes, 3))).toBe(0)
    expect(a.events).toHaveLength(1)
  })

  test.each([100, 5000, 70_000, MIB])(
    "shorter than their message of %i bytes have its beginning and say so",
    (bytes) => {
      const both = pair({ rdmaRead: true })
      acquaint(both)
      const { world, a, b } = both
      const buffer = new Uint8Array(64)
      b.endpoint.receive(buffer, 2)
      a.endpoint.send(1, pattern(bytes, 3), 1)
      world.run()
      expect(b.events).toMatchObject([{ type: "failed", reason: "truncated", bytes }])
      expect(buffer).toEqual(pattern(bytes, 3).subarray(0, 64))
      expect(a.events).toMatchObject([{ type: "completed" }])
      expect(b.endpoint.open).toBe(0)
    },
  )

  it("are taken back when nothing has matched them", () => {
    const { b } = pair()
    b.endpoint.receive(new Uint8Array(1), 5)
    expect(b.endpoint.cancelReceive(4)).toBe(false)
    expect(b.endpoint.cancelReceive(5)).toBe(true)
    expect(b.endpoint.pollEvent()).toMatchObject({ type: "failed", context: 5, reason: "canceled", peer: -1 })
    expect(b.endpoint.open).toBe(0)
  })
})

import { type EfaRdm, efaRdmBytes, emitEfaRdm, parseEfaRdm } from "@rdmakit/wire/efa-rdm"
import { expect, it } from "vitest"
import { MemoryTable, RdmEndpoint, type RdmOptions } from "../src/index.ts"
import { addressOf, pattern } from "./datagrams.ts"

/** One endpoint, and the packets of its peer written by hand. */
const endpoint = (options: Partial<RdmOptions> = {}) => {
  const one = new RdmEndpoint({ address: addressOf(0), mtuBytes: 1024, memory: new MemoryTable(), ...options })
  const give = (packet: EfaRdm, payload: Uint8Array = new Uint8Array(0)): void => {
    const octets = new Uint8Array(efaRdmBytes(packet) + payload.length)
    octets.set(payload, emitEfaRdm(packet, octets))
    expect(one.handlePacket(1, octets)).toBe(true)
  }
  /** Its next packet, completed at once. */
  const take = (): EfaRdm | "read" | undefined => {
    const request = one.pollTransmit()
    if (request === undefined) return undefined
    if (request.kind !== "send") return "read"
    const parse = parseEfaRdm(request.packet.slice(0, request.bytes))
    one.handleCompletion(request.token, "done")
    return parse.ok ? parse.value : undefined
  }
  give({
    kind: "handshake",
    extraInfo: [0b101_1011n],
    connid: undefined,
    hostId: undefined,
    deviceVersion: undefined,
    userReceive: undefined,
  })
  expect(take()).toMatchObject({ kind: "handshake" })
  return { one, give, take }
}
const none = { rawAddress: undefined, cqData: undefined, connid: undefined }

it("a confirmed send ends when its receipt is here and the service is done with its packet", () => {
  const { one, give } = endpoint()
  one.send(1, pattern(10, 1), 5, { deliveryComplete: true })
  const request = one.pollTransmit()!
  const parse = parseEfaRdm(request.packet.slice(0, request.bytes))
  if (!parse.ok || !("sendId" in parse.value)) throw new Error("no confirmed request")
  give({ kind: "receipt", sendId: parse.value.sendId, messageId: 0, connid: undefined })
  expect(one.pollEvent()).toBeUndefined()
  one.handleCompletion(request.token, "done")
  expect(one.pollEvent()).toMatchObject({ type: "completed", context: 5 })
  // The number is no one's any more.
  give({ kind: "receipt", sendId: parse.value.sendId, messageId: 0, connid: undefined })
  expect(one.counters.stray).toBe(1)
})

it("a READ_NACK goes out when all packets with data are here, and the window is for the rest", () => {
  const { one, give, take } = endpoint({ rdmaRead: true })
  const data = pattern(5000, 3)
  const buffer = new Uint8Array(5000)
  one.receive(buffer, 7)
  const runt = (offset: number): void =>
    give(
      {
        kind: "message",
        ...none,
        tag: undefined,
        protocol: "runtRead",
        deliveryComplete: false,
        messageId: 0,
        messageBytes: 5000n,
        sendId: 77,
        sources: [{ address: 0x1000n, bytes: 5000n, key: 1n }],
        offset: BigInt(offset),
        runtBytes: 1200n,
      },
      data.subarray(offset, offset + 600),
    )
  runt(600)
  const read = one.pollTransmit()!
  expect(read).toMatchObject({ kind: "read", remote: { address: 0x1000n + 1200n, bytes: 3800n, key: 1n } })
  one.handleCompletion(read.token, "refused")
  expect(take()).toBeUndefined()
  runt(0)
  expect(take()).toMatchObject({ kind: "readNack", sendId: 77 })
  give({
    kind: "message",
    ...none,
    tag: undefined,
    protocol: "longCts",
    deliveryComplete: false,
    messageId: 0,
    messageBytes: 5000n,
    sendId: 78,
    creditRequest: 2,
    afterNack: true,
  })
  // Two packets of 1,024 octets, less the header of CTSDATA with its connection.
  const cts = take()
  expect(cts).toMatchObject({ kind: "cts", sendId: 78, windowBytes: 2n * (1024n - 32n) })
  if (cts === undefined || cts === "read" || cts.kind !== "cts") return
  const { receiveId } = cts
  const segment = (offset: number, bytes: number): void =>
    give(
      { kind: "ctsData", connid: undefined, receiveId, segmentBytes: BigInt(bytes), offset: BigInt(offset) },
      data.subarray(offset, offset + bytes),
    )
  segment(1200 + 992, 992)
  expect(take()).toBeUndefined()
  segment(1200, 992)
  expect(take()).toMatchObject({ kind: "cts", windowBytes: 5000n - 1200n - 1984n })
  segment(3184, 900)
  segment(4084, 916)
  expect(one.pollEvent()).toMatchObject({ type: "completed", context: 7, bytes: 5000 })
  expect(Buffer.compare(buffer, data)).toBe(0)
  expect(take()).toBeUndefined()
  expect(one.open).toBe(0)
})

it("data that no window allows is not taken", () => {
  const { one, give, take } = endpoint()
  const buffer = new Uint8Array(5000)
  one.receive(buffer, 7)
  const request = {
    kind: "message",
    ...none,
    tag: undefined,
    protocol: "longCts",
    deliveryComplete: false,
    messageId: 0,
    messageBytes: 5000n,
    sendId: 78,
    creditRequest: 1,
    afterNack: false,
  } as const
  give(request, pattern(900, 1))
  const cts = take()
  if (cts === undefined || cts === "read" || cts.kind !== "cts") throw new Error("no CTS")
  const { receiveId } = cts
  give({ kind: "ctsData", connid: undefined, receiveId, segmentBytes: 993n, offset: 900n }, new Uint8Array(993).fill(1))
  give({ kind: "ctsData", connid: undefined, receiveId, segmentBytes: 10n, offset: 4991n }, new Uint8Array(10).fill(1))
  give(
    { kind: "ctsData", connid: undefined, receiveId: receiveId + 1, segmentBytes: 1n, offset: 0n },
    new Uint8Array(1),
  )
  expect(one.counters.stray).toBe(3)
  expect(buffer.subarray(900)).toEqual(new Uint8Array(4100))
})

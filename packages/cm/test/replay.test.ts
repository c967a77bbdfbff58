import { expect, it } from "vitest"
import { Cm } from "../src/index.ts"
import { type Captured, capturedMads, messageOf } from "./capture.ts"
import { accept, clientGuid, connect, mirror, route, serverGuid, service } from "./pair.ts"

/** Octets of the transaction id, and of communication ids where the message has them. */
const masked = (octets: Uint8Array): Uint8Array => octets.slice().fill(0, 8, 16).fill(0, 24, 32)

const RESERVED_IN_REQUEST = [28, 32] as const

/** What the machine sends next is what Linux sent, but for the ids that each draws for itself. */
const expectSame = (cm: Cm, linux: Captured): Uint8Array => {
  const datagram = cm.pollTransmit()!
  expect(messageOf(datagram.octets).message.kind).toBe(linux.message.kind)
  expect(masked(datagram.octets)).toEqual(masked(linux.octets))
  expect(cm.pollTransmit()).toBeUndefined()
  return datagram.octets
}

/** Linux's datagram with the ids that our side has drawn in place of those that Linux's peer had. */
const withIds = (linux: Captured, ours: Uint8Array, isAnswer: boolean): Uint8Array => {
  const octets = linux.octets.slice()
  if (isAnswer) octets.set(ours.subarray(8, 16), 8)
  octets.set(ours.subarray(24, 28), 28)
  return octets
}

const clientOf = (seed: number): Cm => new Cm({ caGuid: clientGuid, seed })
const serverOf = (seed: number): Cm => new Cm({ caGuid: serverGuid, seed })

it("the client of rping, against the server that Linux was", () => {
  const [request, reply, ready, disconnect, disconnected] = capturedMads("cm_rping_v4") as [
    Captured,
    Captured,
    Captured,
    Captured,
    Captured,
  ]
  const cm = clientOf(1)
  const { id } = cm.command(0, connect) as { id: number }
  const ours = expectSame(cm, request)
  expect(ours.subarray(...RESERVED_IN_REQUEST)).toEqual(new Uint8Array(4))
  cm.handleMad(1, withIds(reply, ours, true), route)
  expect(cm.pollEvent()).toMatchObject({ type: "reply", id, remoteQpn: 0x28 })
  // The PSNs that the queue pairs of the capture used: each begins where the other has said.
  expect(cm.settings(id)).toMatchObject({ receivePsn: 0x0da406, sendPsn: 0x6b8cd4, timeout: 19, rnrRetry: 7 })
  cm.command(2, { type: "ready", id })
  const readied = expectSame(cm, ready)
  // Ids of both sides are told in the order of the message, and the exchange keeps its transaction.
  expect(readied.subarray(24, 28)).toEqual(ours.subarray(24, 28))
  expect(readied.subarray(28, 32)).toEqual(reply.octets.subarray(24, 28))
  expect(readied.subarray(8, 16)).toEqual(ours.subarray(8, 16))
  cm.command(3, { type: "disconnect", id })
  expectSame(cm, disconnect)
  cm.handleMad(4, withIds(disconnected, ours, true), route)
  expect(cm.pollEvent()).toMatchObject({ type: "disconnected", id })
})

it("the server of rping, against the client that Linux was", () => {
  const [request, reply, ready, disconnect, disconnected] = capturedMads("cm_rping_v4") as [
    Captured,
    Captured,
    Captured,
    Captured,
    Captured,
  ]
  const cm = serverOf(2)
  const source = mirror(route)
  cm.command(0, { type: "listen", serviceId: service })
  cm.handleMad(1, request.octets, source)
  const event = cm.pollEvent()!
  expect(event).toMatchObject({
    type: "request",
    serviceId: service,
    transport: "rc",
    remoteQpn: 0x29,
    ip: { version: 4, sourcePort: 0xc25e, source: 0x0a000001, destination: 0x0a000002 },
    retries: 7,
    rnrRetries: 7,
  })
  if (event.type !== "request") throw new Error("no request")
  cm.command(2, { ...accept, id: event.id })
  const ours = expectSame(cm, reply)
  expect(ours.subarray(8, 16)).toEqual(request.octets.subarray(8, 16))
  expect(ours.subarray(28, 32)).toEqual(request.octets.subarray(24, 28))
  expect(cm.settings(event.id)).toMatchObject({
    destinationQp: 0x29,
    receivePsn: 0x6b8cd4,
    sendPsn: 0x0da406,
    pathMtuBytes: 1024,
    timeout: 19,
    retryCount: 7,
  })
  cm.handleMad(3, withIds(ready, ours, false), source)
  expect(cm.pollEvent()).toMatchObject({ type: "established", id: event.id })
  cm.handleMad(4, withIds(disconnect, ours, false), source)
  expect(cm.pollEvent()).toMatchObject({ type: "disconnectRequested", id: event.id })
  cm.command(5, { type: "disconnect", id: event.id })
  expectSame(cm, disconnected)
})

it("a request for a service that nobody listens to is rejected as Linux rejects it", () => {
  const [request, reject] = capturedMads("cm_reject_v4") as [Captured, Captured]
  const cm = serverOf(3)
  cm.handleMad(0, request.octets, mirror(route))
  const { octets } = cm.pollTransmit()!
  // Not even ids differ: the rejecting side has none.
  expect(octets).toEqual(reject.octets)
  expect(cm.size).toBe(0)
})

it("the rejection that Linux sent ends the request", () => {
  const [request, reject] = capturedMads("cm_reject_v4") as [Captured, Captured]
  const { message } = request
  if (message.kind !== "request") throw new Error("no request")
  const cm = clientOf(4)
  const { qpn, psn, serviceId } = message
  const ip = { ...connect.ip!, sourcePort: 0xe358 }
  const { id } = cm.command(0, {
    ...connect,
    serviceId,
    qpn,
    psn,
    ip,
    route: { ...route, flowLabel: message.primary.flowLabel },
  }) as { id: number }
  const ours = expectSame(cm, request)
  cm.handleMad(1, withIds(reject, ours, true), route)
  expect(cm.pollEvent()).toMatchObject({ type: "rejected", id, reason: 8 })
  expect(cm.size).toBe(0)
})

import { serviceIdOf } from "@rdmakit/wire/cm"
import { expect, it } from "vitest"
import { SidrStatus } from "../src/index.ts"
import { messageOf } from "./capture.ts"
import { connect, Pair, route, SECOND_PS } from "./pair.ts"

const service = serviceIdOf(17, 7174)
const resolve = { type: "resolve", serviceId: service, route, ip: connect.ip! } as const

const listening = (): Pair => {
  const pair = new Pair()
  pair.do(pair.server, { type: "listen", serviceId: service })
  pair.server.react = (event) => {
    if (event.type === "resolveRequest")
      pair.do(pair.server, {
        type: "answer",
        id: event.id,
        status: SidrStatus.Success,
        qpn: 0x77,
        queueKey: 0x01234567,
        privateData: Uint8Array.of(5),
      })
  }
  return pair
}

it("who serves is told with queue pair, queue key and private data", () => {
  const pair = listening()
  pair.do(pair.client, { ...resolve, privateData: Uint8Array.of(4) })
  pair.run()
  const request = pair.server.last("resolveRequest")
  expect(request.ip).toEqual(connect.ip)
  expect([request.privateData.length, request.privateData[0]]).toEqual([180, 4])
  const resolved = pair.client.last("resolved")
  expect(resolved).toMatchObject({ status: 0, qpn: 0x77, queueKey: 0x01234567 })
  expect([resolved.privateData.length, resolved.privateData[0]]).toEqual([136, 5])
  expect([pair.client.cm.size, pair.server.cm.size]).toEqual([0, 0])
})

it("a question that is repeated is asked of the program once", () => {
  const pair = listening()
  let lost = 0
  pair.drop = (octets) => messageOf(octets).message.kind === "resolveReply" && lost++ < 1
  pair.do(pair.client, resolve)
  pair.run()
  expect(pair.server.types()).toEqual(["resolveRequest"])
  expect(pair.client.types()).toEqual(["resolved"])
  expect(pair.wire.length).toBe(4)
})

it("nobody serves; the program refuses; the program leaves", () => {
  const none = new Pair()
  none.do(none.client, resolve)
  none.run()
  expect(none.client.last("resolved").status).toBe(SidrStatus.Unsupported)

  const refusing = listening()
  refusing.server.react = (event) =>
    void refusing.do(refusing.server, { type: "answer", id: event.id, status: SidrStatus.NoQueuePair })
  refusing.do(refusing.client, resolve)
  refusing.run()
  expect(refusing.client.last("resolved").status).toBe(SidrStatus.NoQueuePair)

  const leaving = listening()
  leaving.server.react = (event) => void leaving.do(leaving.server, { type: "close", id: event.id })
  leaving.do(leaving.client, resolve)
  leaving.run()
  expect(leaving.client.last("resolved").status).toBe(SidrStatus.Reject)
})

it("nobody answers", () => {
  const pair = listening()
  pair.drop = () => true
  pair.do(pair.client, { ...resolve, cmRetries: 2 })
  pair.run()
  expect(pair.wire.length).toBe(3)
  expect(pair.client.events).toMatchObject([{ type: "unreachable", message: "resolveRequest" }])
  expect(pair.client.cm.size).toBe(0)
})

it("two clients may use the same id", () => {
  const pair = listening()
  const other = new Pair()
  pair.do(pair.client, resolve)
  pair.run(SECOND_PS)
  const { octets, destination } = pair.wire[0]!
  other.do(other.server, { type: "listen", serviceId: service })
  for (const last of [1, 9]) {
    const remoteGid = destination.localGid.slice()
    remoteGid[15] = last
    other.server.cm.handleMad(0, octets, { ...destination, localGid: destination.remoteGid, remoteGid })
  }
  expect(other.server.cm.size).toBe(2)
})

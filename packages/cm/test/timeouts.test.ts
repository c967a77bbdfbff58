import { describe, expect, it } from "vitest"
import { RejectCode, timeoutPs } from "../src/index.ts"
import { messageOf } from "./capture.ts"
import { accept, connect, Pair, SECOND_PS, service } from "./pair.ts"

const sentOf = (pair: Pair, kind: string): ReadonlyArray<number> =>
  pair.wire.filter(({ octets }) => messageOf(octets).message.kind === kind).map(({ time }) => time)

const listening = (): Pair => {
  const pair = new Pair()
  pair.do(pair.server, { type: "listen", serviceId: service })
  pair.server.react = (event) => {
    if (event.type === "request") pair.do(pair.server, { ...accept, id: event.id })
  }
  return pair
}

describe("nobody answers", () => {
  it("a request: sixteen times, twice the packet lifetime and the peer's time apart, then a reject for those who heard", () => {
    const pair = new Pair()
    pair.drop = () => true
    pair.do(pair.client, connect)
    pair.run()
    const times = sentOf(pair, "request")
    const wait = 2 * timeoutPs(18) + timeoutPs(20)
    expect(times).toEqual(Array.from({ length: 16 }, (_, index) => index * wait))
    expect(sentOf(pair, "reject")).toEqual([16 * wait])
    expect(pair.client.events).toMatchObject([{ type: "unreachable", message: "request" }])
    expect(pair.client.cm.size).toBe(0)
    expect(pair.client.cm.counters.repeated).toBe(15)
  })

  it("a request that may be repeated twice", () => {
    const pair = new Pair()
    pair.drop = () => true
    pair.do(pair.client, { ...connect, cmRetries: 2, remoteResponseTimeout: 10 })
    pair.run()
    const wait = 2 * timeoutPs(18) + timeoutPs(10)
    expect(sentOf(pair, "request")).toEqual([0, wait, 2 * wait])
  })

  it("a reply: as often and as far apart as the request said", () => {
    const pair = listening()
    pair.drop = (_, from) => from === pair.server
    pair.do(pair.client, { ...connect, cmRetries: 3, localResponseTimeout: 19 })
    pair.run(10 * SECOND_PS)
    const times = sentOf(pair, "reply")
    // The request's repetition after 6.4 s is answered as well.
    expect(times.slice(0, 4).map((time) => time - times[0]!)).toEqual([0, 1, 2, 3].map((n) => n * timeoutPs(19)))
    expect(pair.server.types()).toContain("unreachable")
    expect(pair.server.last("unreachable").message).toBe("reply")
  })

  it("a disconnect request: the connection ends all the same", () => {
    const pair = new Pair()
    const { client } = pair.establish()
    pair.drop = () => true
    pair.do(pair.client, { type: "disconnect", id: client })
    pair.run()
    expect(sentOf(pair, "disconnectRequest").length).toBe(16)
    expect(pair.client.types().slice(1)).toEqual(["unreachable", "timewaitEnded"])
    expect(pair.client.cm.size).toBe(0)
  })
})

describe("messages that were lost", () => {
  const lose = (kind: string, count: number): Pair => {
    const pair = listening()
    let lost = 0
    pair.drop = (octets) => messageOf(octets).message.kind === kind && lost++ < count
    pair.client.react = (event) => {
      if (event.type === "reply") pair.do(pair.client, { type: "ready", id: event.id })
    }
    pair.do(pair.client, connect)
    pair.run(100 * SECOND_PS)
    return pair
  }

  it.each([
    ["request", 1],
    ["request", 15],
    ["reply", 1],
    ["reply", 9],
    ["readyToUse", 1],
    ["readyToUse", 8],
  ])("%s, %i of them: the connection comes about, once", (kind, count) => {
    const pair = lose(kind, count)
    expect(pair.client.types()).toEqual(["reply"])
    expect(pair.server.types()).toEqual(["request", "established"])
  })
})

it("a packet of the connection in place of the readyToUse", () => {
  const pair = listening()
  pair.drop = (octets) => messageOf(octets).message.kind === "readyToUse"
  pair.client.react = (event) => {
    if (event.type === "reply") pair.do(pair.client, { type: "ready", id: event.id })
  }
  pair.do(pair.client, connect)
  pair.run(SECOND_PS)
  pair.do(pair.server, { type: "established", id: pair.server.last("request").id })
  pair.run()
  expect(pair.server.types()).toEqual(["request", "established"])
  expect(sentOf(pair, "reply").length).toBe(1)
})

describe("a peer that has lost its connections", () => {
  it("is told that the old one is stale, which is ended; then it may connect", () => {
    const pair = new Pair()
    pair.establish()
    // The client begins anew, with the queue pair numbers it had and other ids.
    const again = new Pair({ seed: 9 })
    again.now = pair.now
    const { id } = again.client.cm.command(0, connect) as { id: number }
    const request = again.client.cm.pollTransmit()!
    const { localGid, remoteGid, ...rest } = request.destination
    const source = { ...rest, localGid: remoteGid, remoteGid: localGid }
    const { cm } = pair.server
    cm.handleMad(pair.now, request.octets, source)
    const reject = cm.pollTransmit()!
    const disconnect = cm.pollTransmit()!
    expect(messageOf(reject.octets).message).toMatchObject({ kind: "reject", reason: RejectCode.StaleConnection })
    expect(messageOf(disconnect.octets).message.kind).toBe("disconnectRequest")
    again.client.cm.handleMad(pair.now, reject.octets, request.destination)
    expect(again.client.cm.pollEvent()).toMatchObject({ type: "rejected", id, reason: RejectCode.StaleConnection })
    // The new life knows nothing of the connection, and agrees to its end.
    again.client.cm.handleMad(pair.now, disconnect.octets, request.destination)
    const agreed = again.client.cm.pollTransmit()!
    expect(messageOf(agreed.octets).message.kind).toBe("disconnectReply")
    cm.handleMad(pair.now, agreed.octets, source)
    expect(cm.pollEvent()).toMatchObject({ type: "disconnected" })
    const waited = cm.nextTimeout
    cm.handleTimeout(waited)
    expect(cm.pollEvent()).toMatchObject({ type: "timewaitEnded" })
    again.client.cm.handleTimeout(again.client.cm.nextTimeout)
    again.client.cm.command(waited, connect)
    cm.handleMad(waited, again.client.cm.pollTransmit()!.octets, source)
    expect(cm.pollEvent()).toMatchObject({ type: "request" })
  })

  it.each([
    ["queue pair", { qpn: 0x77 }],
    ["PSN", { psn: 5 }],
  ])("with the same ids too: another %s is another connection", (_, other) => {
    const pair = new Pair()
    const { server } = pair.establish()
    const again = new Pair()
    again.client.cm.command(0, { ...connect, ...other })
    const request = again.client.cm.pollTransmit()!
    const { localGid, remoteGid, ...rest } = request.destination
    pair.server.cm.handleMad(pair.now, request.octets, { ...rest, localGid: remoteGid, remoteGid: localGid })
    expect(messageOf(pair.server.cm.pollTransmit()!.octets).message).toMatchObject({ reason: 10 })
    expect(messageOf(pair.server.cm.pollTransmit()!.octets).message).toMatchObject({
      kind: "disconnectRequest",
      localId: server,
    })
  })
})

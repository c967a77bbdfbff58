import { describe, expect, it } from "vitest"
import { RejectCode, timeoutPs } from "../src/index.ts"
import { messageOf } from "./capture.ts"
import { accept, connect, type End, Pair, SECOND_PS, service } from "./pair.ts"

const text = (value: string): Uint8Array => new TextEncoder().encode(value)
/** Private data as text, up to the zeros that fill it. */
const read = (octets: Uint8Array): string => new TextDecoder().decode(octets).replace(/\0+$/, "")

const kinds = (pair: Pair): ReadonlyArray<string> => pair.wire.map(({ octets }) => messageOf(octets).message.kind)

const kindIs =
  (kind: string, from?: End) =>
  (octets: Uint8Array, sender: End): boolean =>
    messageOf(octets).message.kind === kind && (from === undefined || from === sender)

describe("connect", () => {
  it("takes three messages", () => {
    const pair = new Pair()
    pair.establish()
    expect(kinds(pair)).toEqual(["request", "reply", "readyToUse"])
    expect(pair.client.types()).toEqual(["reply"])
    expect(pair.server.types()).toEqual(["request", "established"])
  })

  it("carries private data both ways", () => {
    const pair = new Pair()
    pair.do(pair.server, { type: "listen", serviceId: service })
    pair.do(pair.client, { ...connect, privateData: text("hello") })
    pair.run(1e9)
    const request = pair.server.last("request")
    expect(read(request.privateData)).toBe("hello")
    expect(request.privateData.length).toBe(56)
    pair.do(pair.server, { ...accept, id: request.id, privateData: text("welcome") })
    pair.run(2e9)
    const reply = pair.client.last("reply")
    expect(read(reply.privateData)).toBe("welcome")
    pair.do(pair.client, { type: "ready", id: reply.id, privateData: text("go") })
    pair.run(3e9)
    expect(read(pair.server.last("established").privateData)).toBe("go")
  })

  it("agrees on depths: each side's are what the other serves", () => {
    const pair = new Pair()
    pair.do(pair.server, { type: "listen", serviceId: service })
    pair.do(pair.client, { ...connect, responderResources: 3, initiatorDepth: 9 })
    pair.run(1e9)
    const request = pair.server.last("request")
    expect(request).toMatchObject({ responderResources: 9, initiatorDepth: 3 })
    pair.do(pair.server, { ...accept, id: request.id, responderResources: 4, initiatorDepth: 200 })
    pair.run(2e9)
    // Nobody serves more than it offered, whatever the peer answers.
    expect(pair.client.cm.settings(pair.client.last("reply").id)).toMatchObject({
      responderResources: 3,
      initiatorDepth: 4,
    })
  })

  it("has no more outstanding than it said it would, however much the other serves", () => {
    const pair = new Pair()
    pair.do(pair.server, { type: "listen", serviceId: service })
    pair.do(pair.client, { ...connect, initiatorDepth: 2 })
    pair.run(1e9)
    pair.do(pair.server, { ...accept, id: pair.server.last("request").id, responderResources: 16 })
    pair.run(2e9)
    expect(pair.client.last("reply").initiatorDepth).toBe(2)
  })

  it("takes each PSN to where the other expects it", () => {
    const pair = new Pair()
    const { client, server } = pair.establish()
    const ours = pair.client.cm.settings(client)!
    const theirs = pair.server.cm.settings(server)!
    expect(ours.sendPsn).toBe(theirs.receivePsn)
    expect(ours.receivePsn).toBe(theirs.sendPsn)
    expect([ours.destinationQp, theirs.destinationQp]).toEqual([0x28, 0x29])
  })
})

describe("reject", () => {
  it("of a request, with reason and private data", () => {
    const pair = new Pair()
    pair.do(pair.server, { type: "listen", serviceId: service })
    pair.do(pair.client, connect)
    pair.run(1e9)
    const { id } = pair.server.last("request")
    pair.do(pair.server, { type: "reject", id, privateData: text("no thanks") })
    pair.run(2e9)
    const rejected = pair.client.last("rejected")
    expect(rejected.reason).toBe(RejectCode.Consumer)
    expect(read(rejected.privateData)).toBe("no thanks")
    expect([pair.client.cm.size, pair.server.cm.size]).toEqual([0, 0])
    expect(pair.nextTime).toBe(Infinity)
  })

  it("of a reply", () => {
    const pair = new Pair()
    pair.do(pair.server, { type: "listen", serviceId: service })
    pair.server.react = (event) => {
      if (event.type === "request") pair.do(pair.server, { ...accept, id: event.id })
    }
    pair.do(pair.client, connect)
    pair.run(1e9)
    pair.do(pair.client, { type: "reject", id: pair.client.last("reply").id, reason: 3, information: text("x") })
    pair.run(2e9)
    expect(pair.server.last("rejected")).toMatchObject({ reason: 3, information: text("x") })
    expect([pair.client.cm.size, pair.server.cm.size]).toEqual([0, 0])
  })

  it("by the machine: nobody listens", () => {
    const pair = new Pair()
    pair.do(pair.client, connect)
    pair.run()
    expect(pair.client.last("rejected").reason).toBe(RejectCode.InvalidServiceId)
  })

  it("by the machine: an MTU and a transport that there are not, and a path to somebody else", () => {
    const codes: Array<number> = []
    const answers = (change: (octets: Uint8Array) => void): void => {
      const pair = new Pair()
      pair.do(pair.server, { type: "listen", serviceId: service })
      pair.do(pair.client, connect)
      const octets = pair.wire[0]!.octets.slice()
      change(octets)
      const { localGid, remoteGid, ...rest } = pair.wire[0]!.destination
      pair.server.cm.handleMad(0, octets, { ...rest, localGid: remoteGid, remoteGid: localGid })
      const { message } = messageOf(pair.server.cm.pollTransmit()!.octets)
      if (message.kind === "reject") codes.push(message.reason)
      expect(pair.server.cm.pollEvent()).toBeUndefined()
    }
    answers((octets) => (octets[24 + 50]! &= 0x0f))
    answers((octets) => (octets[24 + 50]! = 0x67))
    answers((octets) => (octets[24 + 43]! |= 0x04))
    answers((octets) => octets.fill(7, 24 + 72, 24 + 88))
    // The IP version of the private data.
    answers((octets) => (octets[24 + 141] = 0x50))
    const { InvalidMtu, InvalidTransport, PrimaryGid, Consumer } = RejectCode
    expect(codes).toEqual([InvalidMtu, InvalidMtu, InvalidTransport, PrimaryGid, Consumer])
  })
})

describe("disconnect", () => {
  it("waits out its time on both sides, then nothing is left", () => {
    const pair = new Pair()
    const { client, server } = pair.establish()
    pair.server.react = (event) => {
      if (event.type === "disconnectRequested") pair.do(pair.server, { type: "disconnect", id: server })
    }
    const begun = pair.now
    pair.do(pair.client, { type: "disconnect", id: client, privateData: text("bye") })
    pair.run()
    expect(kinds(pair).slice(3)).toEqual(["disconnectRequest", "disconnectReply"])
    expect(read(pair.server.last("disconnectRequested").privateData)).toBe("bye")
    expect(pair.client.types().slice(1)).toEqual(["disconnected", "timewaitEnded"])
    expect(pair.server.types().slice(2)).toEqual(["disconnectRequested", "timewaitEnded"])
    // The local ACK timeout of the connection, code 19: 2.1 s.
    expect(pair.now - begun).toBeGreaterThanOrEqual(timeoutPs(19))
    expect(pair.now - begun).toBeLessThan(timeoutPs(19) + 1e9)
    expect([pair.client.cm.size, pair.server.cm.size]).toEqual([0, 0])
  })

  it("by both at once", () => {
    const pair = new Pair()
    const { client, server } = pair.establish()
    pair.do(pair.client, { type: "disconnect", id: client })
    pair.do(pair.server, { type: "disconnect", id: server })
    pair.run()
    expect(pair.client.types().slice(1)).toEqual(["disconnected", "timewaitEnded"])
    expect(pair.server.types().slice(2)).toEqual(["disconnected", "timewaitEnded"])
    expect([pair.client.cm.size, pair.server.cm.size]).toEqual([0, 0])
  })

  it.each([
    ["in timewait, with the same private data", 21, "bye"],
    ["afterwards, with none", 10, ""],
  ])("is answered again when the answer was lost: %s", (_, packetLifetime, data) => {
    const pair = new Pair()
    const { client, server } = pair.establish({ ...connect, route: { ...connect.route, packetLifetime } })
    const react = pair.client.react
    pair.client.react = (event) => {
      if (event.type === "disconnectRequested")
        pair.do(pair.client, { type: "disconnect", id: client, privateData: text("bye") })
      else react(event)
    }
    let lost = 0
    pair.drop = (octets) => messageOf(octets).message.kind === "disconnectReply" && lost++ < 1
    pair.do(pair.server, { type: "disconnect", id: server })
    pair.run()
    expect(kinds(pair).slice(3)).toEqual([
      "disconnectRequest",
      "disconnectReply",
      "disconnectRequest",
      "disconnectReply",
    ])
    expect(pair.server.types().slice(2)).toEqual(["disconnected", "timewaitEnded"])
    expect(read(pair.server.last("disconnected").privateData)).toBe(data)
  })

  it("of another queue pair is not heard", () => {
    const pair = new Pair()
    const { client, server } = pair.establish()
    pair.do(pair.client, { type: "disconnect", id: client })
    const { octets, destination } = pair.wire.at(-1)!
    const other = octets.slice()
    other[24 + 10]! ^= 1
    const { localGid, remoteGid, ...rest } = destination
    pair.server.cm.handleMad(pair.now, other, { ...rest, localGid: remoteGid, remoteGid: localGid })
    expect(pair.server.cm.pollEvent()).toBeUndefined()
    expect(pair.server.cm.counters.unexpected).toBe(1)
    pair.run(pair.now + 1e9)
    expect(pair.server.last("disconnectRequested").id).toBe(server)
  })

  it("before the readyToUse has come", () => {
    const pair = new Pair()
    pair.drop = kindIs("readyToUse")
    pair.do(pair.server, { type: "listen", serviceId: service })
    pair.server.react = (event) => {
      if (event.type === "request") pair.do(pair.server, { ...accept, id: event.id })
      if (event.type === "disconnectRequested") pair.do(pair.server, { type: "disconnect", id: event.id })
    }
    pair.client.react = (event) => {
      if (event.type !== "reply") return
      pair.do(pair.client, { type: "ready", id: event.id })
      pair.do(pair.client, { type: "disconnect", id: event.id })
    }
    pair.do(pair.client, connect)
    pair.run()
    expect(pair.server.types()).toEqual(["request", "disconnectRequested", "timewaitEnded"])
    expect(pair.client.types()).toEqual(["reply", "disconnected", "timewaitEnded"])
  })
})

describe("delay", () => {
  it("gives the answer as long as it says", () => {
    const pair = new Pair()
    pair.do(pair.server, { type: "listen", serviceId: service })
    pair.do(pair.client, connect)
    pair.run(1e9)
    const { id } = pair.server.last("request")
    pair.do(pair.server, { type: "delay", id, serviceTimeout: 22, privateData: text("wait") })
    pair.run(17 * SECOND_PS)
    expect(read(pair.client.last("delayed").privateData)).toBe("wait")
    expect(pair.client.last("delayed").serviceTimeoutPs).toBe(timeoutPs(22))
    // No repetition: 17.2 s and the packet lifetime have not passed.
    expect(kinds(pair)).toEqual(["request", "messageReceipt"])
    pair.do(pair.server, { ...accept, id })
    pair.run(18 * SECOND_PS)
    expect(pair.client.types()).toEqual(["delayed", "reply"])
  })

  it("is asked for by itself when a request is repeated that nobody has decided on", () => {
    const pair = new Pair()
    pair.do(pair.server, { type: "listen", serviceId: service })
    pair.do(pair.client, connect)
    pair.run(30 * SECOND_PS)
    expect(kinds(pair)).toEqual(["request", "request", "messageReceipt"])
    expect(pair.client.last("delayed").serviceTimeoutPs).toBe(timeoutPs(24))
    expect(pair.server.types()).toEqual(["request"])
    expect(pair.server.cm.counters.duplicates).toBe(1)
  })

  it("is asked for by itself when a reply is repeated that nobody has decided on", () => {
    const pair = new Pair()
    pair.do(pair.server, { type: "listen", serviceId: service })
    pair.server.react = (event) => {
      if (event.type === "request") pair.do(pair.server, { ...accept, id: event.id })
    }
    const id = pair.do(pair.client, connect)
    pair.run(30 * SECOND_PS)
    expect(kinds(pair)).toEqual(["request", "reply", "reply", "messageReceipt"])
    pair.do(pair.client, { type: "ready", id })
    pair.run(31 * SECOND_PS)
    expect(pair.server.types()).toEqual(["request", "delayed", "established"])
  })
})

describe("close", () => {
  it("tells the peer, in each state, what it has to know", () => {
    const asked = new Pair()
    asked.do(asked.server, { type: "listen", serviceId: service })
    const id = asked.do(asked.client, connect)
    asked.run(1e9)
    asked.do(asked.client, { type: "close", id })
    asked.run()
    // The server has not said an id: it is found by the GUID.
    expect(asked.server.last("rejected").reason).toBe(RejectCode.Timeout)
    expect([asked.client.cm.size, asked.server.cm.size]).toEqual([0, 0])

    const waiting = new Pair()
    waiting.do(waiting.server, { type: "listen", serviceId: service })
    waiting.do(waiting.client, connect)
    waiting.run(1e9)
    waiting.do(waiting.server, { type: "close", id: waiting.server.last("request").id })
    waiting.run()
    expect(waiting.client.last("rejected").reason).toBe(RejectCode.Consumer)

    const established = new Pair()
    const { client, server } = established.establish()
    established.server.react = (event) => {
      if (event.type === "disconnectRequested") established.do(established.server, { type: "disconnect", id: server })
    }
    established.do(established.client, { type: "close", id: client })
    established.run()
    expect(established.client.types()).toEqual(["reply"])
    expect(established.server.types().slice(2)).toEqual(["disconnectRequested", "timewaitEnded"])
    expect([established.client.cm.size, established.server.cm.size]).toEqual([0, 0])
  })

  it("answers a peer that wants to end what the program has left", () => {
    const pair = new Pair()
    const { client, server } = pair.establish()
    pair.do(pair.server, { type: "close", id: server })
    pair.do(pair.client, { type: "close", id: client })
    pair.run()
    expect([pair.client.cm.size, pair.server.cm.size]).toEqual([0, 0])
    expect(pair.client.types()).toEqual(["reply"])
  })

  it("of a listener refuses further requests; of an id that has ended does nothing", () => {
    const pair = new Pair()
    const listener = pair.do(pair.server, { type: "listen", serviceId: service })
    pair.do(pair.server, { type: "close", id: listener })
    pair.do(pair.server, { type: "close", id: listener })
    pair.do(pair.client, connect)
    pair.run()
    expect(pair.client.last("rejected").reason).toBe(RejectCode.InvalidServiceId)
    pair.do(pair.server, { type: "listen", serviceId: service })
  })
})

it("a request that is ignored is asked for again, and is a new one", () => {
  const pair = new Pair()
  pair.do(pair.server, { type: "listen", serviceId: service })
  pair.do(pair.client, connect)
  pair.run(1e9)
  pair.do(pair.server, { type: "ignore", id: pair.server.last("request").id })
  expect(pair.server.cm.open).toBe(0)
  pair.run(8 * SECOND_PS)
  expect(kinds(pair)).toEqual(["request", "request"])
  expect(pair.server.types()).toEqual(["request", "request"])
})

describe("commands that cannot be", () => {
  const pair = new Pair()
  const { client } = pair.establish()
  const { cm } = pair.client
  const reasonOf = (command: Parameters<typeof cm.command>[1]): string => {
    const result = cm.command(pair.now, command)
    return result.ok ? "done" : result.reason
  }

  it("are refused with the reason, and nothing is sent", () => {
    const sent = cm.counters.sent
    expect(reasonOf({ type: "ready", id: client })).toBe("state")
    expect(reasonOf({ ...accept, id: client })).toBe("state")
    expect(reasonOf({ type: "ready", id: 1 })).toBe("id")
    expect(reasonOf({ ...connect, privateData: new Uint8Array(57) })).toBe("value")
    expect(reasonOf({ ...connect, qpn: 2 ** 24 })).toBe("value")
    expect(reasonOf({ ...connect, route: { ...connect.route, mtuBytes: 1500 } })).toBe("value")
    expect(reasonOf({ ...connect, rnrRetries: 8 })).toBe("value")
    expect(reasonOf({ type: "disconnect", id: client, privateData: new Uint8Array(221) })).toBe("value")
    expect(cm.counters.sent).toBe(sent)
    expect(cm.size).toBe(1)
    expect(reasonOf({ type: "listen", serviceId: 5n })).toBe("done")
    expect(reasonOf({ type: "listen", serviceId: 5n })).toBe("service")
  })

  it("say what, where and what to do", () => {
    const result = cm.command(pair.now, { type: "ready", id: client })
    if (result.ok) throw new Error("done")
    expect(result.message).toBe(
      `cm: ready of id ${client} in state established, expected replyReceived or replyDelaySent`,
    )
  })
})

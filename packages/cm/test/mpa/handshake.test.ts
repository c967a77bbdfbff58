import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  CarriedOpening,
  type MpaAgreement,
  MpaError,
  type MpaEvent,
  MpaHandshake,
  type MpaParameters,
} from "../../src/mpa/index.ts"

const text = (value: string): Uint8Array => new TextEncoder().encode(value)
const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")
const S = 1e12

const iwarp = (more: Partial<Extract<MpaParameters, { dialect: "iwarp" }>> = {}): MpaParameters => ({
  dialect: "iwarp",
  markers: false,
  crc: false,
  enhanced: undefined,
  ...more,
})
const erdma = (congestionControl: number, cookie = 7): MpaParameters => ({
  dialect: "erdma",
  cookie,
  congestionControl,
})
const enhanced = (
  inboundReads: number,
  outboundReads: number,
  ready: ReadonlyArray<"send" | "write" | "read"> = [],
) => ({
  inboundReads,
  outboundReads,
  peerToPeer: ready.length > 0,
  readyBySend: ready.includes("send"),
  readyByWrite: ready.includes("write"),
  readyByRead: ready.includes("read"),
})

const eventsOf = (machine: MpaHandshake): ReadonlyArray<MpaEvent> => {
  const events: Array<MpaEvent> = []
  for (let event = machine.pollEvent(); event !== undefined; event = machine.pollEvent()) events.push(event)
  return events
}

const octetsOf = (machine: MpaHandshake): Uint8Array => {
  const parts: Array<number> = []
  for (let part = machine.pollTransmit(); part !== undefined; part = machine.pollTransmit()) parts.push(...part)
  return Uint8Array.from(parts)
}

/** Hands octets over in pieces of so many. */
const hand = (machine: MpaHandshake, octets: Uint8Array, piece = octets.length): void => {
  for (let at = 0; at < octets.length; at += piece) machine.handleOctets(0, octets.subarray(at, at + piece))
}

/** A request that is accepted: what each side was told. */
const connect = (ours: MpaParameters, theirs: MpaParameters, piece?: number) => {
  const left = new MpaHandshake(0, { role: "initiator", parameters: ours, privateData: text("hello") })
  const right = new MpaHandshake(0, { role: "responder", parameters: theirs })
  const request = octetsOf(left)
  hand(right, request, piece)
  const asked = eventsOf(right)
  if (asked[0]?.type === "request") right.accept(0, text("welcome"))
  const reply = octetsOf(right)
  hand(left, reply, piece)
  return { request, reply, asked, right: eventsOf(right), left: eventsOf(left), machines: [left, right] as const }
}

const agreementOf = (events: ReadonlyArray<MpaEvent>): MpaAgreement => {
  const [event] = events
  if (event?.type !== "established") throw new Error(`not established: ${JSON.stringify(events)}`)
  return event.agreement
}

describe("a connection of iWARP", () => {
  it("is a request, a reply, and private data both ways; in whatever pieces they come", () => {
    for (const piece of [undefined, 1, 7, 19]) {
      const { asked, left, right, machines } = connect(iwarp(), iwarp(), piece)
      expect(asked).toEqual([{ type: "request", peer: iwarp(), privateData: text("hello") }])
      expect(left).toMatchObject([{ type: "established", privateData: text("welcome"), rest: new Uint8Array(0) }])
      expect(right).toMatchObject([{ type: "established", privateData: text("hello") }])
      expect(machines.map(({ nextTimeout }) => nextTimeout)).toEqual([Infinity, Infinity])
    }
  })

  it("has a CRC when either side wants one, and markers in what comes to the one that wants them (RFC 5044 §7.1)", () => {
    for (const markers of [false, true]) {
      for (const crc of [false, true]) {
        const { left, right } = connect(iwarp({ markers }), iwarp({ crc }))
        expect(agreementOf(left)).toMatchObject({ markersReceived: markers, markersSent: false, crc })
        expect(agreementOf(right)).toMatchObject({ markersReceived: false, markersSent: markers, crc })
      }
    }
  })

  it("agrees on READs: no side starts more than the other holds (RFC 6581 §9)", () => {
    const { left, right } = connect(iwarp({ enhanced: enhanced(4, 32) }), iwarp({ enhanced: enhanced(16, 8) }))
    expect(agreementOf(left)).toMatchObject({ outboundReads: 16, inboundReads: 4 })
    expect(agreementOf(right)).toMatchObject({ outboundReads: 4, inboundReads: 16 })
    const open = connect(iwarp({ enhanced: enhanced(0x3fff, 0x3fff) }), iwarp({ enhanced: enhanced(16, 8) }))
    expect(agreementOf(open.right)).toMatchObject({ outboundReads: 8, inboundReads: 16 })
  })

  it("peer to peer: a kind of ready-to-receive that both have, and none otherwise", () => {
    const both = connect(
      iwarp({ enhanced: enhanced(4, 4, ["send", "read"]) }),
      iwarp({ enhanced: enhanced(4, 4, ["send", "write", "read"]) }),
    )
    expect([agreementOf(both.left).ready, agreementOf(both.right).ready]).toEqual(["send", "send"])
    const neither = connect(
      iwarp({ enhanced: enhanced(4, 4, ["send"]) }),
      iwarp({ enhanced: enhanced(4, 4, ["write"]) }),
    )
    expect(neither.left).toMatchObject([{ type: "rejected" }])
    expect(neither.asked).toMatchObject([{ type: "failed", reason: "unsupported" }])
    const one = connect(iwarp({ enhanced: enhanced(4, 4) }), iwarp({ enhanced: enhanced(4, 4, ["write"]) }))
    expect(agreementOf(one.left).ready).toBeUndefined()
  })

  it("gives out what came behind the reply", () => {
    const left = new MpaHandshake(0, { role: "initiator", parameters: iwarp() })
    const right = new MpaHandshake(0, { role: "responder", parameters: iwarp() })
    hand(right, octetsOf(left))
    right.accept(0)
    hand(left, Uint8Array.of(...octetsOf(right), 1, 2, 3))
    expect(eventsOf(left)).toMatchObject([{ type: "established", rest: Uint8Array.of(1, 2, 3) }])
  })
})

describe("a connection of eRDMA", () => {
  it("opens with revision 129 and its extension", () => {
    const { request, reply } = connect(erdma(2, 0x01020304), erdma(2, 0x05060708))
    const key = hex(text("MPA ID Req Frame"))
    expect(hex(request)).toBe(`${key}0081000501020304${"00000002"}${hex(text("hello"))}`)
    expect(hex(reply)).toBe(`${hex(text("MPA ID Rep Frame"))}0081000705060708${"00000002"}${hex(text("welcome"))}`)
  })

  it("has the congestion control that both ask for, and CUBIC where they differ; both know it", () => {
    for (const [ours, theirs, expected] of [
      [2, 2, 2],
      [4, 4, 4],
      [2, 4, 1],
      [0, 1, 1],
    ] as const) {
      const { left, right } = connect(erdma(ours, 11), erdma(theirs, 22))
      expect(agreementOf(left)).toMatchObject({ congestionControl: expected, peerCookie: 22 })
      expect(agreementOf(right)).toMatchObject({ congestionControl: expected, peerCookie: 11 })
    }
  })

  it("refuses markers and CRCs, as the driver does", () => {
    const right = new MpaHandshake(0, { role: "responder", parameters: erdma(1) })
    const request = octetsOf(new MpaHandshake(0, { role: "initiator", parameters: erdma(1) }))
    request[16] = 0x40
    hand(right, request)
    expect(eventsOf(right)).toMatchObject([{ type: "failed", reason: "unsupported" }])
    expect(octetsOf(right)[16]).toBe(0x20)
  })

  it("and plain iWARP do not understand each other: the responder says no, and why is told", () => {
    for (const [ours, theirs] of [
      [iwarp(), erdma(1)],
      [erdma(1), iwarp()],
    ] as const) {
      const { asked, left } = connect(ours, theirs)
      expect(asked).toMatchObject([{ type: "failed", reason: "revision" }])
      expect(left).toMatchObject([{ type: "failed", reason: "revision" }])
    }
  })
})

describe("what goes wrong", () => {
  it("a request that is rejected, with private data", () => {
    const left = new MpaHandshake(0, { role: "initiator", parameters: iwarp() })
    const right = new MpaHandshake(0, { role: "responder", parameters: iwarp() })
    hand(right, octetsOf(left))
    right.reject(0, text("busy"))
    hand(left, octetsOf(right))
    expect(eventsOf(left)).toEqual([{ type: "rejected", privateData: text("busy") }])
    expect(() => right.accept(0)).toThrow(MpaError)
  })

  it("nobody answers: after 10 s; the responder's consumer may take his time", () => {
    const left = new MpaHandshake(5 * S, { role: "initiator", parameters: iwarp() })
    const right = new MpaHandshake(0, { role: "responder", parameters: iwarp(), timeoutPs: S })
    expect([left.nextTimeout, right.nextTimeout]).toEqual([15 * S, S])
    left.handleTimeout(14 * S)
    expect(eventsOf(left)).toEqual([])
    left.handleTimeout(15 * S)
    expect(eventsOf(left)).toMatchObject([{ type: "failed", reason: "timeout" }])
    hand(right, octetsOf(left))
    expect(right.nextTimeout).toBe(Infinity)
    const alone = new MpaHandshake(0, { role: "responder", parameters: iwarp(), timeoutPs: S })
    alone.handleTimeout(S)
    expect(eventsOf(alone)).toMatchObject([{ type: "failed", reason: "timeout", message: "no request came in time" }])
  })

  it("octets before the answer (RFC 5044 §7.1.2), a stream that closes, a frame of the wrong kind", () => {
    const request = octetsOf(new MpaHandshake(0, { role: "initiator", parameters: iwarp() }))
    const make = (role: "initiator" | "responder") => new MpaHandshake(0, { role, parameters: iwarp() })
    const early = make("responder")
    hand(early, Uint8Array.of(...request, 9))
    const late = make("responder")
    hand(late, request)
    hand(late, Uint8Array.of(9))
    const closed = make("initiator")
    closed.handleClose(0)
    const confused = make("initiator")
    hand(confused, request)
    const reply = make("responder")
    hand(reply, Uint8Array.of(...text("MPA ID Rep Frame"), 0, 1, 0, 0))
    const reasons = [early, late, closed, confused, reply].map((each) => {
      const last = eventsOf(each).at(-1)
      return last?.type === "failed" ? last.reason : last?.type
    })
    expect(reasons).toEqual(["early-data", "early-data", "closed", "format", "format"])
  })

  it("a responder that would start more READs than there is room for", () => {
    const left = new MpaHandshake(0, { role: "initiator", parameters: iwarp({ enhanced: enhanced(4, 4) }) })
    octetsOf(left)
    const right = new MpaHandshake(0, { role: "initiator", parameters: iwarp({ enhanced: enhanced(8, 8) }) })
    const reply = octetsOf(right)
    reply.set(text("MPA ID Rep Frame"))
    hand(left, reply)
    expect(eventsOf(left)).toMatchObject([{ type: "failed", reason: "reads" }])
  })

  it("a responder may take fewer READs than it offers", () => {
    const left = new MpaHandshake(0, {
      role: "initiator",
      parameters: iwarp({ enhanced: enhanced(16, 16, ["write"]) }),
    })
    const right = new MpaHandshake(0, {
      role: "responder",
      parameters: iwarp({ enhanced: enhanced(16, 16, ["write"]) }),
    })
    hand(right, octetsOf(left))
    right.accept(0, undefined, { inboundReads: 3, outboundReads: 2 })
    hand(left, octetsOf(right))
    expect(eventsOf(right).at(-1)).toMatchObject({ agreement: { inboundReads: 3, outboundReads: 2 } })
    expect(eventsOf(left)).toMatchObject([{ agreement: { inboundReads: 2, outboundReads: 3, ready: "write" } }])
  })

  it("eRDMA's frames go through private data that is filled up with zeros", () => {
    const left = new CarriedOpening({ cookie: 1, congestionControl: 2 })
    const right = new CarriedOpening({ cookie: 2, congestionControl: 3 })
    const filled = (octets: Uint8Array, bytes: number) => Uint8Array.from({ length: bytes }, (_, at) => octets[at] ?? 0)
    expect(right.take(0, filled(left.ask(0, text("hello")), 56))).toEqual(text("hello"))
    expect(left.takeAnswer(0, filled(right.accept(0, text("there")), 196))).toEqual(text("there"))
    expect([left, right].map(({ agreement }) => [agreement?.congestionControl, agreement?.peerCookie])).toEqual([
      [1, 2],
      [1, 1],
    ])
  })

  it("private data that is no frame of eRDMA's is none, and nothing throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 196 }), fc.boolean(), (octets, marked) => {
        const given = marked ? Uint8Array.of(...text("MPA ID Req Frame"), ...octets) : octets
        const asked = new CarriedOpening({ cookie: 1, congestionControl: 2 })
        asked.ask(0, text(""))
        expect(asked.takeAnswer(0, given)).toBeUndefined()
        const taken = new CarriedOpening({ cookie: 1, congestionControl: 2 }).take(0, given)
        if (!marked) expect(taken).toBeUndefined()
      }),
    )
  })

  it("too much private data, and answers to nothing, are the caller's", () => {
    const much = new Uint8Array(513)
    const options = { role: "initiator", parameters: iwarp(), privateData: much } as const
    expect(() => new MpaHandshake(0, options)).toThrow(MpaError)
    const both = { ...options, parameters: iwarp({ enhanced: enhanced(1, 1) }), privateData: much.subarray(0, 509) }
    expect(() => new MpaHandshake(0, both)).toThrow(MpaError)
    expect(() => new MpaHandshake(0, { role: "responder", parameters: iwarp() }).reject(0)).toThrow(MpaError)
  })

  it("whatever comes is answered by one end at most, and nothing throws", () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 })
    const parameters = fc.constantFrom<MpaParameters>(iwarp(), erdma(2), iwarp({ enhanced: enhanced(4, 4, ["write"]) }))
    const begins = fc.constantFrom(text(""), text("MPA ID Req Frame"), text("MPA ID Rep Frame"))
    fc.assert(
      fc.property(
        pieces,
        parameters,
        fc.constantFrom("initiator" as const, "responder" as const),
        begins,
        (all, own, role, first) => {
          const machine = new MpaHandshake(0, { role, parameters: own })
          machine.handleOctets(0, first)
          for (const each of all) machine.handleOctets(0, each)
          machine.handleClose(0)
          machine.handleTimeout(20 * S)
          const ends = eventsOf(machine).filter(({ type }) => type !== "request")
          expect(ends.length).toBeLessThanOrEqual(1)
        },
      ),
    )
  })
})

import { BASE, LOCAL_KEY, REMOTE_KEY, TestMemory, WINDOW_KEY } from "@rdmakit/conformance"
import { Access, QpState, type SendRequest, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { Random } from "@rdmakit/units"
import { FPDU_CRC_BYTES, FpduFramer } from "@rdmakit/wire/mpa"
import { emitRdmap, parseRdmap, type Rdmap, rdmapBytes, terminateText } from "@rdmakit/wire/rdmap"
import { describe, expect, it } from "vitest"
import { Cause, type IwarpQueuePair } from "../src/index.ts"
import { bring, engineOf, iwarpPair, pattern, remote, sge } from "./pair.ts"

/** A queue pair that an adversary talks to. */
const victim = (crc = true) => {
  const memory = new TestMemory(4096)
  const engine = engineOf(1, memory)
  bring(engine, { responderResources: 2 })
  engine.attach(0, { initiator: false, crc, markers: false, ready: false })
  return { memory, engine, framer: new FpduFramer({ crc, markers: false }) }
}

const octetsOf = (header: Rdmap, payload: Uint8Array = new Uint8Array(0)): Uint8Array => {
  const octets = new Uint8Array(rdmapBytes(header) + payload.length)
  emitRdmap(header, octets)
  octets.set(payload, rdmapBytes(header))
  return octets
}

/** What a queue pair says last, in words; undefined: nothing. */
const lastWords = (engine: IwarpQueuePair): string | undefined => {
  let words: string | undefined
  for (let unit = engine.pollOctets(0); unit !== undefined; unit = engine.pollOctets(0)) {
    const parsed = parseRdmap(unit, 2, unit.length - FPDU_CRC_BYTES)
    if (parsed.ok && parsed.value.kind === "terminate") words = terminateText(parsed.value.terminate)
  }
  return words
}

/** How a queue pair answers a segment. */
const answerTo = (ulpdu: Uint8Array, prepare: (engine: IwarpQueuePair, memory: TestMemory) => void = () => {}) => {
  const { engine, memory, framer } = victim()
  prepare(engine, memory)
  engine.handleOctets(0, framer.frame(ulpdu))
  expect(engine.state).toBe(QpState.Err)
  const words = lastWords(engine)
  expect(engine.over).toBe(true)
  return words
}

const send = (fields: Partial<Extract<Rdmap, { kind: "send" }>> = {}): Rdmap => ({
  kind: "send",
  last: true,
  messageSequence: 1,
  messageOffset: 0,
  solicited: false,
  invalidatedStag: undefined,
  ...fields,
})
const write = (sinkStag: number, offset: bigint | number): Rdmap => ({
  kind: "write",
  last: true,
  sinkStag,
  sinkOffset: BigInt(offset),
})
const readRequest = (sourceStag: number, offset: number, bytes: number): Rdmap => ({
  kind: "readRequest",
  last: true,
  messageSequence: 1,
  sinkStag: 7,
  sinkOffset: 0n,
  bytes,
  sourceStag,
  sourceOffset: BigInt(offset),
})
const receiveOf = (bytes: number) => (engine: IwarpQueuePair) =>
  engine.command(0, { type: "receive", request: { id: 9, sges: [sge(0, bytes)] } })
const withRights = (rights: number) => (_: IwarpQueuePair, memory: TestMemory) =>
  void memory.rights.set(REMOTE_KEY, rights)
const spoiled = (header: Rdmap, at: number, value: number): Uint8Array => {
  const octets = octetsOf(header)
  octets[at] = value
  return octets
}

describe("what a peer does wrong is told by a Terminate", () => {
  it.each<[string, Uint8Array, string, Parameters<typeof answerTo>[1]?]>([
    [
      "a WRITE to a key that is none",
      octetsOf(write(0x999, BASE), pattern(1)),
      "DDP: tagged buffer error: invalid STag",
    ],
    [
      "a WRITE past the end",
      octetsOf(write(REMOTE_KEY, BASE + 4095), pattern(2)),
      "DDP: tagged buffer error: base or bounds violation",
    ],
    [
      "a WRITE past all addresses",
      octetsOf(write(REMOTE_KEY, 2n ** 64n - 1n), pattern(2)),
      "DDP: tagged buffer error: tagged offset wrap",
    ],
    [
      "a WRITE where nobody may",
      octetsOf(write(REMOTE_KEY, BASE), pattern(2)),
      "RDMAP: remote protection error: access rights violation",
      withRights(Access.RemoteRead),
    ],
    ["a SEND without a receive", octetsOf(send()), "DDP: untagged buffer error: no buffer available"],
    [
      "a SEND that is too long",
      octetsOf(send(), pattern(11)),
      "DDP: untagged buffer error: message too long for the buffer",
      receiveOf(10),
    ],
    [
      "a SEND out of turn",
      octetsOf(send({ messageSequence: 2 })),
      "DDP: untagged buffer error: message sequence number out of range",
      receiveOf(10),
    ],
    [
      "a SEND with a hole in it",
      octetsOf(send({ messageOffset: 4 })),
      "DDP: untagged buffer error: invalid message offset",
      receiveOf(10),
    ],
    [
      "an invalidate of a key that is none",
      octetsOf(send({ invalidatedStag: 0x777 })),
      "RDMAP: remote protection error: STag cannot be invalidated",
      receiveOf(10),
    ],
    [
      "a READ of a key that is none",
      octetsOf(readRequest(0x999, BASE, 4)),
      "RDMAP: remote protection error: invalid STag",
    ],
    [
      "a READ past the end",
      octetsOf(readRequest(REMOTE_KEY, BASE, 5000)),
      "RDMAP: remote protection error: base or bounds violation",
    ],
    [
      "a response that nobody waits for",
      octetsOf({ kind: "readResponse", last: true, sinkStag: LOCAL_KEY, sinkOffset: BigInt(BASE) }, pattern(3)),
      "RDMAP: remote operation error: unexpected opcode",
    ],
    ["DDP of another version, tagged", spoiled(write(1, 0), 0, 0xc2), "DDP: tagged buffer error: invalid DDP version"],
    ["DDP of another version", spoiled(send(), 0, 0x40), "DDP: untagged buffer error: invalid DDP version"],
    ["RDMAP of another version", spoiled(send(), 1, 0x83), "RDMAP: remote operation error: invalid RDMAP version"],
    ["an opcode that is none", spoiled(send(), 1, 0x4c), "RDMAP: remote operation error: unexpected opcode"],
    ["a SEND that is tagged", spoiled(write(1, 0), 1, 0x43), "RDMAP: remote operation error: unexpected opcode"],
    ["a queue that is none", spoiled(send(), 9, 5), "DDP: untagged buffer error: invalid queue number"],
  ])("%s", (_, ulpdu, words, prepare) => {
    expect(answerTo(ulpdu, prepare)).toBe(words)
  })

  it("an answer of another kind than what is awaited", () => {
    const read = { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)] }
    const atomic = { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(0, 8)], compareAdd: 1n }
    const sink = { sinkStag: LOCAL_KEY, sinkOffset: BigInt(BASE) }
    for (const [request, answer] of [
      [read, octetsOf({ kind: "atomicResponse", last: true, messageSequence: 1, requestId: 1, original: 7n })],
      [atomic, octetsOf({ kind: "readResponse", last: true, ...sink }, pattern(8))],
    ] as const) {
      const { engine, memory, framer } = victim()
      // It has been spoken to, so that it may speak.
      receiveOf(10)(engine)
      engine.handleOctets(0, framer.frame(octetsOf(send())))
      engine.command(0, { type: "modify", state: QpState.Rts, settings: { initiatorDepth: 1 } })
      engine.command(0, { type: "send", request: { id: 1, signaled: true, ...request, ...remote(0) } })
      while (engine.pollOctets(0) !== undefined) {}
      engine.handleOctets(0, framer.frame(answer))
      expect(memory.octets.subarray(0, 8)).toEqual(new Uint8Array(8))
      expect(lastWords(engine)).toBe("RDMAP: remote operation error: unexpected opcode")
    }
  })

  it("one READ more than was agreed on", () => {
    const { engine, framer } = victim()
    for (const messageSequence of [1, 2, 3])
      engine.handleOctets(0, framer.frame(octetsOf({ ...readRequest(REMOTE_KEY, BASE, 4), messageSequence } as Rdmap)))
    expect(lastWords(engine)).toBe("RDMAP: remote operation error: unspecified error")
  })

  it("a CRC that is wrong, whose unit is not looked at", () => {
    const { engine, memory, framer } = victim()
    const unit = framer.frame(octetsOf(write(REMOTE_KEY, BASE), pattern(100)))
    unit[50]! ^= 1
    engine.handleOctets(0, unit)
    expect(memory.remoteBytes).toBe(0)
    expect(lastWords(engine)).toBe("MPA: MPA error: CRC of MPA wrong")
  })

  it("a length that is none", () => {
    const { engine } = victim()
    engine.handleOctets(0, Uint8Array.of(0, 13, 0xc1, 0x40))
    expect(lastWords(engine)).toBe("MPA: MPA error: marker and ULPDU length do not agree")
    expect(Cause.Length).toBe(0x2003)
  })
})

describe("what a Terminate does to its receiver", () => {
  const outcome = (request: Partial<SendRequest>) => {
    const pair = iwarpPair()
    pair.receive(0, sge(0, 10))
    const good = pair.send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 4)], ...remote(0) })
    const bad = pair.send(0, request)
    const later = pair.send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 4)], ...remote(0) })
    pair.run()
    const names = (told: string): string =>
      told.replace(/^\d+/, (id) => ["good", "bad", "later"][[good, bad, later].indexOf(Number(id))] ?? "receive")
    return {
      sends: pair.told(0, "send").map(names),
      receives: pair.told(0, "receive").map(names),
      events: [pair.asyncEvents(0), pair.asyncEvents(1)],
      states: pair.ends.map(({ state }) => state),
    }
  }

  it("a READ that is refused fails as itself, and all behind it is flushed", () => {
    expect(outcome({ opcode: WrOpcode.RdmaRead, sges: [sge(0, 4)], ...remote(0, 0x999) })).toEqual({
      sends: ["good Success", "bad RemAccessErr", "later WrFlushErr"],
      receives: ["receive WrFlushErr"],
      events: [["QP_ACCESS_ERR"], ["QP_FATAL"]],
      states: [QpState.Err, QpState.Err],
    })
  })

  it("an atomic too", () => {
    const atomic = { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(0, 8)], compareAdd: 1n, ...remote(4) }
    expect(outcome(atomic).sends).toEqual(["good Success", "bad RemAccessErr", "later WrFlushErr"])
  })

  it("a WRITE is done by then: an event tells", () => {
    const { sends, events } = outcome({ opcode: WrOpcode.RdmaWrite, inline: pattern(4), ...remote(0, 0x999) })
    expect(sends[1]).toBe("bad Success")
    expect(events[0]).toEqual(["QP_ACCESS_ERR"])
  })

  it("a send whose own memory is wrong ends the connection from this side", () => {
    const { sends, events } = outcome({ sges: [sge(0, 4, WINDOW_KEY)] })
    expect(sends).toEqual(["good Success", "bad LocProtErr", "later WrFlushErr"])
    expect(events[1]).toEqual(["QP_FATAL"])
  })
})

it("the end of the stream flushes both queues", () => {
  const { ends, run, send, receive, told } = iwarpPair()
  receive(0, sge(0, 1))
  run()
  send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 4)], ...remote(0) })
  ends[0].handleClosed(0)
  run()
  expect(told(0, "send")).toEqual([expect.stringMatching(/WrFlushErr$/)])
  expect(told(0, "receive")).toEqual([expect.stringMatching(/WrFlushErr$/)])
})

describe("a queue pair that waits for a stream in vain", () => {
  const waiting = (state: QpState): IwarpQueuePair => {
    const engine = engineOf(0, new TestMemory(4096))
    if (state >= QpState.Rtr) bring(engine, {}, state)
    engine.command(0, { type: "receive", request: { id: 1, sges: [] } })
    return engine
  }
  const told = (engine: IwarpQueuePair): ReadonlyArray<unknown> => {
    const all: Array<unknown> = []
    for (let event = engine.pollEvent(); event !== undefined; event = engine.pollEvent()) {
      if (event.type === "async") all.push(event.event)
      if (event.type === "completion") all.push([event.queue, event.completion.id, event.completion.status])
    }
    return all
  }

  it.each([QpState.Rtr, QpState.Rts])("fails in state %d, and its work comes back", (state) => {
    const engine = waiting(state)
    engine.handleUnreachable(0)
    expect([engine.state, told(engine)]).toEqual([QpState.Err, ["QP_FATAL", ["receive", 1, WcStatus.WrFlushErr]]])
    engine.handleUnreachable(0)
    expect(told(engine)).toEqual([])
  })

  it("does not fail before it waits, nor once it has one", () => {
    const reset = waiting(QpState.Reset)
    reset.handleUnreachable(0)
    expect([reset.state, told(reset)]).toEqual([QpState.Reset, []])
    const connected = waiting(QpState.Rts)
    connected.attach(0, { initiator: true, crc: true, markers: false, ready: false })
    connected.handleUnreachable(0)
    expect([connected.state, told(connected)]).toEqual([QpState.Rts, []])
  })
})

describe("hostile streams", () => {
  it("of 200 seeds end with a Terminate or go on, and never throw", () => {
    let reached = 0
    for (let seed = 0; seed < 200; seed++) {
      const random = new Random(seed, 99)
      const crc = random.int(2) === 0
      const { engine, framer, memory } = victim(crc)
      receiveOf(2000)(engine)
      const pieces: Array<Uint8Array> = []
      for (let unit = 0; unit < 20; unit++) {
        const payload = pattern(random.int(300))
        const offset = BASE + random.int(4096)
        const good = [
          octetsOf(write(REMOTE_KEY, offset), payload),
          octetsOf({
            ...readRequest(REMOTE_KEY, offset, random.int(100)),
            messageSequence: 1 + random.int(3),
          } as Rdmap),
          octetsOf(
            send({ messageSequence: 1 + random.int(2), messageOffset: random.int(2) * random.int(50) }),
            payload,
          ),
        ][random.int(3)]!
        const spoil = random.int(4)
        if (spoil === 0) good[random.int(good.length)] = random.int(256)
        const framed = framer.frame(good)
        if (spoil === 1) framed[random.int(framed.length)] = random.int(256)
        pieces.push(framed)
        if (spoil === 2) pieces.push(Uint8Array.from({ length: random.int(40) }, () => random.int(256)))
      }
      const stream = Buffer.concat(pieces)
      for (let at = 0; at < stream.length; ) {
        const bytes = 1 + random.int(500)
        engine.handleOctets(0, stream.subarray(at, at + bytes))
        while (engine.pollOctets(0) !== undefined) {}
        at += bytes
      }
      engine.handleClosed(0)
      expect(engine.state, `seed ${seed}`).toBe(QpState.Err)
      expect(engine.pollOctets(0), `seed ${seed}`).toBeUndefined()
      expect(engine.receiveOutstanding, `seed ${seed}`).toBe(0)
      if (memory.remoteBytes > 0) reached++
    }
    expect(reached).toBeGreaterThan(20)
  })
})

it("options that cannot be are refused", () => {
  expect(() => engineOf(0, new TestMemory(1), { segmentBytes: 0 })).toThrow(
    "iwarp: segmentBytes is 0, expected an integer of 1 to 65000",
  )
})

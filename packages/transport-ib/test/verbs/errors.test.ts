import { Layout, Packet } from "@rdmakit/packet"
import { Access, QpState, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { BASE, LOCAL_KEY, REMOTE_KEY } from "./memory.ts"
import { remote, type Setup, sge, verbsPair } from "./pair.ts"

/** Posts one request, and receives that wait in front of and behind it; what comes of it on both sides. */
const outcome = (
  request: Parameters<ReturnType<typeof verbsPair>["send"]>[1],
  { receiveBytes = 1000, ...setup }: Setup & { readonly receiveBytes?: number } = {},
) => {
  const all = verbsPair(setup)
  const { ends, receive, send, pair, completions, asyncEvents, memories } = all
  receive(1, sge(8000, receiveBytes))
  receive(1, sge(9000, receiveBytes))
  const before = memories[1].slice(BASE, 65_536)
  send(0, request)
  send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0), signaled: false })
  receive(0, sge(0, 8))
  pair.run()
  return {
    ...all,
    requester: [...completions(0, "send"), ...completions(0, "receive")].map(({ status }) => status),
    responder: completions(1, "receive").map(({ status }) => status),
    states: [ends[0].state, ends[1].state],
    events: asyncEvents(1),
    untouched: memories[1].slice(BASE, 65_536).every((octet, at) => octet === before[at]),
  }
}

/** A pair whose work is posted past the pair: nothing is sent by itself. */
const posted = () => {
  const all = verbsPair()
  return {
    ...all,
    command: (end: 0 | 1) =>
      all.ends[end].command(0, { type: "send", request: { id: 1, signaled: true, ...write, ...remote(0) } }),
  }
}

const { Success, WrFlushErr, LocLenErr, LocProtErr, RemAccessErr, RemInvReqErr, RemOpErr, LocQpOpErr } = WcStatus
const { Err, Rts } = QpState
const write = { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 600)] }

describe("errors that the responder finds", () => {
  it.each([
    ["a key that is nobody's", { ...write, ...remote(0), remoteKey: REMOTE_KEY ^ 0x55 }],
    ["lkey for rkey (case B28)", { ...write, ...remote(0), remoteKey: LOCAL_KEY }],
    ["past the region's end", { ...write, ...remote(65_536 - 100) }],
    ["in front of the region", { ...write, remoteAddress: BASE - 1, remoteKey: REMOTE_KEY }],
    ["an address of 64 bits", { ...write, remoteAddress: 0xffff_ffff_ffff_ff00n, remoteKey: REMOTE_KEY }],
    ["a READ past the end", { opcode: WrOpcode.RdmaRead, sges: [sge(0, 4096)], ...remote(65_536 - 100) }],
    ["an atomic past the end", { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(0, 8)], ...remote(65_536) }],
  ])("remote access: %s", (_name, request) => {
    const { requester, responder, states, events, untouched } = outcome(request)
    expect(requester).toEqual([RemAccessErr, WrFlushErr, WrFlushErr])
    expect(responder).toEqual([WrFlushErr, WrFlushErr])
    expect(states).toEqual([Err, Err])
    expect(events).toEqual(["QP_ACCESS_ERR"])
    expect(untouched).toBe(true)
  })

  it("remote access: a region that does not allow it", () => {
    const all = verbsPair()
    all.memories[1].regions.get(REMOTE_KEY)!.access = Access.RemoteRead
    const id = all.send(0, { ...write, ...remote(0) })
    all.pair.run()
    expect(all.told(0, "send")).toEqual([`${id} RemAccessErr`])
  })

  it("remote access: the receive that a WRITE with immediate has taken fails with it", () => {
    const { requester, responder } = outcome({
      opcode: WrOpcode.RdmaWriteWithImm,
      sges: [sge(0, 100)],
      ...remote(0),
      remoteKey: 0xbad,
    })
    expect(requester[0]).toBe(RemAccessErr)
    expect(responder).toEqual([RemAccessErr, WrFlushErr])
  })

  it.each([
    ["WRITE", write, Access.RemoteRead | Access.RemoteAtomic],
    ["READ", { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)] }, Access.RemoteWrite | Access.RemoteAtomic],
    ["atomic", { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(0, 8)] }, Access.RemoteWrite | Access.RemoteRead],
    ["ATOMIC_WRITE", { opcode: WrOpcode.AtomicWrite, sges: [sge(0, 8)] }, Access.RemoteRead | Access.RemoteAtomic],
  ])("invalid request: a queue pair that allows no %s", (_name, request, accessFlags) => {
    const { requester, states, events, untouched } = outcome(
      { ...request, ...remote(0) },
      { settings: { accessFlags } },
    )
    expect(requester).toEqual([RemInvReqErr, WrFlushErr, WrFlushErr])
    expect(states).toEqual([Err, Err])
    expect(events).toEqual(["QP_REQ_ERR"])
    expect(untouched).toBe(true)
  })

  it.each([WrOpcode.AtomicFetchAndAdd, WrOpcode.AtomicCmpAndSwp, WrOpcode.AtomicWrite])(
    "invalid request: a misaligned atomic, request %i",
    (opcode) => {
      const { requester, untouched } = outcome({ opcode, sges: [sge(0, 8)], compareAdd: 1n, ...remote(3) })
      expect(requester[0]).toBe(RemInvReqErr)
      expect(untouched).toBe(true)
    },
  )

  it("invalid request: a READ where there are no responder resources", () => {
    const { requester } = outcome(
      { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) },
      { settings: { responderResources: 0 } },
    )
    expect(requester[0]).toBe(RemInvReqErr)
  })

  it("invalid request: more READs outstanding than there are resources", () => {
    const { ends, pool, completions, receive, asyncEvents, modify } = verbsPair({ settings: { responderResources: 2 } })
    receive(1, sge(0, 8))
    const packet = new Packet(pool)
    // None of them has been answered when the third comes.
    for (let at = 0; at < 3; at++) {
      packet.at(pool.alloc())
      packet.opcode = 0x0c
      packet.psn = 0x100 + at
      packet.setNodes(5, 6)
      const word = packet.extend()
      pool.extension[word + Layout.EXT.partition] = 0xffff
      pool.extension[word + Layout.EXT.remoteAddress + 1] = BASE
      pool.extension[word + Layout.EXT.remoteKey] = REMOTE_KEY
      pool.extension[word + Layout.EXT.dmaLength] = 8
      ends[1].handlePacket(0, packet)
      pool.release(packet.handle)
      expect(ends[1].state).toBe(at < 2 ? Rts : Err)
    }
    modify(1, Err)
    expect(asyncEvents(1)).toEqual(["QP_REQ_ERR"])
    expect(completions(1, "receive").map(({ status }) => status)).toEqual([WrFlushErr])
  })

  it.each([
    [64, 100],
    [300, 600],
    [0, 1],
  ])("a SEND longer than its receive: %i bytes of room, %i sent", (receiveBytes, bytes) => {
    const { requester, responder, states, memories } = outcome({ sges: [sge(0, bytes)] }, { receiveBytes })
    // As two Linux kernels have it: testdata/linux-verbs.
    expect(requester).toEqual([RemOpErr, WrFlushErr, WrFlushErr])
    expect(responder).toEqual([LocQpOpErr, WrFlushErr])
    expect(states).toEqual([Err, Err])
    // Nothing outside of the receive was written.
    const wrote = memories[1].touches.filter(({ what }) => what === "write")
    expect(wrote.every(({ address, bytes: size }) => address + size <= BASE + 8000 + receiveBytes)).toBe(true)
  })

  it("a receive whose memory is not there: remote operational error, and LOC_PROT_ERR at the receive", () => {
    const all = verbsPair()
    const bad = all.receive(1, sge(0, 100, 0xbad))
    const next = all.receive(1, sge(0, 100))
    const id = all.send(0, { sges: [sge(0, 50)] })
    all.pair.run()
    expect(all.told(0, "send")).toEqual([`${id} RemOpErr`])
    expect(all.told(1, "receive")).toEqual([`${bad} LocProtErr`, `${next} WrFlushErr`])
    expect([all.ends[0].state, all.ends[1].state]).toEqual([Err, Err])
    expect(RemOpErr).toBe(11)
  })

  it("what was accepted before the error is still answered", () => {
    const { send, pair, told, said } = verbsPair()
    const read = send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 600)], ...remote(0) })
    const bad = send(0, { ...write, ...remote(0), remoteKey: 0xbad })
    const after = send(0, { ...write, ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${read} Success`, `${bad} RemAccessErr`, `${after} WrFlushErr`])
    expect(said().at(-1)).toBe("< ACK 103")
  })

  it("a region that goes while a READ is answered ends it", () => {
    const { send, pair, told, memories, asyncEvents } = verbsPair({
      onWay: (_packet, { opcode, psn }) => {
        if (opcode === 0x0e && psn === 0x101) memories[1].regions.get(REMOTE_KEY)!.valid = false
      },
    })
    const id = send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 1000)], ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${id} RemAccessErr`])
    expect(asyncEvents(1)).toEqual(["QP_ACCESS_ERR"])
  })
})

describe("errors that the requester finds", () => {
  it.each([
    ["SEND", { sges: [sge(0, 8), sge(0, 8, 0xbad)] }, LocProtErr],
    ["WRITE past the region", { opcode: WrOpcode.RdmaWrite, sges: [sge(65_000, 1000)], ...remote(0) }, LocProtErr],
    ["READ into what is not there", { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8, 0xbad)], ...remote(0) }, LocProtErr],
    ["an rkey for an lkey", { sges: [sge(0, 8, REMOTE_KEY)] }, LocProtErr],
  ])("local protection: %s; nothing of it is sent", (_name, request, status) => {
    const { requester, responder, states, pair } = outcome(request)
    expect(requester).toEqual([status, WrFlushErr, WrFlushErr])
    expect(responder).toEqual([])
    expect(states).toEqual([Err, Rts])
    expect(pair.sent).toEqual([])
  })

  it("what is in front of it completes first", () => {
    const { send, pair, told } = verbsPair()
    const first = send(0, { ...write, ...remote(0) })
    const bad = send(0, { sges: [sge(0, 8, 0xbad)] })
    const after = send(0, { ...write, ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${first} Success`, `${bad} LocProtErr`, `${after} WrFlushErr`])
  })

  it("memory that goes while its message is being sent", () => {
    const { ends, memories, pool, command } = posted()
    command(0)
    const packet = new Packet(pool).at(pool.alloc())
    expect(ends[0].pollTransmit(0, packet)).toBe(true)
    pool.recycle(packet.handle)
    memories[0].regions.get(LOCAL_KEY)!.valid = false
    expect(ends[0].pollTransmit(0, packet)).toBe(false)
    // The packet is as good as fresh, and its payload went back.
    expect([packet.extension, packet.meta, pool.payloads.alive]).toEqual([-1, 0, 0])
    expect(ends[0].pollEvent()).toMatchObject({ completion: { id: 1, status: LocProtErr } })
    expect([ends[0].state, ends[0].nextSend]).toEqual([Err, Number.POSITIVE_INFINITY])
  })

  it("a READ whose memory is read-only fails, before anything is sent", () => {
    const all = verbsPair()
    all.memories[0].regions.get(LOCAL_KEY)!.access = 0
    const id = all.send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) })
    all.pair.run()
    expect(all.told(0, "send")).toEqual([`${id} LocProtErr`])
    expect(all.pair.sent).toEqual([])
  })

  it("a READ where none may be outstanding", () => {
    const { requester } = outcome(
      { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) },
      { settings: { initiatorDepth: 0 } },
    )
    expect(requester[0]).toBe(LocQpOpErr)
  })

  it.each([
    ["a response that is too short", 0x10, 0x100, 7, LocLenErr],
    ["a response that is too long", 0x10, 0x100, 9, LocLenErr],
    ["a first packet where the last is due", 0x0d, 0x100, 8, WcStatus.BadRespErr],
  ])("a response that cannot be: %s", (_name, opcode, psn, bytes, status) => {
    const { send, inject, completions, ends } = verbsPair({ path: () => [] })
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) })
    inject(0, (packet) => {
      packet.opcode = opcode
      packet.psn = psn
      packet.borrowPayload(new Uint8Array(16), 0, bytes)
      packet.pool.extension[packet.extend() + Layout.EXT.aeth] = 0x1f00_0001
    })
    expect(completions(0, "send").map((one) => one.status)).toEqual([status])
    expect(ends[0].state).toBe(Err)
  })
})

describe("flushing (case B32)", () => {
  it("after the first error all work comes back in order, the send queue's first; the first status is the cause", () => {
    const { send, receive, pair, told, ends } = verbsPair()
    const receives = [1, 2, 3].map(() => receive(0, sge(0, 8)))
    const bad = send(0, { ...write, ...remote(0), remoteKey: 0xbad, signaled: false })
    const rest = [1, 2, 3, 4].map(() => send(0, { ...write, ...remote(0), signaled: false }))
    pair.run()
    expect(told(0, "send")).toEqual([`${bad} RemAccessErr`, ...rest.map((id) => `${id} WrFlushErr`)])
    expect(told(0, "receive")).toEqual(receives.map((id) => `${id} WrFlushErr`))
    const order = pair.events.flatMap(({ end, event }) =>
      end === 0 && event.type === "completion" ? [event.queue] : [],
    )
    expect(order).toEqual(["send", "send", "send", "send", "send", "receive", "receive", "receive"])
    expect([ends[0].sendOutstanding, ends[0].receiveOutstanding]).toEqual([0, 0])
  })

  it("a flushed completion says only what means anything", () => {
    const { send, modify, completions } = verbsPair({ path: () => [] })
    const id = send(0, { ...write, ...remote(0) })
    modify(0, Err)
    expect(completions(0, "send")).toEqual([
      {
        id,
        status: WrFlushErr,
        opcode: expect.any(Number),
        byteLength: 0,
        immediate: undefined,
        invalidatedKey: undefined,
        qpn: 0x11,
        sourceQp: 0,
        grh: false,
        vendorError: 0,
      },
    ])
  })

  it("work posted in the error state comes back at once", () => {
    const { send, receive, modify, told, pair } = verbsPair()
    modify(0, Err)
    const sent = send(0, { ...write, ...remote(0) })
    const received = receive(0, sge(0, 8))
    expect(told(0, "send")).toEqual([`${sent} WrFlushErr`])
    expect(told(0, "receive")).toEqual([`${received} WrFlushErr`])
    expect(pair.sent).toEqual([])
  })

  it("a queue pair in the error state neither answers nor hears", () => {
    const { send, modify, pair, told, ends } = verbsPair({ settings: { retryCount: 1 } })
    modify(1, Err)
    const id = send(0, { ...write, ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${id} RetryExcErr`])
    expect(pair.sent.filter(({ from }) => from === 1)).toEqual([])
    expect(ends[1].nextTimeout).toBe(Number.POSITIVE_INFINITY)
  })

  it("a message that is half there is flushed with its receive", () => {
    const { send, receive, modify, pair, told } = verbsPair({ path: ({ psn }) => (psn === 0x101 ? [] : [1e6]) })
    const half = receive(1, sge(0, 1000))
    const other = receive(1, sge(0, 1000))
    send(0, { sges: [sge(0, 600)] })
    pair.run(1.5e6)
    modify(1, Err)
    expect(told(1, "receive")).toEqual([`${half} WrFlushErr`, `${other} WrFlushErr`])
    expect(Success).toBe(0)
  })
})

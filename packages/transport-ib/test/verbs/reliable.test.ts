import { Flag, Layout } from "@rdmakit/packet"
import { Access, QpState, WcOpcode, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { BASE, LOCAL_KEY, REMOTE_KEY, WINDOW_KEY } from "./memory.ts"
import { remote, sge, verbsPair } from "./pair.ts"

const IMMEDIATE = 0x89ab_cdef

describe("SEND and RDMA WRITE over a reliable connection", () => {
  it("a SEND of several packets arrives once, in order, and completes on both sides", () => {
    const { memories, send, receive, pair, completions, said } = verbsPair()
    memories[0].paint(BASE, 600, 1)
    const received = receive(1, sge(1000, 100), sge(3000, 900))
    const sent = send(0, { sges: [sge(0, 250), sge(250, 350)] })
    pair.run()
    expect(said()).toEqual(["> SEND_FIRST 100", "> SEND_MIDDLE 101", "> SEND_LAST 102", "< ACK 102"])
    expect(completions(0, "send")).toMatchObject([
      { id: sent, status: WcStatus.Success, opcode: WcOpcode.Send, byteLength: 600, qpn: 0x11 },
    ])
    expect(completions(1, "receive")).toMatchObject([
      {
        id: received,
        status: WcStatus.Success,
        opcode: WcOpcode.Recv,
        byteLength: 600,
        immediate: undefined,
        qpn: 0x22,
      },
    ])
    const whole = [...memories[1].slice(BASE + 1000, 100), ...memories[1].slice(BASE + 3000, 500)]
    expect(whole).toEqual([...memories[0].slice(BASE, 600)])
  })

  it("what a SEND has no use for is not looked at", () => {
    const { send, receive, pair, completions } = verbsPair()
    receive(1, sge(0, 100))
    send(0, { sges: [sge(0, 8)], immediate: (2n ** 64n) as unknown as number, invalidateKey: Number.NaN })
    pair.run()
    expect(completions(1, "receive")).toMatchObject([{ status: WcStatus.Success, immediate: undefined }])
  })

  it("a WRITE lands in the peer's memory, and tells it nothing", () => {
    const { memories, send, pair, completions, said } = verbsPair()
    memories[0].paint(BASE, 700, 2)
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 700)], ...remote(5000) })
    pair.run()
    expect(said()).toEqual(["> WRITE_FIRST 100", "> WRITE_MIDDLE 101", "> WRITE_LAST 102", "< ACK 102"])
    expect(memories[1].slice(BASE + 5000, 700)).toEqual(memories[0].slice(BASE, 700))
    expect(completions(0, "send")).toMatchObject([{ status: WcStatus.Success, opcode: WcOpcode.RdmaWrite }])
    expect(completions(1, "receive")).toEqual([])
  })

  it.each([
    [WrOpcode.SendWithImm, 100, ["> SEND_ONLY_IMM 100"], WcOpcode.Recv],
    [WrOpcode.SendWithImm, 300, ["> SEND_FIRST 100", "> SEND_LAST_IMM 101"], WcOpcode.Recv],
    [WrOpcode.RdmaWriteWithImm, 100, ["> WRITE_ONLY_IMM 100"], WcOpcode.RecvRdmaWithImm],
    [WrOpcode.RdmaWriteWithImm, 300, ["> WRITE_FIRST 100", "> WRITE_LAST_IMM 101"], WcOpcode.RecvRdmaWithImm],
  ])(
    "immediate data are 32 bits without sign: request %i of %i bytes (case B15)",
    (opcode, bytes, packets, received) => {
      const { send, receive, pair, completions, said } = verbsPair()
      receive(1, sge(0, 1000))
      send(0, { opcode, sges: [sge(0, bytes)], immediate: IMMEDIATE, ...remote(0) })
      pair.run()
      expect(said().slice(0, -1)).toEqual(packets)
      expect(completions(1, "receive")).toMatchObject([{ opcode: received, byteLength: bytes, immediate: 0x89abcdef }])
    },
  )

  it("PSNs wrap after 2^24 - 1 (case B11)", () => {
    const { memories, send, pair, said } = verbsPair({ settings: { sendPsn: 0xfffffe, receivePsn: 0xfffffe } })
    memories[0].paint(BASE, 1024, 3)
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 1024)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(2000, 300)], ...remote(0) })
    pair.run()
    expect(said()).toEqual([
      "> WRITE_FIRST fffffe",
      "> WRITE_MIDDLE ffffff",
      "> WRITE_MIDDLE 0",
      "> WRITE_LAST 1",
      "> READ_REQUEST 2",
      "< ACK 1",
      "< READ_RESPONSE_FIRST 2",
      "< READ_RESPONSE_LAST 3",
    ])
    expect(memories[1].slice(BASE, 1024)).toEqual(memories[0].slice(BASE, 1024))
    expect(memories[0].slice(BASE + 2000, 300)).toEqual(memories[0].slice(BASE, 300))
  })

  it.each([1, 4096, 1_048_577, 2 ** 24])(
    "%i bytes that cross PSN 2^24 arrive whole, each way",
    (bytes) => {
      const settings = { pathMtuBytes: 4096, sendPsn: 0xffffff, receivePsn: 0xffffff }
      const { memories, send, receive, pair, told } = verbsPair({ settings, memoryBytes: 2 ** 25 })
      memories[0].paint(BASE, bytes, 1)
      receive(1, sge(0, bytes))
      send(0, { sges: [sge(0, bytes)] })
      send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, bytes)], ...remote(2 ** 24) })
      send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(2 ** 24, bytes)], ...remote(2 ** 24) })
      pair.run()
      expect(told(0, "send")).toEqual(["2 Success", "3 Success", "4 Success"])
      const painted = memories[0].slice(BASE, bytes)
      for (const copy of [
        memories[1].slice(BASE, bytes),
        memories[1].slice(BASE + 2 ** 24, bytes),
        memories[0].slice(BASE + 2 ** 24, bytes),
      ]) {
        expect(Buffer.compare(copy, painted)).toBe(0)
      }
    },
    60_000,
  )

  it("a message of no bytes takes one packet and one PSN, and its key is not looked at (case B12)", () => {
    const { send, receive, pair, completions, said, told, memories } = verbsPair()
    receive(1)
    const zero = { sges: [], remoteAddress: 1, remoteKey: 0xdead }
    send(0, { opcode: WrOpcode.Send, ...zero })
    send(0, { opcode: WrOpcode.RdmaWrite, ...zero })
    send(0, { opcode: WrOpcode.RdmaRead, ...zero })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 0, 0xbad)], remoteKey: 0 })
    pair.run()
    expect(said().filter((packet) => packet.startsWith(">"))).toEqual([
      "> SEND_ONLY 100",
      "> WRITE_ONLY 101",
      "> READ_REQUEST 102",
      "> WRITE_ONLY 103",
    ])
    expect(told(0, "send")).toEqual(["2 Success", "3 Success", "4 Success", "5 Success"])
    expect(completions(1, "receive")).toMatchObject([{ byteLength: 0, status: WcStatus.Success }])
    expect(memories[1].touches).toEqual([])
  })

  it.each([
    [0, 1],
    [1, 1],
    [1024, 1],
    [1025, 2],
    [40_000, 40],
  ])("%i bytes take %i packets of 1,024, and a READ as many PSNs (case B13)", (bytes, packets) => {
    const { send, pair } = verbsPair({ settings: { pathMtuBytes: 1024 } })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, bytes)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, bytes)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [], ...remote(0) })
    pair.run()
    const requests = pair.sent.filter(({ from }) => from === 0).map(({ psn }) => psn)
    expect(requests).toEqual([...Array.from({ length: packets + 1 }, (_, at) => 0x100 + at), 0x100 + 2 * packets])
  })

  it("inline octets are sent as they were, whatever happens to memory", () => {
    const { memories, send, receive, pair } = verbsPair()
    const inline = Uint8Array.from({ length: 300 }, (_, at) => at * 3)
    receive(1, sge(0, 400))
    send(0, { inline, sges: [] })
    pair.run()
    expect(memories[1].slice(BASE, 300)).toEqual(inline)
    expect(memories[0].touches).toEqual([])
  })

  it("only signaled work completes with a completion, unless all of it is to", () => {
    const quiet = verbsPair()
    quiet.send(0, { opcode: WrOpcode.RdmaWrite, signaled: false, ...remote(0) })
    const last = quiet.send(0, { opcode: WrOpcode.RdmaWrite, ...remote(0) })
    quiet.pair.run()
    expect(quiet.told(0, "send")).toEqual([`${last} Success`])
    expect(quiet.ends[0].sendOutstanding).toBe(0)
    const loud = verbsPair({ signalAll: true })
    const id = loud.send(0, { opcode: WrOpcode.RdmaWrite, signaled: false, ...remote(0) })
    loud.pair.run()
    expect(loud.told(0, "send")).toEqual([`${id} Success`])
  })

  it("a solicited event is the receiver's, of SEND and of WRITE with immediate", () => {
    const { send, receive, pair } = verbsPair()
    for (let at = 0; at < 3; at++) receive(1, sge(0, 600))
    send(0, { sges: [sge(0, 600)], solicited: true })
    send(0, { opcode: WrOpcode.RdmaWriteWithImm, solicited: true, ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaWrite, solicited: true, ...remote(0) })
    send(0, { sges: [] })
    pair.run()
    const told = pair.events.flatMap(({ event }) =>
      event.type === "completion" && event.queue === "receive" ? [event.solicited] : [],
    )
    expect(told).toEqual([true, true, false])
    const marked = pair.sent.filter(({ meta }) => (meta & Flag.Solicited) !== 0)
    expect(marked.length).toBe(2)
  })

  it("packets say of their connection what Linux rxe says", () => {
    const seen: Array<ReadonlyArray<number>> = []
    const { send, pair } = verbsPair({
      onArrival: (_now, packet) => {
        const at = packet.extension << Layout.EXTENSION_SHIFT
        const word = (field: number): number => packet.pool.extension[at + field]! >>> 0
        seen.push([
          word(Layout.EXT.destinationQp),
          word(Layout.EXT.partition),
          word(Layout.EXT.hopLimit),
          word(Layout.EXT.ipv6Source + 2),
          word(Layout.EXT.ipv6Source + 3),
          word(Layout.EXT.ipv6Destination + 3),
          packet.udpPorts >>> 16,
          packet.wireBytes,
          word(Layout.EXT.aeth),
        ])
        expect([packet.has(Flag.Migrated), packet.has(Flag.AckRequest)]).toEqual([false, packet.opcode !== 0x11])
      },
    })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 101)], ...remote(0) })
    pair.run()
    expect(seen).toEqual([
      [0x22, 0xffff, 64, 0xffff, 0x0a00_0001, 0x0a00_0002, 4791, 14 + 20 + 8 + 12 + 16 + 104 + 4 + 4 + 20, 0],
      [0x11, 0xffff, 64, 0xffff, 0x0a00_0002, 0x0a00_0001, 4791, 14 + 20 + 8 + 12 + 4 + 4 + 4 + 20, 0x1f00_0001],
    ])
  })

  it("asks for an acknowledgement of the last packet, and every n-th in between", () => {
    const { send, pair, said } = verbsPair({ options: { ackEvery: 3 } })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 2048)], ...remote(0) })
    pair.run()
    expect(said().filter((packet) => packet.startsWith("<"))).toEqual(["< ACK 102", "< ACK 105", "< ACK 107"])
  })

  it("has no more packets in flight than it may, and READs count by their responses", () => {
    const { send, pair } = verbsPair({ options: { inFlightPackets: 4 } })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 2560)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 2560)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 10)], ...remote(0) })
    pair.run()
    const requests = pair.sent.filter(({ from }) => from === 0)
    expect(requests.filter(({ time }) => time === 0).length).toBe(4)
    expect(requests.length).toBe(12)
  })
})

describe("READ and atomics", () => {
  it("a READ comes back in packets, into several elements", () => {
    const { memories, send, pair, completions, said } = verbsPair()
    memories[1].paint(BASE + 4000, 700, 5)
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 300), sge(1000, 400)], ...remote(4000) })
    pair.run()
    expect(said()).toEqual([
      "> READ_REQUEST 100",
      "< READ_RESPONSE_FIRST 100",
      "< READ_RESPONSE_MIDDLE 101",
      "< READ_RESPONSE_LAST 102",
    ])
    const got = [...memories[0].slice(BASE, 300), ...memories[0].slice(BASE + 1000, 400)]
    expect(got).toEqual([...memories[1].slice(BASE + 4000, 700)])
    expect(completions(0, "send")).toMatchObject([{ opcode: WcOpcode.RdmaRead, byteLength: 700 }])
  })

  it("COMPARE & SWAP and FETCH & ADD bring back what was there", () => {
    const { memories, send, pair, completions } = verbsPair()
    memories[1].setNumber(BASE + 64, 0xfedc_ba98_7654_3210n)
    const swap = { opcode: WrOpcode.AtomicCmpAndSwp, ...remote(64) }
    send(0, { ...swap, sges: [sge(0, 8)], compareAdd: 1n, swap: 7n })
    send(0, { ...swap, sges: [sge(8, 8)], compareAdd: 0xfedc_ba98_7654_3210n, swap: 0xffff_ffff_ffff_fff0n })
    send(0, { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(16, 8)], compareAdd: 0x20n, ...remote(64) })
    pair.run()
    const found = [0, 8, 16].map((at) => memories[0].number(BASE + at))
    expect(found).toEqual([0xfedc_ba98_7654_3210n, 0xfedc_ba98_7654_3210n, 0xffff_ffff_ffff_fff0n])
    expect(memories[1].number(BASE + 64)).toBe(0x10n)
    expect(completions(0, "send").map(({ opcode }) => opcode)).toEqual([
      WcOpcode.CompSwap,
      WcOpcode.CompSwap,
      WcOpcode.FetchAdd,
    ])
  })

  it("an ATOMIC_WRITE is answered as a READ of no bytes, as Linux rxe has it", () => {
    const { memories, send, pair, said, completions } = verbsPair()
    send(0, { opcode: WrOpcode.AtomicWrite, sges: [], inline: new TextEncoder().encode("ABCDEFGH"), ...remote(128) })
    pair.run()
    expect(said()).toEqual(["> ATOMIC_WRITE 100", "< READ_RESPONSE_ONLY 100"])
    expect(new TextDecoder().decode(memories[1].slice(BASE + 128, 8))).toBe("ABCDEFGH")
    expect(completions(0, "send")).toMatchObject([{ opcode: WcOpcode.AtomicWrite, byteLength: 8 }])
  })

  it("no more are outstanding than the peer has resources for", () => {
    const { send, pair } = verbsPair({ settings: { initiatorDepth: 2, responderResources: 2 } })
    for (let at = 0; at < 6; at++) send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) })
    pair.run()
    const times = pair.sent.filter(({ opcode }) => opcode === 0x0c).map(({ time }) => time / 1e6)
    expect(times).toEqual([0, 0, 2, 2, 4, 4])
  })

  it("a fence waits for READs and atomics, and for nothing else", () => {
    const { send, pair } = verbsPair()
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0), fence: true })
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0), fence: true })
    pair.run()
    const requests = pair.sent.filter(({ from }) => from === 0).map(({ psn, time }) => `${psn - 0x100} ${time / 1e6}`)
    expect(requests).toEqual(["0 0", "1 0", "2 0", "3 0", "4 2"])
  })

  it("acknowledgements of what follows a READ come after its response", () => {
    const { send, pair, said, told } = verbsPair()
    const read = send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 600)], ...remote(0) })
    const write = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
    pair.run()
    expect(said().slice(2)).toEqual([
      "< READ_RESPONSE_FIRST 100",
      "< READ_RESPONSE_MIDDLE 101",
      "< READ_RESPONSE_LAST 102",
      "< ACK 103",
    ])
    expect(told(0, "send")).toEqual([`${read} Success`, `${write} Success`])
  })
})

describe("windows and invalidation", () => {
  const bind = {
    window: WINDOW_KEY & ~0xff,
    remoteKey: WINDOW_KEY,
    lkey: LOCAL_KEY,
    address: BASE + 512,
    length: 512,
    access: Access.RemoteWrite,
  }

  it("a window is bound in order, used, invalidated by the peer's SEND, and of no use from then on", () => {
    const { send, receive, pair, told, completions, ends, memories } = verbsPair()
    const bound = send(1, { opcode: WrOpcode.BindMw, sges: [], bind })
    const received = receive(1, sge(0, 100))
    memories[0].paint(BASE, 100, 1)
    const through = {
      opcode: WrOpcode.RdmaWrite,
      sges: [sge(0, 100)],
      remoteAddress: BASE + 600,
      remoteKey: WINDOW_KEY,
    }
    send(0, through)
    send(0, { opcode: WrOpcode.SendWithInv, sges: [sge(0, 50)], invalidateKey: WINDOW_KEY })
    pair.run()
    expect(told(1, "send")).toEqual([`${bound} Success`])
    expect(completions(1, "receive")).toMatchObject([
      { id: received, byteLength: 50, invalidatedKey: WINDOW_KEY, immediate: undefined },
    ])
    expect(memories[1].slice(BASE + 600, 100)).toEqual(memories[0].slice(BASE, 100))
    const late = send(0, through)
    pair.run()
    expect(told(0, "send").at(-1)).toBe(`${late} RemAccessErr`)
    expect([ends[0].state, ends[1].state]).toEqual([QpState.Err, QpState.Err])
  })

  it("local work completes in its turn, and takes no PSN", () => {
    const { send, pair, told, said } = verbsPair()
    const write = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
    const bound = send(0, { opcode: WrOpcode.BindMw, sges: [], bind })
    const gone = send(0, { opcode: WrOpcode.LocalInv, sges: [], invalidateKey: WINDOW_KEY })
    expect(told(0, "send")).toEqual([])
    const last = send(0, { opcode: WrOpcode.RdmaWrite, sges: [], ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([write, bound, gone, last].map((id) => `${id} Success`))
    expect(said().filter((packet) => packet.startsWith(">"))).toEqual(["> WRITE_ONLY 100", "> WRITE_ONLY 101"])
  })

  it("local work with a fence waits for READs, and so does what is behind it", () => {
    const { send, pair, memories } = verbsPair()
    send(0, { opcode: WrOpcode.BindMw, sges: [], bind })
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) })
    send(0, { opcode: WrOpcode.LocalInv, sges: [], invalidateKey: WINDOW_KEY, fence: true })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [], ...remote(0) })
    pair.run(1e6)
    expect(memories[0].regions.get(WINDOW_KEY)?.valid).toBe(true)
    pair.run()
    expect(memories[0].regions.get(WINDOW_KEY)?.valid).toBe(false)
    expect(pair.sent.filter(({ from }) => from === 0).map(({ time }) => time / 1e6)).toEqual([0, 2])
  })

  it("LOCAL_INV of no key, and a bind of no region, fail in their turn", () => {
    for (const [request, status] of [
      [{ opcode: WrOpcode.LocalInv, sges: [], invalidateKey: 0xbad }, "LocQpOpErr"],
      [{ opcode: WrOpcode.BindMw, sges: [], bind: { ...bind, lkey: 0xbad } }, "MwBindErr"],
    ] as const) {
      const { send, pair, told, ends } = verbsPair()
      const first = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
      const wrong = send(0, request)
      const after = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0), signaled: false })
      pair.run()
      expect(told(0, "send")).toEqual([`${first} Success`, `${wrong} ${status}`, `${after} WrFlushErr`])
      expect(ends[0].state).toBe(QpState.Err)
    }
  })

  it("a SEND that invalidates what cannot be is acknowledged, and ends the peer's side", () => {
    const { send, receive, pair, told, ends } = verbsPair()
    const received = receive(1, sge(0, 100))
    const id = send(0, { opcode: WrOpcode.SendWithInv, sges: [sge(0, 50)], invalidateKey: REMOTE_KEY })
    pair.run()
    expect(told(0, "send")).toEqual([`${id} Success`])
    expect(told(1, "receive")).toEqual([`${received} RemInvReqErr`])
    expect(ends[1].state).toBe(QpState.Err)
  })
})

import { BASE, LOCAL_KEY, REMOTE_KEY, WINDOW_KEY } from "@rdmakit/conformance"
import { WcOpcode, WrOpcode } from "@rdmakit/protocol"
import { Random } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { iwarpPair, pattern, remote, sge } from "./pair.ts"

const BYTES = 100_000

describe("operations", () => {
  it("SEND goes to a receive, in segments", () => {
    const { memories, run, send, receive, told, completions } = iwarpPair({ segmentBytes: 1000 })
    memories[0].octets.set(pattern(BYTES))
    const received = receive(1, sge(0, 60_000), sge(100_000, 60_000))
    const sent = send(0, { sges: [sge(0, BYTES)] })
    run()
    expect(told(0, "send")).toEqual([`${sent} Success`])
    expect(completions(1, "receive")).toMatchObject([{ id: received, byteLength: BYTES, opcode: WcOpcode.Recv }])
    expect(memories[1].octets.subarray(0, 60_000)).toEqual(pattern(BYTES).subarray(0, 60_000))
    expect(memories[1].octets.subarray(100_000, 140_000)).toEqual(pattern(BYTES).subarray(60_000))
  })

  it("the responder speaks once it has heard the initiator's ready-to-receive", () => {
    for (const ready of [true, false]) {
      const { ends, run, send, receive, told } = iwarpPair({ mode: { ready } })
      receive(0, sge(0, 10))
      send(1, { inline: pattern(10) })
      if (!ready) expect(ends[1].pollOctets(0)).toBeUndefined()
      run()
      expect(told(0, "receive").length).toBe(ready ? 1 : 0)
      receive(1, sge(0, 10))
      send(0, { inline: pattern(3) })
      run()
      expect(told(0, "receive").length).toBe(1)
      expect(told(1, "receive").length).toBe(1)
    }
  })

  it("WRITE, and WRITE with immediate, which takes a receive", () => {
    const { memories, run, send, receive, told, completions } = iwarpPair({ segmentBytes: 1000 })
    memories[0].octets.set(pattern(BYTES))
    receive(1, sge(0, 0))
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, BYTES)], ...remote(5) })
    send(0, {
      opcode: WrOpcode.RdmaWriteWithImm,
      immediate: 0x89abcdef,
      sges: [sge(0, 2500)],
      ...remote(200_000),
    })
    run()
    expect(told(0, "send").length).toBe(2)
    expect(memories[1].octets.subarray(5, 5 + BYTES)).toEqual(pattern(BYTES))
    expect(completions(1, "receive")).toMatchObject([
      { opcode: WcOpcode.RecvRdmaWithImm, immediate: 0x89abcdef, byteLength: 2500 },
    ])
  })

  it("READ brings octets here, also none", () => {
    const { memories, run, send, told } = iwarpPair({ segmentBytes: 1000 })
    memories[1].octets.set(pattern(BYTES))
    const ids = [
      send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(7, BYTES)], ...remote(0) }),
      send(0, { opcode: WrOpcode.RdmaRead, sges: [], ...remote(0) }),
    ]
    run()
    expect(told(0, "send")).toEqual(ids.map((id) => `${id} Success`))
    expect(memories[0].octets.subarray(7, 7 + BYTES)).toEqual(pattern(BYTES))
  })

  it("no more READs are outstanding than were agreed on", () => {
    const { run, send, told } = iwarpPair({ settings: { initiatorDepth: 2, responderResources: 2 } })
    for (let read = 0; read < 20; read++)
      send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(100 * read, 100)], ...remote(0) })
    run()
    expect(told(0, "send").length).toBe(20)
    expect(told(0, "send").every((each) => each.endsWith("Success"))).toBe(true)
  })

  it("atomics give what was there before", () => {
    const { memories, run, send } = iwarpPair()
    const there = new DataView(memories[1].octets.buffer)
    const here = new DataView(memories[0].octets.buffer)
    there.setBigUint64(64, 5n, true)
    send(0, { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(0, 8)], compareAdd: 2n ** 64n - 1n, ...remote(64) })
    send(0, { opcode: WrOpcode.AtomicCmpAndSwp, sges: [sge(8, 8)], compareAdd: 4n, swap: 99n, ...remote(64) })
    send(0, { opcode: WrOpcode.AtomicCmpAndSwp, sges: [sge(16, 8)], compareAdd: 4n, swap: 7n, ...remote(64) })
    run()
    expect([0, 8, 16].map((at) => here.getBigUint64(at, true))).toEqual([5n, 4n, 99n])
    expect(there.getBigUint64(64, true)).toBe(99n)
  })

  it("SEND with invalidate voids the peer's key, and a solicited one says so", () => {
    const { memories, run, send, receive, completions } = iwarpPair()
    receive(1, sge(0, 10))
    send(0, { opcode: WrOpcode.SendWithInv, invalidateKey: WINDOW_KEY, solicited: true, inline: pattern(1) })
    run()
    expect(memories[1].rights.has(WINDOW_KEY)).toBe(false)
    expect(completions(1, "receive")).toMatchObject([{ invalidatedKey: WINDOW_KEY, byteLength: 1 }])
  })

  it("what RFC 7306 has not, nor the verbs here, ends with LOC_QP_OP_ERR", () => {
    const { run, send, told } = iwarpPair()
    const id = send(0, { opcode: WrOpcode.SendWithImm, immediate: 1, inline: pattern(1) })
    run()
    expect(told(0, "send")).toEqual([`${id} LocQpOpErr`])
  })
})

describe("a stream that comes in any pieces", () => {
  it("carries random work both ways as it is posted", () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = new Random(seed, 7)
      const pair = iwarpPair({
        splitSeed: seed,
        segmentBytes: 1 + random.int(5000),
        mode: { crc: random.int(2) === 0, ready: random.int(2) === 0 },
      })
      const expected: Array<readonly [end: 0 | 1, octets: Uint8Array]> = []
      for (const end of [0, 1] as const)
        for (let at = 0; at < 1 << 17; at++) pair.memories[end].octets[at] = random.int(256)
      for (let work = 0; work < 12; work++) {
        const end = random.int(2) as 0 | 1
        const to = (1 - end) as 0 | 1
        const bytes = random.int(9000)
        const from = random.int(1 << 16)
        const place = (1 << 17) + 9000 * work
        const sges = [sge(from, bytes)]
        if (random.int(3) === 0) {
          pair.receive(to, sge(place, 9000))
          pair.send(end, { sges })
          expected.push([to, pair.memories[end].octets.slice(from, from + bytes)])
        } else if (random.int(2) === 0) {
          pair.send(end, { opcode: WrOpcode.RdmaWrite, sges, ...remote(place) })
          expected.push([to, pair.memories[end].octets.slice(from, from + bytes)])
        } else {
          pair.send(end, { opcode: WrOpcode.RdmaRead, sges: [sge(place, bytes)], ...remote(from) })
          expected.push([end, pair.memories[to].octets.slice(from, from + bytes)])
        }
      }
      // Where neither is ready first, the initiator has the first word.
      pair.send(0, { opcode: WrOpcode.RdmaWrite, sges: [], remoteAddress: BASE, remoteKey: REMOTE_KEY })
      pair.run()
      const all = [...pair.told(0, "send"), ...pair.told(1, "send")]
      expect(all.filter((each) => each.endsWith("Success")).length, `seed ${seed}: ${all}`).toBe(13)
      for (const [work, [end, octets]] of expected.entries()) {
        const place = (1 << 17) + 9000 * work
        expect(
          Buffer.compare(pair.memories[end].octets.subarray(place, place + octets.length), octets),
          `seed ${seed}, work ${work}`,
        ).toBe(0)
      }
    }
  })

  it("has markers in it where the peer wants them, and this side refuses to read any", () => {
    const { ends, send } = iwarpPair({ mode: { markers: true, ready: false } })
    send(0, { inline: pattern(4) })
    const octets = ends[0].pollOctets(0)!
    // The first four octets of the stream are a marker that points at the header behind it (RFC 5044 §4.3).
    expect([...octets.subarray(0, 4)]).toEqual([0, 0, 0, 0])
    expect(octets.subarray(4, 6)).toEqual(Uint8Array.of(0, 22))
  })
})

it("uses keys of memory as STags", () => {
  const { ends, send } = iwarpPair({ mode: { ready: false } })
  send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(1, 2)], ...remote(3) })
  const unit = ends[0].pollOctets(0)!
  const view = new DataView(unit.buffer, unit.byteOffset)
  expect([view.getUint32(20), view.getUint32(36)]).toEqual([LOCAL_KEY, REMOTE_KEY])
})

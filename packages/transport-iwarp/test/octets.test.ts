import { BASE, LOCAL_KEY, REMOTE_KEY, WINDOW_KEY } from "@rdmakit/conformance"
import { WrOpcode } from "@rdmakit/protocol"
import { crc32c } from "@rdmakit/wire/crc"
import { describe, expect, it } from "vitest"
import { hex, iwarpPair, pattern, remote, sge } from "./pair.ts"

const word = (value: number): string => value.toString(16).padStart(8, "0")
const long = (value: number): string => value.toString(16).padStart(16, "0")
const ALL = "f".repeat(16)

/** The first units of an initiator that asks for nothing else, as octets, without their CRCs. */
const unitsOf = (post: (pair: ReturnType<typeof iwarpPair>) => void, count: number, segmentBytes = 16_384) => {
  const pair = iwarpPair({ mode: { ready: false }, segmentBytes })
  post(pair)
  return Array.from({ length: count }, () => {
    const octets = pair.ends[0].pollOctets(0)!
    const content = octets.subarray(0, octets.length - 4)
    // RFC 5044 §4: the CRC covers header, payload and padding, and stands low octet first.
    const crc = new DataView(octets.buffer, octets.byteOffset + content.length, 4).getUint32(0, true)
    expect(crc).toBe(crc32c(octets, 0, content.length))
    return hex(content)
  })
}

describe("octets, by the figures of the RFCs", () => {
  it("SEND: DDP untagged (RFC 5041 figure 4), opcode 3, queue 0, in two segments", () => {
    const [first, second] = unitsOf(({ send }) => void send(0, { inline: pattern(6) }), 2, 4)
    const ddp = (last: boolean, offset: number) =>
      `${last ? "41" : "01"}43${word(0)}${word(0)}${word(1)}${word(offset)}`
    // Length 22, header, four octets, no padding; then length 20, and two of padding.
    expect(first).toBe(`0016${ddp(false, 0)}${hex(pattern(4))}`)
    expect(second).toBe(`0014${ddp(true, 4)}${hex(pattern(6).subarray(4))}0000`)
  })

  it("SEND with solicited event and invalidate: opcode 6, the STag in DDP's word for RDMAP", () => {
    const request = { opcode: WrOpcode.SendWithInv, invalidateKey: WINDOW_KEY, solicited: true, inline: pattern(0) }
    const [unit] = unitsOf(({ send }) => void send(0, request), 1)
    expect(unit).toBe(`00124146${word(WINDOW_KEY)}${word(0)}${word(1)}${word(0)}`)
  })

  it("WRITE: DDP tagged (RFC 5041 figure 3), opcode 0, each segment with its own offset", () => {
    const request = { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 6)], ...remote(16) }
    const units = unitsOf(({ send }) => void send(0, request), 2, 4)
    expect(units).toEqual([
      `00128140${word(REMOTE_KEY)}${long(BASE + 16)}00000000`,
      `0010c140${word(REMOTE_KEY)}${long(BASE + 20)}00000000`,
    ])
  })

  it("WRITE with immediate: opcode 8 behind it, eight octets in queue 0 (RFC 7306 figure 4)", () => {
    const request = { opcode: WrOpcode.RdmaWriteWithImm, immediate: 0x89abcdef, sges: [], ...remote(0) }
    const [, unit] = unitsOf(({ send }) => void send(0, request), 2)
    expect(unit).toBe(`001a4148${word(0)}${word(0)}${word(1)}${word(0)}00000000${word(0x89abcdef)}`)
  })

  it("READ request: opcode 1, queue 1, sink, length and source (RFC 5040 figure 6)", () => {
    const request = { opcode: WrOpcode.RdmaRead, sges: [sge(8, 100)], ...remote(32) }
    const [unit] = unitsOf(({ send }) => void send(0, request), 1)
    const body = `${word(LOCAL_KEY)}${long(BASE + 8)}${word(100)}${word(REMOTE_KEY)}${long(BASE + 32)}`
    expect(unit).toBe(`002e4141${word(0)}${word(1)}${word(1)}${word(0)}${body}`)
  })

  it("atomics: opcode 10, queue 1 (RFC 7306 figure 5)", () => {
    const add = { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(0, 8)], compareAdd: 3n, ...remote(0) }
    const swap = { ...add, opcode: WrOpcode.AtomicCmpAndSwp, compareAdd: 4n, swap: 5n }
    const [first, second] = unitsOf(({ send }) => {
      send(0, add)
      send(0, swap)
    }, 2)
    const head = (number: number) => `0046414a${word(0)}${word(1)}${word(number)}${word(0)}`
    const target = `${word(REMOTE_KEY)}${long(BASE)}`
    expect(first).toBe(`${head(1)}${word(0)}${word(1)}${target}${long(3)}${long(0)}${long(0)}${long(0)}`)
    expect(second).toBe(`${head(2)}${word(2)}${word(2)}${target}${long(5)}${ALL}${long(4)}${ALL}`)
  })

  it("READ response: opcode 2, tagged with the sink of the request", () => {
    const { ends, memories, send } = iwarpPair({ mode: { ready: false } })
    memories[1].octets.set(pattern(2), 40)
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(8, 2)], ...remote(40) })
    ends[1].handleOctets(0, ends[0].pollOctets(0)!)
    const unit = ends[1].pollOctets(0)!
    expect(hex(unit.subarray(0, 18))).toBe(`0010c142${word(LOCAL_KEY)}${long(BASE + 8)}${hex(pattern(2))}`)
  })

  it("Terminate: opcode 7, queue 2, layer, type and code, and the header at fault (RFC 5040 figures 9 and 10)", () => {
    const { ends, send } = iwarpPair({ mode: { ready: false } })
    send(0, { opcode: WrOpcode.RdmaWrite, inline: pattern(4), ...remote(0, 0x999) })
    ends[1].handleOctets(0, ends[0].pollOctets(0)!)
    const unit = ends[1].pollOctets(0)!
    const header = `c140${word(0x999)}${long(BASE)}`
    // DDP, tagged buffer, invalid STag; of the control bits only that of the header; no length of the segment.
    expect(hex(unit.subarray(0, unit.length - 4))).toBe(
      `00264147${word(0)}${word(2)}${word(1)}${word(0)}11004000` + `0000${header}`,
    )
    expect(ends[1].over).toBe(true)
  })
})

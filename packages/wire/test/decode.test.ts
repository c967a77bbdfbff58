import { describe, expect, it, test } from "vitest"
import { type DecodeOptions, decode, emitNodes, linkTypeOf, type Node, nodeOf } from "../src/Decode.ts"
import { opcodeOf } from "../src/Infiniband.ts"
import { crc32 } from "../src/node.ts"
import { index, readCapture } from "./capture.ts"
import { madeFrames, withFcs } from "./frames.ts"
import { hex } from "./octetText.ts"

/** Nodes follow each other without a gap from the first octet to the last. */
const expectTiles = (nodes: ReadonlyArray<Node>, octets: Uint8Array): void => {
  let at = 0
  for (const { start, end } of nodes) {
    expect(start).toBe(at)
    expect(end).toBeGreaterThanOrEqual(start)
    at = end
  }
  expect(at).toBe(octets.length)
}
const formats = (nodes: ReadonlyArray<Node>): string => nodes.map(({ format }) => format).join(" ")
const byName = (name: string) => madeFrames.find((each) => each.name === name)!
const decodeNamed = (name: string, options: DecodeOptions = {}): ReadonlyArray<Node> => {
  const { octets, link } = byName(name)
  return decode(octets, { link, ...options })
}

/** The index writes what an opcode is like `RC_SEND_First`, and splits acknowledgements by their syndrome. */
const indexName = (nodes: ReadonlyArray<Node>): string | undefined => {
  const bth = nodeOf(nodes, "bth")?.value
  if (bth === undefined) return undefined
  const cm = nodeOf(nodes, "cm")?.value
  const messages = { request: "REQ", reply: "REP", readyToUse: "RTU", reject: "REJ" } as const
  const partings = { disconnectRequest: "DREQ", disconnectReply: "DREP" } as const
  if (cm !== undefined) return `MAD_${({ ...messages, ...partings } as Record<string, string>)[cm.kind]}`
  const { service, operation } = opcodeOf(bth.opcode)!
  const syndrome = nodeOf(nodes, "aeth")?.value.syndrome
  const said =
    operation === "Acknowledge" && syndrome?.kind !== "ack"
      ? `ACK_${syndrome?.kind === "rnrNak" ? "RNR_NAK" : `NAK${syndrome?.code}`}`
      : operation
          .replace(/^Acknowledge$/, "ACK")
          .replace("AtomicAcknowledge", "ATOMIC_Ack")
          .replace("CompareSwap", "CmpSwap")
          .replace("ReadRequest", "READ_Req")
          .replace("ReadResponse", "READ_Resp_")
          .replace("Send", "SEND_")
          .replace("Write", "WRITE_")
          .replace("Immediate", "_Imm")
  return `${service.toUpperCase()}_${said}`
}

describe("the captures", () => {
  test.each(index)("$name: opcodes, CRCs, every octet in its node and back", ({ name, roce, icrcRight, opcodes }) => {
    const counts: Record<string, number> = {}
    const verdicts: Record<string, number> = {}
    for (const { octets, wireBytes } of readCapture(name)) {
      const nodes = decode(octets, { wireBytes, crc: crc32 })
      expectTiles(nodes, octets)
      expect(emitNodes(nodes, octets)).toEqual(octets)
      // Neighbour discovery is legal ICMP, and no echo.
      for (const node of nodes) if (node.format === "raw") expect(node.error.format).toBe("icmpEcho")
      const opcode = indexName(nodes)
      if (opcode !== undefined) counts[opcode] = (counts[opcode] ?? 0) + 1
      const verdict = nodeOf(nodes, "icrc")?.verdict
      if (verdict !== undefined) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
    }
    expect(counts).toEqual(opcodes)
    expect(verdicts).toEqual(roce === 0 ? {} : { right: icrcRight })
  })
})

describe("made frames", () => {
  test.each(madeFrames)("$name is legal, and read back", ({ link, octets }) => {
    const nodes = decode(octets, { link })
    expectTiles(nodes, octets)
    expect(nodes.filter((node) => node.format === "raw")).toEqual([])
    expect(emitNodes(nodes, octets)).toEqual(octets)
    const checked = nodes.filter((node) => node.format === "icrc" || node.format === "vcrc")
    const behindOptions = nodeOf(nodes, "ipv6Extension") !== undefined
    for (const { verdict } of checked) expect(verdict).toBe(behindOptions ? "unknown" : "right")
  })

  test.each([
    ["ipv4 Rc WriteOnlyImmediate", "ethernet ipv4 udp bth reth immDt payload padding icrc"],
    ["ipv6 Rd CompareSwap", "ethernet ipv6 udp bth rdeth deth atomicEth icrc"],
    ["rocev1 Xrc ReadRequest", "ethernet grh bth xrceth reth icrc"],
    ["local Ud SendOnly", "lrh bth deth payload padding icrc vcrc"],
    ["global Rc Flush", "lrh grh bth feth reth icrc vcrc"],
    ["ipv4 Rc AtomicWrite", "ethernet ipv4 udp bth reth payload icrc"],
    ["ipv4 Cnp Notify", "ethernet ipv4 udp bth cnp icrc"],
    ["vxlan", "ethernet ipv4 udp vxlan ethernet ipv4 udp bth payload icrc"],
    ["bridged", "ethernet ipv4 gre ethernet ipv4 udp bth payload icrc"],
    ["mirrored", "ethernet ipv4 gre erspan ethernet ipv4 udp bth payload icrc"],
    ["tagged", "ethernet ipv4 udp bth payload icrc"],
    ["pfc", "ethernet pfc padding"],
    ["lldp", "ethernet lldp"],
    ["fragment", "ethernet ipv4 payload"],
    ["extended", "ethernet ipv6 ipv6Extension udp bth payload icrc"],
    ["erf", "erf lrh grh bth reth payload padding icrc vcrc"],
    ["connection request", "ethernet ipv4 udp bth deth mad cm icrc"],
  ])("%s is %s", (name, expected) => {
    expect(formats(decodeNamed(name))).toBe(expected)
  })
})

describe("what is not legal", () => {
  const changed = (name: string, change: (octets: Uint8Array) => void, options: DecodeOptions = {}) => {
    const { octets, link } = byName(name)
    const copy = octets.slice()
    change(copy)
    const nodes = decode(copy, { link, ...options })
    expectTiles(nodes, copy)
    expect(emitNodes(nodes, copy)).toEqual(copy)
    return nodes
  }

  it("a reserved opcode is raw, and its ICRC is still read", () => {
    const nodes = changed("ipv4 Rc SendOnly", (octets) => octets.set([0x1f], 42))
    expect(formats(nodes)).toBe("ethernet ipv4 udp raw icrc")
    expect(nodeOf(nodes, "raw")).toMatchObject({ error: { format: "bth", field: "opcode", offset: 42, found: 0x1f } })
    expect(nodeOf(nodes, "icrc")?.verdict).toBe("wrong")
  })

  it("B4: the code of a native CNP means nothing on RoCEv2", () => {
    const nodes = changed("ipv4 Cnp Notify", (octets) => octets.set([0x80], 42))
    expect(nodeOf(nodes, "raw")).toMatchObject({ error: { what: "reserved", field: "opcode", found: 0x80 } })
  })

  it("what changes on the way leaves the ICRC right, and what a checksum covers is told", () => {
    const nodes = changed("ipv4 Rc SendOnly", (octets) => octets.set([1], 22))
    expect(nodeOf(nodes, "ipv4")?.faults).toMatchObject([{ what: "checksum", offset: 24 }])
    expect(nodeOf(nodes, "icrc")?.verdict).toBe("right")
  })

  it("a length of UDP that lies", () => {
    const nodes = changed("ipv4 Rc SendOnly", (octets) => octets.set([0xff], 38))
    expect(formats(nodes)).toBe("ethernet ipv4 raw")
    expect(nodeOf(nodes, "raw")).toMatchObject({ error: { what: "length", format: "udp", offset: 38 } })
  })

  it("reserved bits are faults", () => {
    const nodes = changed("ipv4 Rc SendOnly", (octets) => octets.set([0x01], 46))
    expect(nodeOf(nodes, "bth")?.faults).toMatchObject([{ what: "ignored", format: "bth", offset: 46 }])
    expect(nodeOf(nodes, "icrc")?.verdict).toBe("right")
  })

  it("tunnels in tunnels have an end", () => {
    const octets = new Uint8Array(34 * 20)
    for (let at = 0; at < octets.length; at += 20) octets.set([0x45, 0, 0, 20, 0, 0, 0, 0, 64, 4], at)
    for (let at = 0; at < octets.length; at += 20) new DataView(octets.buffer).setUint16(at + 2, octets.length - at)
    const nodes = decode(octets, { link: "ip" })
    expectTiles(nodes, octets)
    expect(nodeOf(nodes, "raw")).toMatchObject({ error: { what: "unsupported", format: "tunnel" } })
  })
})

describe("what a capture cuts or adds", () => {
  test("B9: cut anywhere, headers that fit are read and the ICRC cannot be checked", () => {
    const { octets } = byName("ipv4 Rc WriteOnlyImmediate")
    for (let size = 0; size < octets.length; size++) {
      const cut = octets.subarray(0, size)
      const nodes = decode(cut, { wireBytes: octets.length })
      expectTiles(nodes, cut)
      expect(emitNodes(nodes, cut)).toEqual(new Uint8Array(cut))
      if (size >= 54) expect(nodeOf(nodes, "icrc")?.verdict).toBe("cut")
      if (size >= 54) expect(nodeOf(nodes, "bth")?.value.psn).toBe(0xabcd0b)
    }
  })

  test("B5: padding and FCS after the packet", () => {
    const octets = withFcs(byName("ipv4 Rc SendOnly").octets)
    const nodes = decode(octets, { fcsBytes: 4 })
    expect(formats(nodes)).toBe("ethernet ipv4 udp bth payload padding icrc fcs")
    expect(nodes.slice(-2)).toMatchObject([{ verdict: "right" }, { verdict: "right" }])
    expect(formats(decode(octets))).toBe("ethernet ipv4 udp bth payload padding icrc padding")
    octets[octets.length - 1]! ^= 1
    expect(nodeOf(decode(octets, { fcsBytes: 4 }), "fcs")?.verdict).toBe("wrong")
  })

  test("a VCRC that is wrong or missing", () => {
    const octets = byName("local Ud SendOnly").octets.slice()
    octets[octets.length - 1]! ^= 1
    expect(nodeOf(decode(octets, { link: "infiniband" }), "vcrc")?.verdict).toBe("wrong")
    const without = octets.subarray(0, -2)
    expect(formats(decode(without, { link: "infiniband" }))).toBe("lrh bth deth payload padding icrc")
  })
})

test("link types of capture files", () => {
  expect([1, 101, 113, 197, 247, 276, 105].map(linkTypeOf)).toEqual([
    "ethernet",
    "ip",
    "linuxCooked",
    "erf",
    "infiniband",
    "linuxCooked2",
    undefined,
  ])
})

describe("other links", () => {
  const packet = byName("ipv4 Rc SendOnly").octets
  const ip = packet.subarray(14)
  const before = (text: string, rest: Uint8Array): Uint8Array => new Uint8Array([...hex(text), ...rest])
  const inside = "ipv4 udp bth payload padding icrc"

  test.each<readonly [string, NonNullable<DecodeOptions["link"]>, Uint8Array, string]>([
    ["raw IP", "ip", ip, inside],
    ["Linux cooked", "linuxCooked", before("0004000100065254000000010000 0800", ip), `linuxCooked ${inside}`],
    [
      "Linux cooked, version 2",
      "linuxCooked2",
      before("0800000000000002000104065254000000010000", ip),
      `linuxCooked2 ${inside}`,
    ],
    ["ERF of Ethernet", "erf", before("0000000000000000020400900000007e0000", packet), `erf ethernet ${inside}`],
  ])("%s", (_, link, octets, expected) => {
    const nodes = decode(octets, { link })
    expectTiles(nodes, octets)
    expect(formats(nodes)).toBe(expected)
    expect(nodeOf(nodes, "icrc")?.verdict).toBe("right")
    expect(emitNodes(nodes, octets)).toEqual(octets)
  })
})

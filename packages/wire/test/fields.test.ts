import { expect, it, test } from "vitest"
import { decode, nodeOf } from "../src/Decode.ts"
import { fieldsOf } from "../src/Fields.ts"
import { captures, readCapture } from "./capture.ts"
import { madeFrames } from "./frames.ts"

const frames = [
  ...madeFrames,
  ...captures.flatMap((name) =>
    readCapture(name)
      .slice(0, 8)
      .map(({ octets }) => ({ name, link: "ethernet" as const, octets })),
  ),
]

it("the fields of a node follow each other without a gap", () => {
  for (const { name, link, octets } of frames) {
    for (const node of decode(octets, { link })) {
      let bit = 8 * node.start
      for (const field of fieldsOf(node, octets)) {
        expect([name, node.format, field.name, field.bit]).toEqual([name, node.format, field.name, bit])
        bit += field.bits
      }
      expect([name, node.format, bit]).toEqual([name, node.format, 8 * node.end])
    }
  }
})

const textsOf = (
  name: string,
  format: "ethernet" | "ipv4" | "bth" | "aeth" | "cm" | "reth" | "pfc" | "gre" | "lldp" | "ipv6Extension",
) => {
  const { link, octets } = madeFrames.find((each) => each.name === name)!
  return fieldsOf(nodeOf(decode(octets, { link }), format)!, octets).map(({ name: field, bit, text }) => [
    bit,
    field,
    text,
  ])
}

test("a BTH, with its offsets", () => {
  expect(textsOf("ipv4 Rc WriteOnlyImmediate", "bth").slice(0, 5)).toEqual([
    [336, "opcode", "11"],
    [344, "solicited", "1"],
    [345, "migrated", "1"],
    [346, "padBytes", "3"],
    [348, "version", "0"],
  ])
  expect(textsOf("ipv4 Rc WriteOnlyImmediate", "bth")[5]).toEqual([352, "partition", "0xffff"])
  expect(textsOf("ipv4 Rc WriteOnlyImmediate", "reth")[1]).toEqual([496, "remoteKey", "0xdeadbeef"])
})

test("addresses and tags", () => {
  expect(textsOf("tagged", "ethernet").filter(([, name]) => name !== "reserved")).toEqual([
    [0, "destination", "52:54:00:00:00:02"],
    [48, "source", "52:54:00:00:00:01"],
    [96, "tag1.protocol", "0x88a8"],
    [112, "tag1.priority", "3"],
    [115, "tag1.dropEligible", "0"],
    [116, "tag1.vlan", "100"],
    [128, "tag2.protocol", "0x8100"],
    [144, "tag2.priority", "3"],
    [147, "tag2.dropEligible", "0"],
    [148, "tag2.vlan", "7"],
    [160, "etherType", "0x0800"],
  ])
  expect(textsOf("tagged", "ipv4").at(-1)).toEqual([304, "destination", "10.0.0.2"])
})

test("a PAUSE has quanta, and PFC those of each priority", () => {
  expect(textsOf("pause", "pfc")).toEqual([
    [112, "opcode", "1"],
    [128, "quanta", "65535"],
  ])
  expect(textsOf("pfc", "pfc").slice(1, 4)).toEqual([
    [128, "reserved", "0"],
    [136, "enabled", "40"],
    [144, "quanta0", "0"],
  ])
})

test("the words of GRE, options of IPv6, elements of LLDP", () => {
  expect(textsOf("bridged", "gre").slice(-2)).toEqual([
    [288, "protocol", "0x6558"],
    [304, "key", "0x01020304"],
  ])
  expect(textsOf("mirrored", "gre").at(-1)).toEqual([304, "sequence", "0x00000063"])
  expect(textsOf("extended", "ipv6Extension")).toEqual([
    [432, "nextHeader", "17"],
    [440, "length", "0"],
    [448, "options", "010400000000"],
  ])
  const lldp = textsOf("lldp", "lldp")
  expect(lldp.slice(0, 3)).toEqual([
    [112, "tlv1.type", "1"],
    [119, "tlv1.length", "7"],
    [128, "tlv1.data", "04525400000001"],
  ])
  expect(lldp.at(-1)?.slice(1)).toEqual(["tlv9.length", "0"])
})

test("both paths and the IP addresses of a connection request", () => {
  const fields = textsOf("connection request", "cm")
  expect(fields).toContainEqual([expect.any(Number), "primary.localGid", "::ffff:10.0.0.1"])
  expect(fields).toContainEqual([expect.any(Number), "alternate.flowLabel", "344865"])
  expect(fields).toContainEqual([expect.any(Number), "ip.destination", "10.0.0.2"])
})

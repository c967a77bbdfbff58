import type { GidEntry } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { chooseGid, formatGid, parseGid } from "../src/Gid.ts"

const entry = (index: number, text: string, type: GidEntry["type"] = "rocev2"): GidEntry => ({
  index,
  gid: parseGid(text),
  type,
})

/** As Linux lays a table out: the default GIDs of both types first, then addresses as they came. */
const table = [
  entry(0, "fe80::5054:ff:fe12:3456", "rocev1"),
  entry(1, "fe80::5054:ff:fe12:3456"),
  entry(2, "fd00::1", "rocev1"),
  entry(3, "fd00::1"),
  entry(4, "10.0.0.1", "rocev1"),
  entry(5, "10.0.0.1"),
  entry(6, "10.0.0.2"),
]

describe("texts of GIDs", () => {
  it("are IPv6 and IPv4 addresses, and the digits of pingpong", () => {
    expect(formatGid(parseGid("10.0.0.1"))).toBe("::ffff:10.0.0.1")
    expect(formatGid(parseGid("::ffff:10.0.0.1"))).toBe("::ffff:10.0.0.1")
    expect(parseGid("00000000000000000000ffff0a000001")).toEqual(parseGid("10.0.0.1"))
    expect(formatGid(parseGid("FE80:0:0:0:5054:ff:fe12:3456"))).toBe("fe80::5054:ff:fe12:3456")
    expect(formatGid(parseGid("2001:db8:0:0:1:0:0:1"))).toBe("2001:db8::1:0:0:1")
    expect(formatGid(parseGid("::"))).toBe("::")
    expect(formatGid(parseGid("1:2:3:4:5:6:7:8"))).toBe("1:2:3:4:5:6:7:8")
  })

  it("are refused when they are none", () => {
    for (const text of [
      "",
      "1",
      "10.0.0.256",
      "10.0.0",
      "1::2::3",
      "g::1",
      "1:2:3:4:5:6:7::8:9",
      ":1",
      "1:2:3:4:5:6:7:8:9",
    ])
      expect(() => parseGid(text), text).toThrow("is no GID")
  })
})

describe("the choice of a GID", () => {
  it("is the first of its value and type (rdma_find_gid)", () => {
    expect(chooseGid(table, { gid: "10.0.0.1" })).toBe(5)
    expect(chooseGid(table, { gid: "10.0.0.1", type: "rocev1" })).toBe(4)
    expect(chooseGid(table, { gid: parseGid("10.0.0.2") })).toBe(6)
  })

  it("prefers IPv4, then global IPv6, then link-local", () => {
    expect(chooseGid(table)).toBe(5)
    expect(chooseGid(table, { family: "ipv6" })).toBe(3)
    expect(chooseGid(table.slice(0, 2))).toBe(1)
    expect(chooseGid(table.slice(0, 4))).toBe(3)
  })

  it("has the family of the peer", () => {
    expect(chooseGid(table, { peer: "10.0.0.9" })).toBe(5)
    expect(chooseGid(table, { peer: "2001:db8::1" })).toBe(3)
    expect(chooseGid(table, { peer: "fe80::2" })).toBe(1)
  })

  it("passes over empty places", () => {
    expect(chooseGid([entry(0, "::"), entry(1, "10.0.0.1")])).toBe(1)
  })

  it("says what there is when there is none", () => {
    expect(() => chooseGid(table, { gid: "10.0.0.3" })).toThrow(
      /ENOENT.*::ffff:10\.0\.0\.3.*5: ::ffff:10\.0\.0\.1 rocev2/s,
    )
    expect(() => chooseGid(table.slice(0, 4), { family: "ipv4" })).toThrow("ipv4")
    expect(() => chooseGid([])).toThrow("give the port an address")
  })
})

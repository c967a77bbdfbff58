import { isIPv6 } from "node:net"
import fc from "fast-check"
import { expect, it, test } from "vitest"
import * as Address from "../src/Address.ts"

it("MAC addresses", () => {
  expect(Address.formatMac(0x5254_0000_0001)).toBe("52:54:00:00:00:01")
  expect(Address.parseMac("52-54-00-00-00-0A")).toBe(0x5254_0000_000a)
  expect(["52:54:00:00:00", "5254:00:00:00:01", ""].map(Address.parseMac)).toEqual(Array(3).fill(undefined))
})

it("IPv4 addresses", () => {
  expect(Address.formatIpv4(0xff00_0001)).toBe("255.0.0.1")
  expect(Address.parseIpv4Address("10.0.0.2")).toBe(0x0a00_0002)
  expect(["10.0.0", "10.0.0.256", "10.0.0.01", "1.2.3.4.5"].map(Address.parseIpv4Address)).toEqual(
    Array(4).fill(undefined),
  )
})

test.each([
  ["fd00::1", "fd00::1"],
  ["::", "::"],
  ["::1", "::1"],
  ["1::", "1::"],
  ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
  ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
  ["2001:DB8::0:0:1", "2001:db8::1"],
  ["::ffff:10.0.0.2", "::ffff:10.0.0.2"],
  ["::ffff:a00:2", "::ffff:10.0.0.2"],
  ["64:ff9b::1.2.3.4", "64:ff9b::102:304"],
])("IPv6 %s is written %s", (input, output) => {
  expect(Address.formatIpv6(Address.parseIpv6Address(input)!)).toBe(output)
})

test.each(["", ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "::1.2.3", "1.2.3.4::", "g::"])(
  "%s is no IPv6 address",
  (input) => {
    expect(isIPv6(input)).toBe(false)
    expect(Address.parseIpv6Address(input)).toBeUndefined()
  },
)

it("any IPv6 address is read back, and understood by others", () => {
  // Zeros are frequent, so that runs of them are.
  const octets = fc.array(fc.oneof(fc.constant(0), fc.nat(255)), { minLength: 16, maxLength: 16 })
  fc.assert(
    fc.property(octets, (each) => {
      const text = Address.formatIpv6(Uint8Array.from(each))
      expect(isIPv6(text)).toBe(true)
      expect(Address.parseIpv6Address(text)).toEqual(Uint8Array.from(each))
    }),
  )
})

it("GIDs of IPv4 addresses", () => {
  const gid = Address.mappedGid(0x0a00_0001)
  expect(Buffer.from(gid).toString("hex")).toBe("00000000000000000000ffff0a000001")
  expect(Address.ipv4OfGid(gid)).toBe(0x0a00_0001)
  expect(Address.ipv4OfGid(Address.parseIpv6Address("fe80::1")!)).toBeUndefined()
})

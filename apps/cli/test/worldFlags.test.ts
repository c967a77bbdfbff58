import { describe, expect, test } from "vitest"
import { rdmakit } from "./rdmakit.ts"

const SOCKET = "--address 10.0.0.1 --bind 127.0.0.1:0"
const ONE_HOST = "the address of one host, as 127.0.0.1:4791 or [fd00::1]:4791"
const FRAMES = "dgram:PORT:PORT, here and there (1..65535), stream:PATH of a socket, or listen:PATH"
const HOST = "the address of one host, as 10.0.0.1 or fd00::1"
const OWN = "the address of one host, as 10.0.0.2/24"

describe("places where nobody can be are refused by their flag", () => {
  test.each([
    ...[
      "nohost:4791",
      "300.1.1.1:4791",
      ":4791",
      "[]:4791",
      "0.0.0.0:4791",
      "255.255.255.255:4791",
      "224.0.0.1:4791",
    ].map((place) => [`rping 10.0.0.9 ${SOCKET} --at 10.0.0.9=${place}`, "--at", `10.0.0.9=${place}`, ONE_HOST]),
    ...["127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:4294967297"].map((place) => [
      `rping 10.0.0.9 ${SOCKET} --at 10.0.0.9=${place}`,
      ...["--at", `10.0.0.9=${place}`, "a port 1..65535"],
    ]),
    ...["127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:1=2"].map((place) => [
      `rping 10.0.0.9 ${SOCKET} --at 10.0.0.9=${place}`,
      ...["--at", `10.0.0.9=${place}`, "ADDRESS=HOST:PORT"],
    ]),
    [
      `rping 10.0.0.9 ${SOCKET} --at 10.0.0.9=[::1]:4791`,
      ...["--at", "10.0.0.9=[::1]:4791", "a HOST of IPv4, as the socket at 127.0.0.1"],
    ],
    [
      "rping fd00::9 --address ::1 --at fd00::9=127.0.0.1:4791",
      ...["--at", "fd00::9=127.0.0.1:4791", "a HOST of IPv6, as the socket at ::1"],
    ],
    [
      `rping 10.0.0.9 ${SOCKET} --at x=127.0.0.1:4791`,
      ...["--at", "x=127.0.0.1:4791", "the address of one host before the =, as 10.0.0.2"],
    ],
    ["rping 10.0.0.9 --bind nohost:4791", "--bind", "nohost:4791", ONE_HOST],
    ["rping 10.0.0.9 --bind 127.0.0.1:70000", "--bind", "127.0.0.1:70000", "a port 0..65535"],
    ["rping 10.0.0.9 --on iwarp --bind 300.1.1.1:1", "--bind", "300.1.1.1:1", ONE_HOST],
    ...["dgram:24998:0", "dgram:0:24998", "dgram:1:70000", "dgram:70000:1", "dgram:1", "dgram:1:2:3"].map((where) => [
      `devinfo --on softnic --address 10.0.0.1/24 --frames ${where}`,
      ...["--frames", where, FRAMES],
    ]),
    ...["224.0.0.1", "0.0.0.0", "255.255.255.255", "ff02::1", "::", "10.0.0.1/33", "fd00::1/129", "nohost"].flatMap(
      (address) => [
        [`rping 10.0.0.9 --address ${address}`, "--address", address, OWN],
        [`devinfo --address ${address} --frames dgram:1:2`, "--address", address, OWN],
      ],
    ),
    ...["nohost", "224.0.0.1", "0.0.0.0", "255.255.255.255", "ff02::1", "300.1.1.1"].map((host) => [
      ...[`rping ${host} --address 127.0.0.1`, "HOST", host, HOST],
    ]),
    ["rping nohost --on iwarp", "HOST", "nohost", HOST],
    ["rping ::1 --address 127.0.0.1", "HOST", "::1", "an address of IPv4, as --address has"],
    ["rping 127.0.0.1 --address ::1", "HOST", "127.0.0.1", "an address of IPv6, as --address has"],
  ])("%s", async (line, flag, found, expected) => {
    const { code, out, err } = await rdmakit(line!.split(" "))
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err.split("\n")[0]).toBe(`error: ${flag}: found "${found}", expected ${expected}`)
  })

  test.each([
    ["perf", "send-bw", "--peer", ""],
    ["pingpong", "rc", ""],
  ])("no name of a host: %s", async (...args) => {
    const { code, out, err } = await rdmakit(args)
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toBe('error: the other end: found "", expected the name or address of its host\n')
  })
})

test.each([
  "devinfo --address 127.0.0.1/8",
  "devinfo --address ::1",
  "devinfo --address 10.0.0.1/32 --address fd00::1/128 --frames dgram:28101:65535",
])("%s has a port", async (line) => {
  const { code, out, err } = await rdmakit(line.split(" "))
  expect({ code, err }).toEqual({ code: 0, err: "" })
  expect(out).toContain("PORT_ACTIVE")
})

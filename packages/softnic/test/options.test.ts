import { createSocket } from "node:dgram"
import { once } from "node:events"
import { describe, expect, it } from "vitest"
import { openSoftnic, SoftnicError, type SoftnicOptions } from "../src/index.ts"

const UDP = { address: "127.0.0.1", port: 0 }
const PEER = { address: "10.0.0.9", host: "127.0.0.1", port: 23_777 }
const ETHERNET = { mac: "52:54:00:00:00:02", addresses: ["10.0.0.2/24"] }
const DATAGRAMS = { port: 0, remotePort: 23_999 }
const STREAM = { place: { path: "/nonexistent/wire" }, role: "connect" }

/** What a program gives that no compiler has checked. */
const open = (options: unknown) => openSoftnic(options as SoftnicOptions)

const refusalOf = async (options: unknown): Promise<SoftnicError> => {
  const softnic = await open(options).catch((error: unknown) => error)
  expect(softnic).toBeInstanceOf(SoftnicError)
  return softnic as SoftnicError
}

const NO_NUMBERS = ["x", null, {}, [], Number.NaN, Number.POSITIVE_INFINITY]
const NO_PORTS = [...NO_NUMBERS, -1, 1.5, 65_536, 70_000, 2 ** 53]
const NO_HOSTS = [
  5,
  null,
  {},
  [],
  "",
  "nohost",
  "300.1.1.1",
  "0.0.0.0",
  "::",
  "255.255.255.255",
  "224.0.0.1",
  "ff02::1",
]
const NO_LISTS = [5, "10.0.0.1", null, {}]
const NO_OBJECTS = [5, "x", null, []]

describe("an option that no port can have is refused by its name", () => {
  describe.each([
    ["options", [undefined, ...NO_OBJECTS], (value: unknown) => value],
    [
      "link",
      [undefined, {}, ...NO_OBJECTS, { udp: UDP, ethernet: ETHERNET, datagrams: DATAGRAMS }],
      (link: unknown) => ({ link }),
    ],
    ["lineRateBps", [...NO_NUMBERS, 0, -1], (lineRateBps: unknown) => ({ link: { udp: UDP }, lineRateBps })],
    ["baseRttPs", [...NO_NUMBERS, 0, -1], (baseRttPs: unknown) => ({ link: { udp: UDP }, baseRttPs })],
    ["awakePs", [...NO_NUMBERS, -1, 1e12 + 1], (awakePs: unknown) => ({ link: { udp: UDP }, awakePs })],
    ["transport", [...NO_OBJECTS, {}], (transport: unknown) => ({ link: { udp: UDP }, transport })],
    ["through", [...NO_OBJECTS, {}], (through: unknown) => ({ link: { udp: UDP }, through })],
  ] as const)("%s", (what, values, optionsOf) => {
    it.each(values.map((value) => [value]))("%j", async (value) => {
      expect(await refusalOf(optionsOf(value))).toMatchObject({ what })
    })
  })

  describe.each([
    ["udp", [undefined, ...NO_OBJECTS], (udp: unknown) => ({ udp })],
    ["address", [undefined, ...NO_HOSTS], (address: unknown) => ({ udp: { ...UDP, address } })],
    ["port", NO_PORTS, (port: unknown) => ({ udp: { ...UDP, port } })],
    ["gid", NO_HOSTS, (gid: unknown) => ({ udp: { ...UDP, gid } })],
    ["peers", NO_LISTS, (peers: unknown) => ({ udp: { ...UDP, peers } })],
    ["peers[1]", [undefined, ...NO_OBJECTS], (peer: unknown) => ({ udp: { ...UDP, peers: [PEER, peer] } })],
    [
      "peers[0].address",
      [undefined, 5, "x", ""],
      (address: unknown) => ({ udp: { ...UDP, peers: [{ ...PEER, address }] } }),
    ],
    [
      "peers[0].host",
      [undefined, ...NO_HOSTS, "::1"],
      (host: unknown) => ({ udp: { ...UDP, peers: [{ ...PEER, host }] } }),
    ],
    [
      "peers[0].port",
      [undefined, 0, ...NO_PORTS],
      (port: unknown) => ({ udp: { ...UDP, peers: [{ ...PEER, port }] } }),
    ],
    ["mtuBytes", [...NO_NUMBERS, 351, 352.5, 65_537], (mtuBytes: unknown) => ({ udp: { ...UDP, mtuBytes } })],
    ["bufferBytes", [...NO_NUMBERS, 0, -1, 2 ** 31], (bufferBytes: unknown) => ({ udp: { ...UDP, bufferBytes } })],
  ] as const)("of UDP, %s", (what, values, linkOf) => {
    it.each(values.map((value) => [value]))("%j", async (value) => {
      expect(await refusalOf({ link: linkOf(value) })).toMatchObject({ what })
    })
  })

  const framed = (over: object, changed: object = {}) => ({ ...over, ethernet: { ...ETHERNET, ...changed } })
  describe.each([
    ["datagrams", [undefined, ...NO_OBJECTS], (datagrams: unknown) => framed({ datagrams })],
    ["host", [5, null, "", "nohost"], (host: unknown) => framed({ datagrams: { ...DATAGRAMS, host } })],
    ["port", [undefined, ...NO_PORTS], (port: unknown) => framed({ datagrams: { ...DATAGRAMS, port } })],
    ["remoteHost", [...NO_HOSTS, "::1"], (remoteHost: unknown) => framed({ datagrams: { ...DATAGRAMS, remoteHost } })],
    [
      "remotePort",
      [undefined, 0, ...NO_PORTS],
      (remotePort: unknown) => framed({ datagrams: { ...DATAGRAMS, remotePort } }),
    ],
    ["bufferBytes", [...NO_NUMBERS, 0], (bufferBytes: unknown) => framed({ datagrams: { ...DATAGRAMS, bufferBytes } })],
    ["stream", [undefined, ...NO_OBJECTS], (stream: unknown) => framed({ stream })],
    ["role", [undefined, "zz", 5], (role: unknown) => framed({ stream: { ...STREAM, role } })],
    ["place", [undefined, ...NO_OBJECTS], (place: unknown) => framed({ stream: { ...STREAM, place } })],
    ["place.path", [undefined, 5, ""], (path: unknown) => framed({ stream: { ...STREAM, place: { path } } })],
    ["place.host", [5, null, ""], (host: unknown) => framed({ stream: { ...STREAM, place: { host, port: 1 } } })],
    ["place.port", [undefined, 0, ...NO_PORTS], (port: unknown) => framed({ stream: { ...STREAM, place: { port } } })],
    ["cable", [undefined, 5, {}], (cable: unknown) => framed({ cable })],
    ["ethernet", [undefined, ...NO_OBJECTS], (ethernet: unknown) => ({ datagrams: DATAGRAMS, ethernet })],
    ["mac", [undefined, 5, null, "x"], (mac: unknown) => framed({ datagrams: DATAGRAMS }, { mac })],
    ["addresses", [undefined, ...NO_LISTS], (addresses: unknown) => framed({ datagrams: DATAGRAMS }, { addresses })],
    ["addresses[0]", [undefined, 5, null], (text: unknown) => framed({ datagrams: DATAGRAMS }, { addresses: [text] })],
    [
      "addresses",
      ["", "10.0.0.1/33", "10.0.0.1/24/7", "224.0.0.1/24", "0.0.0.0/0", "::/64", "255.255.255.255"],
      (text: unknown) => framed({ datagrams: DATAGRAMS }, { addresses: [text] }),
    ],
    ["gateways", NO_LISTS, (gateways: unknown) => framed({ datagrams: DATAGRAMS }, { gateways })],
    ["gateways[0]", [undefined, 5, null], (text: unknown) => framed({ datagrams: DATAGRAMS }, { gateways: [text] })],
    ["mtuBytes", [...NO_NUMBERS, 351, 65_537], (mtuBytes: unknown) => framed({ datagrams: DATAGRAMS }, { mtuBytes })],
  ] as const)("of frames, %s", (what, values, linkOf) => {
    it.each(values.map((value) => [value]))("%j", async (value) => {
      expect(await refusalOf({ link: linkOf(value) })).toMatchObject({ what })
    })
  })

  it("says what was found and what is expected", async () => {
    const { message } = await refusalOf({ link: { udp: { ...UDP, peers: [PEER, { ...PEER, port: 70_000 }] } } })
    expect(message).toBe("peers[1].port: found 70000, expected a port, 1 to 65,535")
    const wide = await refusalOf({ link: { udp: { ...UDP, peers: [{ ...PEER, host: "::1" }] } } })
    expect(wide.message).toBe("peers[0].host: found ::1, expected an address of IPv4, as the socket's 127.0.0.1")
  })

  it("before a socket is opened", async () => {
    const other = createSocket("udp4").bind({ address: "127.0.0.1", exclusive: true })
    await once(other, "listening")
    const link = { udp: { ...UDP, port: other.address().port } }
    expect(await refusalOf({ link, awakePs: Number.POSITIVE_INFINITY })).toMatchObject({ what: "awakePs" })
    expect((await refusalOf({ link })).message).toContain("EADDRINUSE")
    other.close()
  })
})

describe("the ends of what a port can have", () => {
  it.each([
    [{ link: { udp: { ...UDP, mtuBytes: 352, bufferBytes: 1 } } }],
    [{ link: { udp: { ...UDP, mtuBytes: 65_536, bufferBytes: 2 ** 31 - 1 } } }],
    [
      {
        link: {
          udp: {
            ...UDP,
            peers: [
              { ...PEER, port: 1 },
              { ...PEER, address: "10.0.0.8", port: 65_535 },
            ],
          },
        },
      },
    ],
    [{ link: { udp: UDP }, awakePs: 0, lineRateBps: 1, baseRttPs: 1 }],
    [{ link: { udp: UDP }, awakePs: 1e12 }],
    [{ link: { datagrams: { port: 0, remotePort: 65_535 }, ethernet: { ...ETHERNET, addresses: [], gateways: [] } } }],
  ])("%j", async (options) => {
    const softnic = await open(options)
    expect(softnic.device.name).toBe("rdmakit0")
    softnic.close()
  })
})

/** What a device's options can be: all of it is asked before a socket is opened. */
import { checkBaseRtt, checkLineRate, checkTransport, hasFields, type OptionCheck, shown } from "@rdmakit/protocol"
import { gidOf, hostGid } from "./Address.ts"
import type { EthernetOptions } from "./EthernetLink.ts"
import type { FrameDatagramsOptions } from "./FrameDatagrams.ts"
import type { FrameStreamOptions } from "./FrameStream.ts"
import type { SoftnicLink, SoftnicOptions } from "./Softnic.ts"
import { SoftnicError } from "./SoftnicError.ts"
import type { UdpPeer } from "./UdpCable.ts"
import type { UdpOptions } from "./UdpLink.ts"

const PORT_MAX = 0xffff
/** The least that a packet of path MTU 256 fits into, and the most that IP can have: Linux' loopback has it. */
const MTU_BYTES_MIN = 352
const MTU_BYTES_MAX = 65_536
/** Sockets take it as an `int`. */
const BUFFER_BYTES_MAX = 2 ** 31 - 1
/** 1 s: a processor that polls for longer without a packet does nothing else. */
const AWAKE_PS_MAX = 1e12

const ADDRESS = "an address, as 10.0.0.1 or fd00::1"
const MTU = "352 at least, 65,536 at most, and a whole number"
const LINK = "one of { udp }, { datagrams, ethernet }, { stream, ethernet } and { cable, ethernet }"

const check: OptionCheck = (option, value, legal, expected) => {
  if (legal) return
  throw new SoftnicError(option, typeof value === "string" && value !== "" ? value : shown(value), expected)
}

const isWhole = (value: unknown, least: number, most: number): boolean =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most

const isV6 = (address: string): boolean => address.includes(":")

const isAddress = (value: unknown): boolean => typeof value === "string" && gidOf(value) !== undefined

const isHost = (value: unknown): boolean => typeof value === "string" && hostGid(value) !== undefined

const checkFields = (option: string, value: unknown): void => check(option, value, hasFields(value), "an object")

const checkList = (option: string, value: unknown, expected: string): void =>
  check(option, value, Array.isArray(value), expected)

/** @param least 0 where the system may choose one, and 1 where somebody else has it */
const checkPort = (option: string, value: unknown, least: 0 | 1): void =>
  check(option, value, isWhole(value, least, PORT_MAX), `a port, ${least} to 65,535`)

const checkMtu = (mtuBytes: unknown): void => {
  if (mtuBytes === undefined) return
  check("mtuBytes", mtuBytes, isWhole(mtuBytes, MTU_BYTES_MIN, MTU_BYTES_MAX), MTU)
}

const checkBuffer = (bufferBytes: unknown): void => {
  if (bufferBytes === undefined) return
  check("bufferBytes", bufferBytes, isWhole(bufferBytes, 1, BUFFER_BYTES_MAX), "a whole number, 1 to 2^31 - 1")
}

/** Refuses what a socket at `own` cannot send to. */
const checkReachable = (option: string, host: unknown, own: string): void => {
  check(option, host, isHost(host), `${ADDRESS}, of one host`)
  const family = isV6(own) ? "IPv6" : "IPv4"
  check(option, host, isV6(host as string) === isV6(own), `an address of ${family}, as the socket's ${own}`)
}

const checkPeer = (option: string, peer: UdpPeer, own: string): void => {
  checkFields(option, peer)
  check(`${option}.address`, peer.address, isAddress(peer.address), ADDRESS)
  checkReachable(`${option}.host`, peer.host, own)
  checkPort(`${option}.port`, peer.port, 1)
}

const checkUdp = (udp: UdpOptions): void => {
  checkFields("udp", udp)
  const { address, port, gid, peers, mtuBytes, bufferBytes } = udp
  check("address", address, isHost(address), "one address of this host, as 10.0.0.1 or fd00::1")
  if (port !== undefined) checkPort("port", port, 0)
  if (gid !== undefined) check("gid", gid, isHost(gid), `${ADDRESS}, of one host`)
  if (peers !== undefined) {
    checkList("peers", peers, "a list of { address, host, port }")
    for (const [index, peer] of peers.entries()) checkPeer(`peers[${index}]`, peer, address)
  }
  checkMtu(mtuBytes)
  checkBuffer(bufferBytes)
}

const checkDatagrams = (datagrams: FrameDatagramsOptions): void => {
  checkFields("datagrams", datagrams)
  const { host = "127.0.0.1", port, remoteHost = "127.0.0.1", remotePort, bufferBytes } = datagrams
  check("host", host, isAddress(host), ADDRESS)
  checkPort("port", port, 0)
  checkReachable("remoteHost", remoteHost, host)
  checkPort("remotePort", remotePort, 1)
  checkBuffer(bufferBytes)
}

const checkStream = (stream: FrameStreamOptions): void => {
  checkFields("stream", stream)
  const { place, role } = stream
  check("role", role, role === "listen" || role === "connect", '"listen" or "connect"')
  check("place", place, hasFields(place), "{ path } of a socket, or { host, port } of TCP")
  if ("path" in place) {
    check("place.path", place.path, typeof place.path === "string" && place.path !== "", "the path of a socket")
    return
  }
  const { host, port } = place
  if (host !== undefined) check("place.host", host, typeof host === "string" && host !== "", "a host's name or address")
  checkPort("place.port", port, role === "listen" ? 0 : 1)
}

/** What else an address or a MAC has to be is asked where it is read. */
const checkEthernet = (ethernet: EthernetOptions): void => {
  checkFields("ethernet", ethernet)
  const { mac, addresses, gateways = [], mtuBytes } = ethernet
  check("mac", mac, typeof mac === "string", "a host's own, as 52:54:00:00:00:02")
  for (const [option, list] of [["addresses", addresses] as const, ["gateways", gateways] as const]) {
    checkList(option, list, "a list of addresses")
    for (const [index, text] of list.entries()) check(`${option}[${index}]`, text, typeof text === "string", ADDRESS)
  }
  checkMtu(mtuBytes)
}

const checkLink = (link: SoftnicLink): void => {
  check("link", link, hasFields(link), LINK)
  const kinds = ["udp", "datagrams", "stream", "cable"].filter((kind) => kind in link)
  check("link", kinds.length > 1 ? kinds.join(" and ") : link, kinds.length === 1, LINK)
  if ("udp" in link) {
    checkUdp(link.udp)
    return
  }
  if ("datagrams" in link) checkDatagrams(link.datagrams)
  else if ("stream" in link) checkStream(link.stream)
  else check("cable", link.cable, typeof link.cable === "function", "a function that makes a cable")
  checkEthernet(link.ethernet)
}

/** Refuses options that no device can have. @throws SoftnicError, which names the option */
export const checkSoftnicOptions = (options: SoftnicOptions): void => {
  checkFields("options", options)
  const { link, lineRateBps, baseRttPs, awakePs, transport, through } = options
  checkLink(link)
  if (lineRateBps !== undefined) checkLineRate(check, lineRateBps)
  if (baseRttPs !== undefined) checkBaseRtt(check, baseRttPs)
  if (awakePs !== undefined) {
    const legal = Number.isFinite(awakePs) && awakePs >= 0 && awakePs <= AWAKE_PS_MAX
    check("awakePs", awakePs, legal, "0 to 1e12 ps, 1 s")
  }
  if (transport !== undefined) checkTransport(check, "transport", transport)
  if (through !== undefined) check("through", through, typeof through === "function", "a function of a cable")
}

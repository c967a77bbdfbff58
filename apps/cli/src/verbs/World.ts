/** Where a program of verbs runs, as the command line says it. */
import { ipv4OfNode, isMapped } from "@rdmakit/codec"
import { parseTopology, switchFlags } from "@rdmakit/ns3"
import { InputsRefused, type Mention, readInput } from "@rdmakit/scenario"
import { hostGid, type IwarpOptions, type SoftnicLink, type UdpPeer } from "@rdmakit/softnic"
import { type Graph, hostsOf, star } from "@rdmakit/topology"
import { formatRate, tryParseRate, tryParseTime } from "@rdmakit/units"
import { Effect, FileSystem, Option, Path } from "effect"
import { cannotBeWritten, Refused } from "../Exit.ts"
import { checkOutputFile } from "../OutputFile.ts"
import { reading } from "../Reading.ts"
import { WorkingDirectory } from "../Screen.ts"
import { type HostAndPort, hostAndPort, isV6, portOf, withoutLength } from "./Addresses.ts"
import { type Faults, fabricFaults, parseFaults } from "./FaultText.ts"

/** The flags of `worldFlags`. */
export interface WorldInput {
  readonly on: Option.Option<"fabric" | "softnic" | "iwarp">
  readonly rate: Option.Option<string>
  readonly delay: Option.Option<string>
  readonly topology: Option.Option<string>
  readonly hosts: Option.Option<string>
  readonly address: ReadonlyArray<string>
  readonly frames: Option.Option<string>
  readonly mac: Option.Option<string>
  readonly bind: Option.Option<string>
  readonly at: ReadonlyArray<string>
  readonly linkMtu: Option.Option<number>
  readonly pcap: Option.Option<string>
  /** Replace a file of `pcap` that is there. */
  readonly force: boolean
  readonly faults: Option.Option<string>
  readonly seed: number
  readonly port: Option.Option<number>
  readonly json: boolean
}

interface Wanted {
  readonly seed: number
  readonly faults: Faults | undefined
  readonly pcap: WantedCapture | undefined
}

/** Where a capture is to go. */
export interface WantedCapture {
  /** As the command line has it. */
  readonly name: string
  /** Absolute. */
  readonly path: string
  /** It is written into as it is, a FIFO or /dev/null; else a file takes its name when it is whole. */
  readonly isDevice: boolean
}

export interface WantedFabric extends Wanted {
  readonly kind: "fabric"
  readonly graph: Graph
  /** Client and server, by their places among the hosts. */
  readonly places: readonly [client: number, server: number]
  /** The same, by their numbers. */
  readonly hosts: readonly [client: number, server: number]
}

export interface WantedSoftnic extends Wanted {
  readonly kind: "softnic"
  /** undefined: both ends are to be made, on sockets of loopback. */
  readonly link: SoftnicLink | undefined
}

export interface WantedIwarp extends Wanted {
  readonly kind: "iwarp"
  /** undefined: both ends are to be made, on sockets of loopback. */
  readonly place: IwarpOptions | undefined
}

export type WantedWorld = WantedFabric | WantedSoftnic | WantedIwarp

/** Which ends this process is to have. */
export type Ends = "both" | "client" | "server"

const FABRIC_FLAGS = ["rate", "delay", "topology", "hosts"] as const
const SOFTNIC_FLAGS = ["address", "frames", "mac", "bind", "at", "linkMtu"] as const
/** What needs packets: iWARP's octets go through a stream of the system's. */
const PACKET_FLAGS = ["frames", "mac", "linkMtu", "pcap", "faults"] as const
const MAC = "52:54:00:00:00:02"
const LOOPBACK = "127.0.0.1"
const RATE = "100Gbps"
const DELAY = "1us"
/** At less, a few packets would outlast the two and a half hours in which simulated times are exact. */
const RATE_MIN_BPS = 1000
const RATE_MIN = `a rate of at least ${formatRate(RATE_MIN_BPS)}`
const LINK_MTU_MIN = 576
const LINK_MTU_MAX = 65_536

export const wantedWorld = (input: WorldInput, ends: Ends) =>
  Effect.gen(function* () {
    const softnicFlag = SOFTNIC_FLAGS.find((name) => isGiven(input[name]))
    const fabricFlag = FABRIC_FLAGS.find((name) => isGiven(input[name]))
    const implied = ends !== "both" || softnicFlag !== undefined ? "softnic" : "fabric"
    const on = Option.getOrElse(input.on, () => implied)
    if (on === "fabric" && ends !== "both") {
      const hint = "a simulated network has both ends; --on softnic sends real packets"
      return yield* new Refused({ message: "--on: found fabric with one end alone, expected softnic", hint })
    }
    const stray = on === "fabric" ? softnicFlag : fabricFlag
    if (stray !== undefined) {
      const other = on === "fabric" ? "softnic" : "fabric"
      return yield* new Refused({ message: `${flagOf(stray)}: found it with ${on}, expected ${other}` })
    }
    const wanted = { seed: input.seed, faults: yield* faultsOf(input) }
    if (on === "fabric") {
      const network = yield* fabricOf(input)
      return { ...wanted, ...network, pcap: yield* captureOf(input) } satisfies WantedFabric
    }
    const { faults = {} } = wanted
    const simulated = (["blackHole", "serverBps"] as const).find((name) => faults[name] !== undefined)
    if (simulated !== undefined) {
      const found = fabricFaults[simulated]
      return yield* new Refused({ message: `--faults: found ${found} with ${on}, expected fabric` })
    }
    const packetFlag = PACKET_FLAGS.find((name) => isGiven(input[name]))
    if (on === "iwarp" && packetFlag !== undefined) {
      const message = `${flagOf(packetFlag)}: found it with iwarp, expected softnic`
      return yield* new Refused({ message, hint: "iWARP's octets go through a stream of TCP, not in packets of ours" })
    }
    if (ends === "both" && softnicFlag !== undefined) {
      const message = `${flagOf(softnicFlag)}: found it with both ends, expected one end alone`
      return yield* new Refused({ message, hint: "name the peer, or --listen; the ends of one host find each other" })
    }
    if (on === "iwarp") {
      const place = ends === "both" ? undefined : yield* placeOf(input)
      return { ...wanted, kind: "iwarp", place, pcap: undefined } satisfies WantedIwarp
    }
    const link = ends === "both" ? undefined : yield* linkOf(input)
    return { ...wanted, kind: "softnic", link, pcap: yield* captureOf(input) } satisfies WantedSoftnic
  })

const isGiven = (value: Option.Option<unknown> | ReadonlyArray<string>): boolean =>
  "length" in value ? value.length > 0 : Option.isSome(value)

const flagOf = (name: string): string => `--${name === "linkMtu" ? "link-mtu" : name}`

const faultsOf = ({ faults }: WorldInput) =>
  Effect.gen(function* () {
    if (Option.isNone(faults)) return undefined
    const parsed = parseFaults(faults.value)
    if (typeof parsed === "string") return yield* new Refused({ message: `--faults: ${parsed}` })
    return parsed
  })

/** A place where no file can be, or another is, is told before anything is measured. */
const captureOf = ({ pcap, topology, force }: WorldInput) =>
  Effect.gen(function* () {
    if (Option.isNone(pcap)) return undefined
    const files = yield* FileSystem.FileSystem
    const path = (yield* Path.Path).resolve(yield* WorkingDirectory, pcap.value)
    const elsewhere = "choose another with --pcap FILE"
    const info = yield* Effect.option(files.stat(path))
    const isDevice = Option.isSome(info) && DEVICES.has(info.value.type)
    if (isDevice) {
      // What opens and closes a FIFO ends it for its reader.
      const isFifo = info.value.type === "FIFO"
      const check = isFifo
        ? files.access(path, { writable: true })
        : Effect.scoped(Effect.asVoid(files.open(path, { flag: "r+" })))
      yield* Effect.mapError(check, (error) => cannotBeWritten(pcap.value, elsewhere, error))
    } else yield* checkOutputFile({ out: pcap, force, inputs: Option.toArray(topology), elsewhere })
    return { name: pcap.value, path, isDevice } satisfies WantedCapture
  })

/** What is written into as it is: nothing is replaced. */
const DEVICES: ReadonlySet<FileSystem.File.Type> = new Set(["CharacterDevice", "BlockDevice", "FIFO"])

const fabricOf = (input: WorldInput) =>
  Effect.gen(function* () {
    const graph = Option.isSome(input.topology) ? yield* graphOfFile(input, input.topology.value) : yield* starOf(input)
    const all = hostsOf(graph)
    const hosts = Option.isNone(input.hosts) ? [all[0]!, all[1]!] : input.hosts.value.split(",").map(Number)
    const places = hosts.map((host) => all.indexOf(host))
    if (places.length !== 2 || places.some((place) => place < 0) || hosts[0] === hosts[1]) {
      const found = Option.getOrElse(input.hosts, () => `${all.length} hosts`)
      const expected = `two of the hosts ${all[0]}..${all.at(-1)}, as ${all[0]},${all[1]}`
      return yield* new Refused({ message: `--hosts: found "${found}", expected ${expected}` })
    }
    return {
      kind: "fabric" as const,
      graph,
      places: [places[0]!, places[1]!] as const,
      hosts: [hosts[0]!, hosts[1]!] as const,
    }
  })

const starOf = (input: WorldInput) =>
  Effect.gen(function* () {
    const rate = tryParseRate(Option.getOrElse(input.rate, () => RATE))
    if (typeof rate !== "number") return yield* new Refused({ message: `--rate: ${rate.message}` })
    if (!(rate >= RATE_MIN_BPS)) {
      return yield* new Refused({ message: `--rate: found ${formatRate(rate)}, expected ${RATE_MIN}` })
    }
    const delay = tryParseTime(Option.getOrElse(input.delay, () => DELAY))
    if (typeof delay !== "number") return yield* new Refused({ message: `--delay: ${delay.message}` })
    return star(2, { rate, delay })
  })

const graphOfFile = (input: WorldInput, name: string) =>
  Effect.gen(function* () {
    const stray = (["rate", "delay"] as const).find((flag) => Option.isSome(input[flag]))
    if (stray !== undefined) {
      const message = `--${stray}: found it beside --topology, expected one of the two`
      return yield* new Refused({ message, hint: "the file says what its links are" })
    }
    const mention: Mention = { file: "command line", line: 0, column: 0, field: "--topology" }
    const search = { workingDirectory: yield* WorkingDirectory, folders: ["."] }
    const { octets } = yield* readInput(name, search, mention).pipe(
      Effect.mapError((fault) => new InputsRefused({ faults: [fault], notes: [] })),
    )
    const topology = yield* reading(() => parseTopology(octets, name))
    const slow = topology.links.find(({ rateBps }) => !(rateBps >= RATE_MIN_BPS))
    if (slow !== undefined) {
      const place = `${name}:${slow.line}: rate`
      return yield* new Refused({ message: `${place}: found ${formatRate(slow.rateBps)}, expected ${RATE_MIN}` })
    }
    const graph: Graph = { nodes: topology.nodes, isSwitch: switchFlags(topology), links: topology.links }
    if (hostsOf(graph).length >= 2) return graph
    return yield* new Refused({ message: `--topology: ${name}: found fewer than two hosts` })
  })

const linkOf = (input: WorldInput): Effect.Effect<SoftnicLink, Refused> =>
  Effect.gen(function* () {
    const { address, linkMtu } = input
    const mtu = Option.getOrUndefined(linkMtu)
    if (mtu !== undefined && !(mtu >= LINK_MTU_MIN && mtu <= LINK_MTU_MAX)) {
      const message = `--link-mtu: found ${mtu}, expected a whole number ${LINK_MTU_MIN}..${LINK_MTU_MAX}`
      return yield* new Refused({ message })
    }
    const mtuBytes = mtu === undefined ? {} : { mtuBytes: mtu }
    if (Option.isNone(input.frames)) return { udp: { ...(yield* udpOf(input)), ...mtuBytes } }
    const stray = (["bind", "at"] as const).find((name) => isGiven(input[name]))
    if (stray !== undefined) {
      return yield* new Refused({ message: `--${stray}: found it with --frames, expected a UDP socket` })
    }
    if (address.length === 0) {
      const message = "--address: found none with --frames, expected this port's, as 10.0.0.2/24"
      return yield* new Refused({ message })
    }
    yield* ownAddresses(address)
    const ethernet = { mac: Option.getOrElse(input.mac, () => MAC), addresses: address, ...mtuBytes }
    const where = input.frames.value
    const [, kind, place] = /^(dgram|stream|listen):(.+)$/.exec(where) ?? []
    if (kind === "dgram") {
      const [port, remotePort, ...more] = place!.split(":").map((digits) => portOf(digits, 1))
      if (port !== undefined && remotePort !== undefined && more.length === 0) {
        return { datagrams: { port, remotePort }, ethernet }
      }
    }
    if ((kind === "stream" || kind === "listen") && place !== undefined) {
      return { stream: { place: { path: place }, role: kind === "listen" ? "listen" : "connect" }, ethernet }
    }
    const expected = "dgram:PORT:PORT, here and there (1..65535), stream:PATH of a socket, or listen:PATH"
    return yield* new Refused({ message: `--frames: found "${where}", expected ${expected}` })
  })

const udpOf = ({ address, mac, bind, at }: WorldInput): Effect.Effect<UdpPlace, Refused> =>
  Effect.gen(function* () {
    if (Option.isSome(mac)) {
      return yield* new Refused({ message: "--mac: found it without --frames, expected a network of frames" })
    }
    if (address.length > 1) {
      return yield* new Refused({ message: `--address: found ${address.length}, expected one, of the UDP socket` })
    }
    const [own = LOOPBACK] = yield* ownAddresses(address)
    const socket = Option.isNone(bind) ? undefined : yield* socketOf(bind.value)
    const host = socket?.host ?? own
    const peers = yield* Effect.forEach(at, (text) => peerOf(text, host))
    if (socket === undefined) return { address: own, ...(peers.length === 0 ? {} : { peers }) }
    return { address: host, port: socket.port, gid: own, peers }
  })

/** This port's, without the lengths of their networks. */
const ownAddresses = (given: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, Refused> =>
  Effect.forEach(given, (text) => {
    const address = withoutLength(text)
    if (address !== undefined) return Effect.succeed(address)
    const message = `--address: found "${text}", expected the address of one host, as 10.0.0.2/24`
    return Effect.fail(new Refused({ message }))
  })

const socketOf = (text: string): Effect.Effect<HostAndPort, Refused> => {
  const found = hostAndPort(text, 0)
  if (typeof found !== "string") return Effect.succeed(found)
  return Effect.fail(new Refused({ message: `--bind: found "${text}", expected ${found}` }))
}

/** @param own the address of the socket that sends there */
const peerOf = (text: string, own: string): Effect.Effect<UdpPeer, Refused> => {
  const refused = (expected: string) =>
    Effect.fail(new Refused({ message: `--at: found "${text}", expected ${expected}` }))
  const [address, place, ...more] = text.split("=")
  if (place === undefined || more.length > 0) return refused("ADDRESS=HOST:PORT")
  if (hostGid(address!) === undefined) return refused("the address of one host before the =, as 10.0.0.2")
  const found = hostAndPort(place, 1)
  if (typeof found === "string") return refused(found === "HOST:PORT" ? `ADDRESS=${found}` : found)
  if (isV6(found.host) !== isV6(own))
    return refused(`a HOST of ${isV6(own) ? "IPv6" : "IPv4"}, as the socket at ${own}`)
  return Effect.succeed({ address: address!, ...found })
}

/**
 * Refuses a peer of the connection manager that this end cannot be connected to.
 * @param flag what of the command line says it
 */
export const checkPeerAddress = (
  flag: string,
  text: string,
  { address, frames }: Pick<WorldInput, "address" | "frames">,
): Effect.Effect<void, Refused> => {
  const gid = hostGid(text)
  const refused = (expected: string) =>
    Effect.fail(new Refused({ message: `${flag}: found "${text}", expected ${expected}` }))
  if (gid === undefined) return refused("the address of one host, as 10.0.0.1 or fd00::1")
  const own = hostGid(withoutLength(address[0] ?? LOOPBACK) ?? "")
  // A port on a network of frames has addresses of both families; others are refused by themselves.
  if (Option.isSome(frames) || own === undefined || isMapped(own) === isMapped(gid)) return Effect.void
  return refused(`an address of ${isMapped(own) ? "IPv4" : "IPv6"}, as --address has`)
}

/** The same flags, where a port is where queue pairs meet. */
const placeOf = (input: WorldInput) =>
  Effect.map(
    udpOf(input),
    ({ address, port, gid, peers = [] }): IwarpOptions => ({
      address: gid ?? address,
      host: address,
      ...(port === undefined ? {} : { meetingPort: port }),
      peers: peers.map((peer) => ({ address: peer.address, host: peer.host, meetingPort: peer.port })),
    }),
  )

interface UdpPlace {
  readonly address: string
  readonly port?: number
  readonly gid?: string
  readonly peers?: ReadonlyArray<UdpPeer>
}

/** The IPv4 address of a host of a simulated network. */
export const addressOfHost = (host: number): string =>
  [24, 16, 8, 0].map((bits) => (ipv4OfNode(host) >>> bits) & 0xff).join(".")

/** What passes the two hosts of a simulated network, as octets. */
import { macOfNode, Route, VerbsCodec } from "@rdmakit/codec"
import { captureLinkTypes } from "@rdmakit/codec/cable"
import type { PacketObserver } from "@rdmakit/fabric"
import { Flag, Layout, Packet, PacketPool } from "@rdmakit/packet"
import { optionCodes, type PcapngWriter, textOption } from "@rdmakit/pcap"

const { EXT, EXTENSION, EXTENSION_SHIFT, EXTENSION_WORDS, RECORD_SHIFT, RECORD_WORDS } = Layout
const PS_PER_NS = 1000
const GID_BYTES = 16

/** Writes a pcapng file with an interface for each host. */
export class FabricCapture {
  readonly #writer: PcapngWriter
  readonly #interfaces: ReadonlyMap<number, number>
  readonly #codec = new VerbsCodec()
  /** Packets are written as octets in a pool of their own: the network's stay as they are. */
  readonly #pool = new PacketPool({ capacity: 16 })
  readonly #copy = new Packet(this.#pool)
  readonly #routes = new Map<string, Route>()

  constructor(writer: PcapngWriter, hosts: ReadonlyArray<number>) {
    this.#writer = writer
    this.#interfaces = new Map(
      hosts.map((host) => [
        host,
        writer.interface({
          linkType: captureLinkTypes.ethernet,
          options: [textOption(optionCodes.interface.name, `host ${host}`)],
        }),
      ]),
    )
  }

  readonly onPacket: PacketObserver = (now, node, packet, outward) => {
    const number = this.#interfaces.get(node)
    if (number === undefined) return
    const codec = this.#codec
    const copy = this.#copyOf(packet)
    codec.encode(copy, this.#routeOf(copy))
    const ticks = BigInt(Math.floor(now / PS_PER_NS))
    const flags = [{ code: optionCodes.packet.flags, value: Uint8Array.of(outward ? OUTBOUND : INBOUND, 0, 0, 0) }]
    const octets = codec.octets.subarray(codec.start, codec.end)
    this.#writer.packet(number, ticks, octets, octets.length, flags)
    this.#pool.release(copy.handle)
  }

  #copyOf(packet: Packet): Packet {
    const { pool } = packet
    const copy = this.#copy.at(this.#pool.alloc())
    const to = copy.handle << RECORD_SHIFT
    const from = packet.handle << RECORD_SHIFT
    for (let word = 0; word < RECORD_WORDS; word++) {
      if (word !== Layout.NEXT && word !== Layout.TELEMETRY && word !== EXTENSION) {
        this.#pool.words[to + word] = pool.words[from + word]!
      }
    }
    const at = copy.extend()
    const start = packet.extension << EXTENSION_SHIFT
    for (let word = 0; word < EXTENSION_WORDS; word++) this.#pool.extension[at + word] = pool.extension[start + word]!
    const payload = packet.payload
    copy.clear(Flag.SlabPayload)
    if (payload === undefined) return copy
    const bytes = packet.payloadBytes
    const octets = payload.octets.subarray(payload.start, payload.start + bytes)
    const place = copy.addPayload(bytes)
    place.octets.set(octets, place.start)
    return copy
  }

  #routeOf(packet: Packet): Route {
    const { extension } = packet.pool
    const at = packet.extension << EXTENSION_SHIFT
    const words = Array.from({ length: 8 }, (_, word) => extension[at + EXT.ipv6Source + word]!)
    const key = words.join()
    let route = this.#routes.get(key)
    if (route === undefined) {
      const ethernet = { source: macOfNode(packet.source), destination: macOfNode(packet.destination) }
      route = new Route({ source: gidOf(words.slice(0, 4)), destination: gidOf(words.slice(4)), ethernet })
      this.#routes.set(key, route)
    }
    return route
  }
}

/** epb_flags (pcapng §4.3.1). */
const INBOUND = 1
const OUTBOUND = 2

const gidOf = (words: ReadonlyArray<number>): Uint8Array => {
  const gid = new Uint8Array(GID_BYTES)
  const view = new DataView(gid.buffer)
  for (const [index, word] of words.entries()) view.setInt32(4 * index, word)
  return gid
}

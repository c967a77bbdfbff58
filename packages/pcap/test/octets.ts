// A second, plain way to make capture files, so that the reader is not only tested against the writer.
import { readdirSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { CaptureReader, type CaptureRecord, type PacketRecord } from "@rdmakit/pcap"

const folder = new URL("../../../testdata/captures/", import.meta.url)

export const captureNames = readdirSync(folder)
  .filter((name) => name.endsWith(".pcap.gz"))
  .map((name) => name.slice(0, -".pcap.gz".length))

export const capturePath = (name: string): string => new URL(`${name}.pcap.gz`, folder).pathname

export const captureOf = (name: string): Uint8Array => new Uint8Array(gunzipSync(readFileSync(capturePath(name))))

/** Rows of the index: name to number of frames. */
export const indexedFrames: ReadonlyMap<string, number> = new Map(
  readFileSync(new URL("INDEX.txt", folder), "utf8")
    .split("\n")
    .filter((line) => line.includes(" | ") && !line.startsWith("name"))
    .map((line) => line.split(" | "))
    .map((row) => [row[0]!, Number(row[2])]),
)

export const join = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const octets = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    octets.set(part, at)
    at += part.length
  }
  return octets
}

export interface Order {
  readonly u16: (number: number) => Uint8Array
  readonly u32: (number: number) => Uint8Array
  readonly u64: (number: bigint) => Uint8Array
}

const turned = (octets: Uint8Array, littleEndian: boolean): Uint8Array => (littleEndian ? octets : octets.reverse())

export const order = (littleEndian: boolean): Order => ({
  u16: (number) => turned(Uint8Array.of(number & 255, (number >>> 8) & 255), littleEndian),
  u32: (number) =>
    turned(Uint8Array.of(number & 255, (number >>> 8) & 255, (number >>> 16) & 255, number >>> 24), littleEndian),
  u64: (number) => {
    const unsigned = BigInt.asUintN(64, number)
    const octets = Uint8Array.from({ length: 8 }, (_, index) => Number((unsigned >> BigInt(8 * index)) & 255n))
    return turned(octets, littleEndian)
  },
})

export const pad = (octets: Uint8Array): Uint8Array => join(octets, new Uint8Array(-octets.length & 3))

export const block = ({ u32 }: Order, type: number, ...body: ReadonlyArray<Uint8Array>): Uint8Array => {
  const octets = join(...body)
  const length = u32(octets.length + 12)
  return join(u32(type), length, octets, length)
}

export const option = ({ u16 }: Order, code: number, value: Uint8Array): Uint8Array =>
  join(u16(code), u16(value.length), pad(value))

export const text = (value: string): Uint8Array => new TextEncoder().encode(value)

export const sectionHeader = (o: Order, ...options: ReadonlyArray<Uint8Array>): Uint8Array =>
  block(o, 0x0a0d0d0a, o.u32(0x1a2b3c4d), o.u16(1), o.u16(0), o.u64(-1n), ...options)

export const interfaceBlock = (o: Order, snapLength: number, ...options: ReadonlyArray<Uint8Array>): Uint8Array =>
  block(o, 1, o.u16(1), o.u16(0), o.u32(snapLength), ...options)

export const enhancedPacket = (
  o: Order,
  id: number,
  ticks: bigint,
  data: Uint8Array,
  original = data.length,
  ...options: ReadonlyArray<Uint8Array>
): Uint8Array => {
  const high = o.u32(Number(ticks >> 32n))
  const low = o.u32(Number(ticks & 0xffffffffn))
  return block(o, 6, o.u32(id), high, low, o.u32(data.length), o.u32(original), pad(data), ...options)
}

export const pcapHeader = (o: Order, magic: number, linkType = 1, minor = 4): Uint8Array =>
  join(o.u32(magic), o.u16(2), o.u16(minor), o.u32(0), o.u32(0), o.u32(65535), o.u32(linkType))

export const pcapPacket = (
  o: Order,
  seconds: number,
  fraction: number,
  data: Uint8Array,
  original = data.length,
): Uint8Array => join(o.u32(seconds), o.u32(fraction), o.u32(data.length), o.u32(original), data)

/** All records of a file given in chunks of a size, or whole. */
export const recordsOf = (octets: Uint8Array, chunk = Math.max(octets.length, 1), file = ""): Array<CaptureRecord> => {
  const reader = new CaptureReader({ file })
  const records: Array<CaptureRecord> = []
  const drain = (): void => {
    for (let record = reader.next(); record !== undefined; record = reader.next()) records.push(record)
  }
  for (let at = 0; at < octets.length; at += chunk) {
    const buffer = octets.slice(at, at + chunk)
    reader.push(buffer)
    drain()
  }
  reader.end()
  drain()
  return records
}

export const packetsOf = (records: ReadonlyArray<CaptureRecord>): Array<PacketRecord> =>
  records.filter((record) => record.kind === "packet")

/** What a packet says, as plain data. */
export const plain = (packet: PacketRecord) => ({
  frame: packet.frame,
  offset: packet.offset,
  ticks: packet.ticks,
  timeNs: packet.timeNs,
  original: packet.originalOctets,
  data: Buffer.from(packet.data).toString("hex"),
  options: packet.options.map(({ code, value }) => [code, Buffer.from(value).toString("hex")]),
})

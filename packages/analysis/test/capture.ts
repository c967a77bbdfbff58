import { readdirSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { CaptureReader, type PacketRecord } from "@rdmakit/pcap"

const folder = new URL("../../../testdata/captures/", import.meta.url)

export const captures: ReadonlyArray<string> = readdirSync(folder)
  .filter((name) => name.endsWith(".pcap.gz"))
  .map((name) => name.slice(0, -".pcap.gz".length))
  .sort()

/** The packets in the octets of a capture file. */
export const packetsOf = (octets: Uint8Array): ReadonlyArray<PacketRecord> => {
  const reader = new CaptureReader()
  reader.push(octets)
  reader.end()
  const packets: Array<PacketRecord> = []
  for (let record = reader.next(); record !== undefined; record = reader.next())
    if (record.kind === "packet") packets.push(record)
  return packets
}

export const captureOctets = (name: string): Uint8Array =>
  new Uint8Array(gunzipSync(readFileSync(new URL(`${name}.pcap.gz`, folder))))

export const readPackets = (name: string): ReadonlyArray<PacketRecord> => packetsOf(captureOctets(name))

/** What an independent program counted in a capture. */
export interface Indexed {
  readonly name: string
  readonly frames: number
  readonly roce: number
  readonly icrcRight: number
}

export const index: ReadonlyArray<Indexed> = readFileSync(new URL("INDEX.txt", folder), "utf8")
  .split("\n")
  .filter((line) => /^\w+ \| \d/.test(line))
  .map((line) => {
    const [name, , frames, roce, icrcRight] = line.split("|").map((part) => part.trim())
    return { name: name!, frames: Number(frames), roce: Number(roce), icrcRight: Number(icrcRight) }
  })

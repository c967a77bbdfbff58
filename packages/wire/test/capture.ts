import { readdirSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"

/** One frame of a capture. */
export interface Frame {
  readonly octets: Uint8Array
  /** How long it was on the wire. */
  readonly wireBytes: number
}

/** A line of the index: what an independent program counted. */
export interface Indexed {
  readonly name: string
  readonly frames: number
  readonly roce: number
  readonly icrcRight: number
  /** `RC_SEND_Only` and how often. */
  readonly opcodes: Readonly<Record<string, number>>
}

const folder = new URL("../../../testdata/captures/", import.meta.url)

/** The frames of a capture, each in an array of its own. All of them are little-endian pcap of Ethernet. */
export const readCapture = (name: string): ReadonlyArray<Frame> => {
  const file = gunzipSync(readFileSync(new URL(`${name}.pcap.gz`, folder)))
  if (file.readUInt32LE(0) !== 0xa1b2_c3d4 && file.readUInt32LE(0) !== 0xa1b2_3c4d) throw new Error(`${name}: no pcap`)
  const frames: Array<Frame> = []
  for (let at = 24; at < file.length; ) {
    const captured = file.readUInt32LE(at + 8)
    frames.push({
      octets: new Uint8Array(file.subarray(at + 16, at + 16 + captured)),
      wireBytes: file.readUInt32LE(at + 12),
    })
    at += 16 + captured
  }
  return frames
}

export const captures: ReadonlyArray<string> = readdirSync(folder)
  .filter((name) => name.endsWith(".pcap.gz"))
  .map((name) => name.slice(0, -".pcap.gz".length))
  .sort()

export const index: ReadonlyArray<Indexed> = readFileSync(new URL("INDEX.txt", folder), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("name |"))
  .map((line) => {
    const [name, , frames, roce, icrcRight, , , opcodes] = line.split("|").map((part) => part.trim())
    const counts = (opcodes ?? "").split(",").filter((part) => part.trim() !== "")
    return {
      name: name!,
      frames: Number(frames),
      roce: Number(roce),
      icrcRight: Number(icrcRight),
      opcodes: Object.fromEntries(
        counts.map((part) => {
          const [opcode, count] = part.trim().split(":")
          return [opcode!, Number(count)]
        }),
      ),
    }
  })

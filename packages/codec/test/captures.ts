import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"

const folder = new URL("../../../testdata/captures/", import.meta.url)

/** Frames of a capture, which is little-endian pcap of Ethernet; those that were cut are left out. */
export const readFrames = (name: string): ReadonlyArray<Uint8Array> => {
  const file = gunzipSync(readFileSync(new URL(`${name}.pcap.gz`, folder)))
  const frames: Array<Uint8Array> = []
  for (let at = 24; at < file.length; ) {
    const captured = file.readUInt32LE(at + 8)
    if (captured === file.readUInt32LE(at + 12)) frames.push(new Uint8Array(file.subarray(at + 16, at + 16 + captured)))
    at += 16 + captured
  }
  return frames
}

/** Captures of Linux's Soft-RoCE, each with how many packets of RoCEv2 an independent program counted in it. */
export const roceCaptures: ReadonlyArray<readonly [name: string, packets: number]> = readFileSync(
  new URL("INDEX.txt", folder),
  "utf8",
)
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("name |"))
  .map((line) => line.split("|").map((part) => part.trim()))
  .map((parts) => [parts[0]!, Number(parts[3])] as const)
  .filter(([, packets]) => packets > 0)

import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"

/** The frames of a capture under testdata/captures: little-endian pcap, whole packets. */
export const captureFrames = (name: string): ReadonlyArray<Uint8Array> => {
  const path = new URL(`../../../testdata/captures/${name}.pcap.gz`, import.meta.url)
  const octets = new Uint8Array(gunzipSync(readFileSync(path)))
  const view = new DataView(octets.buffer)
  const frames: Array<Uint8Array> = []
  for (let at = 24; at < octets.length; ) {
    const length = view.getUint32(at + 8, true)
    frames.push(octets.subarray(at + 16, at + 16 + length))
    at += 16 + length
  }
  return frames
}

import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"

/** The octets of a file under testdata/ns3, unpacked. */
export const octetsOf = (path: string): Uint8Array => {
  const octets = readFileSync(new URL(`../../../testdata/ns3/${path}`, import.meta.url))
  return new Uint8Array(path.endsWith(".gz") ? gunzipSync(octets) : octets)
}

export const textOf = (path: string): string => new TextDecoder().decode(octetsOf(path))

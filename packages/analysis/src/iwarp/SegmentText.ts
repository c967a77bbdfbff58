import { fpduBytes, parseMpa } from "@rdmakit/wire/mpa"
import { parseRdmap, terminateText } from "@rdmakit/wire/rdmap"
import { u16 } from "../Octets.ts"

const names: Readonly<Record<string, string>> = {
  write: "WRITE",
  readRequest: "READ request",
  readResponse: "READ response",
  send: "SEND",
  immediate: "IMMEDIATE",
  atomicRequest: "ATOMIC request",
  atomicResponse: "ATOMIC response",
}

/** Octets of a DDP segment behind its header. */
const dataBytes = (ulpdu: Uint8Array): number => ulpdu.length - ((ulpdu[0]! & 0x80) === 0 ? 18 : 14)

/**
 * What a TCP segment says when it is iWARP by itself: an opening frame of MPA, or units that fill it. Undefined for
 * everything else.
 */
export const segmentText = (octets: Uint8Array, start: number, end: number): string | undefined => {
  const mpa = parseMpa(octets, start, end)
  if (mpa.ok) {
    const { kind, revision, crc, markers, rejected, privateData } = mpa.value
    const words = [crc ? "CRC" : "", markers ? "markers" : "", rejected ? "rejected" : ""].filter((word) => word !== "")
    return [`MPA ${kind}`, `revision ${revision}`, ...words, `${privateData.length} octets of private data`].join(" ")
  }
  const parts: Array<string> = []
  for (let at = start; at < end; ) {
    const unitEnd = at + 2 < end ? at + fpduBytes(u16(octets, at)) : end + 1
    if (unitEnd > Math.min(end, octets.length)) return undefined
    const ulpdu = octets.subarray(at + 2, at + 2 + u16(octets, at))
    const rdmap = parseRdmap(ulpdu)
    if (!rdmap.ok) return undefined
    const { value } = rdmap
    if (value.kind === "terminate") parts.push(`TERMINATE ${terminateText(value.terminate)}`)
    else if (value.kind === "readRequest") parts.push("READ request")
    else parts.push(`${names[value.kind] ?? value.kind} of ${dataBytes(ulpdu)} octets`)
    at = unitEnd
  }
  return parts.length === 0 ? undefined : parts.join(", ")
}

import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { type CmMessage, parseCm } from "@rdmakit/wire/cm"
import { decode, nodeOf } from "@rdmakit/wire/decode"
import { parseMad } from "@rdmakit/wire/mad"

/** A datagram of communication management that Linux sent. */
export interface Captured {
  readonly fromClient: boolean
  /** 256 octets. */
  readonly octets: Uint8Array
  readonly message: CmMessage
  readonly transactionId: bigint
}

/** What Linux 6.1 with rdma_rxe sent to queue pair 1 in a capture of testdata, in order. The client is 10.0.0.1. */
export const capturedMads = (name: string): ReadonlyArray<Captured> => {
  const file = gunzipSync(readFileSync(new URL(`../../../testdata/captures/${name}.pcap.gz`, import.meta.url)))
  const mads: Array<Captured> = []
  for (let at = 24; at < file.length; at += 16 + file.readUInt32LE(at + 8)) {
    const frame = new Uint8Array(file.subarray(at + 16, at + 16 + file.readUInt32LE(at + 8)))
    const nodes = decode(frame)
    const mad = nodeOf(nodes, "mad")
    const ip = nodeOf(nodes, "ipv4")
    if (mad === undefined || ip === undefined) continue
    const octets = frame.slice(mad.start, mad.start + 256)
    mads.push({ fromClient: ip.value.source === 0x0a000001, octets, ...messageOf(octets) })
  }
  return mads
}

/** The message in a datagram that is known to have one. */
export const messageOf = (octets: Uint8Array): { readonly message: CmMessage; readonly transactionId: bigint } => {
  const mad = parseMad(octets)
  if (!mad.ok) throw new Error("no MAD")
  const message = parseCm(mad.value.attribute, octets, mad.payloadStart, mad.payloadEnd)
  if (!message.ok) throw new Error("no message of communication management")
  return { message: message.value, transactionId: mad.value.transactionId }
}

import type { PacketRecord } from "@rdmakit/pcap"
import { decode, linkTypeOf, type Node } from "@rdmakit/wire/decode"
import { crc32 } from "@rdmakit/wire/node"
import { Effect } from "effect"
import { Refused } from "../Exit.ts"
import { enough, nameOf, visitFile } from "./CaptureInput.ts"

/** One packet of a capture, taken apart. */
export interface Frame {
  /** Its data hold no longer: they are those of the record that was read last. */
  readonly packet: Omit<PacketRecord, "data">
  readonly octets: Uint8Array
  readonly nodes: ReadonlyArray<Node>
}

/** The packet with this number; refused when the capture has none, or when its link is of a type that nothing reads. */
export const frameOf = Effect.fnUntraced(function* (file: string, frame: number) {
  let found: { readonly packet: PacketRecord; readonly octets: Uint8Array } | undefined
  const visited = yield* visitFile(file, (record) => {
    if (record.kind !== "packet" || record.frame !== frame) return
    found = { packet: record, octets: record.data.slice() }
    enough()
  })
  if (found === undefined) {
    const end = visited.fault === undefined ? "" : `; ${visited.fault}`
    const message = `${nameOf(file)}: frame: found ${frame}, expected 1..${visited.packets}${end}`
    return yield* new Refused({ message })
  }
  const { packet, octets } = found
  const { linkType, fcsOctets } = packet.interface
  const link = linkTypeOf(linkType)
  if (link === undefined) {
    const message = `${nameOf(file)}: frame ${frame}: found link type ${linkType}, expected Ethernet, InfiniBand, ERF, IP or Linux cooked`
    return yield* new Refused({ message })
  }
  const options = { link, wireBytes: packet.originalOctets, fcsBytes: fcsOctets === 4 ? 4 : 0, crc: crc32 } as const
  const parted: Frame = { packet, octets, nodes: decode(octets, options) }
  return parted
})

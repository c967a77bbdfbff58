import { layout } from "./Layout.ts"
import { put32, put64, space, u32, u64, uint, uint64 } from "./Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, shortage, wrong } from "./Result.ts"

interface DdpSegment {
  /** Whether it is the last segment of its message. */
  readonly last: boolean
  /** Eight bits for the layer above; RDMAP has its version and opcode there. */
  readonly ulpOctet: number
}

/** The header of a DDP segment (RFC 5041 §4). */
export type Ddp =
  | (DdpSegment & {
      /** Into a buffer that was advertised. */
      readonly kind: "tagged"
      readonly stag: number
      /** Where in the buffer, 64 bits. */
      readonly taggedOffset: bigint
    })
  | (DdpSegment & {
      /** Into the next buffer of a queue. */
      readonly kind: "untagged"
      /** 32 bits more for the layer above; RDMAP has an STag to invalidate there. */
      readonly ulpWord: number
      readonly queue: number
      /** Message sequence number, from 1. */
      readonly messageSequence: number
      readonly messageOffset: number
    })

export const DDP_TAGGED_BYTES = 14
export const DDP_UNTAGGED_BYTES = 18
const VERSION = 1

export const DDP_TAGGED = /* @__PURE__ */ layout(
  "ddp",
  "tagged:1 last:1 _:4 version:2 ulpOctet:8 stag:32 taggedOffset:64",
)
export const DDP_UNTAGGED = /* @__PURE__ */ layout(
  "ddp",
  "tagged:1 last:1 _:4 version:2 ulpOctet:8 ulpWord:32 queue:32 messageSequence:32 messageOffset:32",
)

export const ddpBytes = ({ kind }: Ddp): number => (kind === "tagged" ? DDP_TAGGED_BYTES : DDP_UNTAGGED_BYTES)

/** Fails for a version other than 1. */
export const parseDdp = (octets: Uint8Array, start = 0, end = octets.length): Parse<Ddp> => {
  const short = shortage("ddp", octets, start, end, 1)
  if (short !== undefined) return short
  const control = octets[start]!
  if ((control & 3) !== VERSION) return failed("reserved", "ddp", "version", start, control & 3, "1")
  const isTagged = (control & 0x80) !== 0
  const bytes = isTagged ? DDP_TAGGED_BYTES : DDP_UNTAGGED_BYTES
  const cut = shortage("ddp", octets, start, end, bytes)
  if (cut !== undefined) return cut
  const last = (control & 0x40) !== 0
  const ulpOctet = octets[start + 1]!
  const value: Ddp = isTagged
    ? { kind: "tagged", last, ulpOctet, stag: u32(octets, start + 2), taggedOffset: u64(octets, start + 6) }
    : {
        kind: "untagged",
        last,
        ulpOctet,
        ulpWord: u32(octets, start + 2),
        queue: u32(octets, start + 6),
        messageSequence: u32(octets, start + 10),
        messageOffset: u32(octets, start + 14),
      }
  const reserved = (control >> 2) & 0x0f
  const faults = reserved === 0 ? NO_FAULTS : [wrong("ignored", "ddp", "reserved", start, reserved, "0")]
  return parsed(value, start + bytes, end, faults)
}

export const emitDdp = (value: Ddp, octets: Uint8Array, start = 0): number => {
  const bytes = ddpBytes(value)
  space(octets, start, bytes, "ddp")
  octets[start] = (value.kind === "tagged" ? 0x80 : 0) | (value.last ? 0x40 : 0) | VERSION
  octets[start + 1] = uint(value.ulpOctet, 8, "ddp", "ulpOctet")
  if (value.kind === "tagged") {
    put32(octets, start + 2, uint(value.stag, 32, "ddp", "stag"))
    put64(octets, start + 6, uint64(value.taggedOffset, "ddp", "taggedOffset"))
  } else {
    put32(octets, start + 2, uint(value.ulpWord, 32, "ddp", "ulpWord"))
    put32(octets, start + 6, uint(value.queue, 32, "ddp", "queue"))
    put32(octets, start + 10, uint(value.messageSequence, 32, "ddp", "messageSequence"))
    put32(octets, start + 14, uint(value.messageOffset, 32, "ddp", "messageOffset"))
  }
  return start + bytes
}

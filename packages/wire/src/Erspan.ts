import { layout } from "./Layout.ts"
import { put16, put32, space, u16, u32, uint } from "./Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, shortage, wrong } from "./Result.ts"

/** ERSPAN type II (draft-foschiano-erspan-03 §4.2): a mirrored Ethernet frame follows. */
export interface Erspan {
  /** VLAN of the mirrored frame, 12 bits. */
  readonly vlan: number
  /** Class of service, 0 to 7. */
  readonly priority: number
  /** 0 the frame had no tag, 1 ISL, 2 802.1Q, 3 its tag is kept in the frame. */
  readonly encapsulation: number
  /** The mirrored frame was cut. */
  readonly truncated: boolean
  /** 10 bits. */
  readonly session: number
  /** Where it was mirrored, 20 bits, the meaning is the switch's. */
  readonly index: number
}

export const ERSPAN_BYTES = 8

export const ERSPAN = /* @__PURE__ */ layout(
  "erspan",
  "version:4 vlan:12 priority:3 encapsulation:2 truncated:1 session:10 _:12 index:20",
)

/** Fails for a version other than 1, which is type II. */
export const parseErspan = (octets: Uint8Array, start = 0, end = octets.length): Parse<Erspan> => {
  const short = shortage("erspan", octets, start, end, ERSPAN_BYTES)
  if (short !== undefined) return short
  const first = u16(octets, start)
  if (first >> 12 !== 1) return failed("unsupported", "erspan", "version", start, first >> 12, "1")
  const second = u16(octets, start + 2)
  const third = u32(octets, start + 4)
  const value: Erspan = {
    vlan: first & 0xfff,
    priority: second >> 13,
    encapsulation: (second >> 11) & 3,
    truncated: (second & 0x400) !== 0,
    session: second & 0x3ff,
    index: third & 0xf_ffff,
  }
  const reserved = third >>> 20
  const faults = reserved === 0 ? NO_FAULTS : [wrong("ignored", "erspan", "reserved", start + 4, reserved, "0")]
  return parsed(value, start + ERSPAN_BYTES, end, faults)
}

export const emitErspan = (value: Erspan, octets: Uint8Array, start = 0): number => {
  space(octets, start, ERSPAN_BYTES, "erspan")
  const priority = uint(value.priority, 3, "erspan", "priority") << 13
  const encapsulation = uint(value.encapsulation, 2, "erspan", "encapsulation") << 11
  const session = uint(value.session, 10, "erspan", "session")
  put16(octets, start, 0x1000 | uint(value.vlan, 12, "erspan", "vlan"))
  put16(octets, start + 2, priority | encapsulation | (value.truncated ? 0x400 : 0) | session)
  put32(octets, start + 4, uint(value.index, 20, "erspan", "index"))
  return start + ERSPAN_BYTES
}

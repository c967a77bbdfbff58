import { layout, reservedFaults } from "./Layout.ts"
import { put24, space, u24, uint } from "./Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, shortage } from "./Result.ts"

/** VXLAN (RFC 7348 §5): an Ethernet frame follows. */
export interface Vxlan {
  /** VXLAN network identifier, 24 bits. */
  readonly vni: number
}

export const VXLAN_BYTES = 8
export const VXLAN_PORT = 4789
const VALID = 0x08

export const VXLAN = /* @__PURE__ */ layout("vxlan", "_:4 valid:1 _:3 _:24 vni:24 _:8")

/** Fails without the I flag. Reserved bits are ignored on receipt (§5): a fault. */
export const parseVxlan = (octets: Uint8Array, start = 0, end = octets.length): Parse<Vxlan> => {
  const short = shortage("vxlan", octets, start, end, VXLAN_BYTES)
  if (short !== undefined) return short
  const flags = octets[start]!
  if ((flags & VALID) === 0) return failed("value", "vxlan", "valid", start, 0, "1")
  const isClear = flags === VALID && u24(octets, start + 1) === 0 && octets[start + 7] === 0
  const faults = isClear ? NO_FAULTS : reservedFaults(VXLAN, octets, start)
  return parsed({ vni: u24(octets, start + 4) }, start + VXLAN_BYTES, end, faults)
}

export const emitVxlan = (value: Vxlan, octets: Uint8Array, start = 0): number => {
  space(octets, start, VXLAN_BYTES, "vxlan")
  octets[start] = VALID
  put24(octets, start + 1, 0)
  put24(octets, start + 4, uint(value.vni, 24, "vxlan", "vni"))
  octets[start + 7] = 0
  return start + VXLAN_BYTES
}

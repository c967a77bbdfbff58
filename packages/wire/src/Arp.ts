import { layout } from "./Layout.ts"
import { put16, put32, put48, space, u16, u32, u48, uint } from "./Octets.ts"
import { failed, type Parse, parsed, shortage } from "./Result.ts"

/** ARP for IPv4 over Ethernet (RFC 826). */
export interface Arp {
  /** 1 request, 2 reply; 0 and 65,535 are reserved (RFC 5494). */
  readonly operation: number
  readonly senderMac: number
  readonly senderIp: number
  readonly targetMac: number
  readonly targetIp: number
}

export const ARP_BYTES = 28

export const ARP = /* @__PURE__ */ layout(
  "arp",
  "hardwareType:16 protocolType:16 hardwareBytes:8 protocolBytes:8 operation:16 senderMac:48 senderIp:32 targetMac:48 targetIp:32",
)

/** Fails for other hardware than Ethernet and other protocols than IPv4, and for a reserved operation. */
export const parseArp = (octets: Uint8Array, start = 0, end = octets.length): Parse<Arp> => {
  const short = shortage("arp", octets, start, end, ARP_BYTES)
  if (short !== undefined) return short
  const hardware = u16(octets, start)
  if (hardware !== 1) return failed("unsupported", "arp", "hardwareType", start, hardware, "1")
  const protocol = u16(octets, start + 2)
  if (protocol !== 0x0800) return failed("unsupported", "arp", "protocolType", start + 2, protocol, "0x0800")
  const lengths = u16(octets, start + 4)
  if (lengths !== 0x0604) return failed("length", "arp", "hardwareBytes", start + 4, lengths, "6 and 4 octets")
  const operation = u16(octets, start + 6)
  if (operation === 0 || operation === 0xffff) return failed("reserved", "arp", "operation", start + 6, operation)
  const value: Arp = {
    operation,
    senderMac: u48(octets, start + 8),
    senderIp: u32(octets, start + 14),
    targetMac: u48(octets, start + 18),
    targetIp: u32(octets, start + 24),
  }
  return parsed(value, start + ARP_BYTES, start + ARP_BYTES)
}

export const emitArp = (value: Arp, octets: Uint8Array, start = 0): number => {
  space(octets, start, ARP_BYTES, "arp")
  put16(octets, start, 1)
  put16(octets, start + 2, 0x0800)
  put16(octets, start + 4, 0x0604)
  put16(octets, start + 6, uint(value.operation, 16, "arp", "operation"))
  put48(octets, start + 8, uint(value.senderMac, 48, "arp", "senderMac"))
  put32(octets, start + 14, uint(value.senderIp, 32, "arp", "senderIp"))
  put48(octets, start + 18, uint(value.targetMac, 48, "arp", "targetMac"))
  put32(octets, start + 24, uint(value.targetIp, 32, "arp", "targetIp"))
  return start + ARP_BYTES
}

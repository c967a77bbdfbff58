import { layout, readFields, writeFields } from "./Layout.ts"
import { EmitError, space, u16, uint } from "./Octets.ts"
import { emitPlain, parsePlain } from "./Plain.ts"
import { failed, type Parse, parsed, shortage } from "./Result.ts"

/** What Linux puts before a packet captured on any device (DLT 113, LINKTYPE_LINUX_SLL). */
export interface LinuxCooked {
  /** 0 to us, 1 broadcast, 2 multicast, 3 between others, 4 from us. */
  readonly packetType: number
  /** ARPHRD of the device: 1 is Ethernet. */
  readonly hardwareType: number
  /** Octets of the address that count. */
  readonly addressBytes: number
  /** 8 octets. */
  readonly address: Uint8Array
  /** An EtherType. */
  readonly protocol: number
}

/** The newer one, with the device (DLT 276, LINKTYPE_LINUX_SLL2). */
export interface LinuxCooked2 extends LinuxCooked {
  /** Number of the device. */
  readonly device: number
}

/** A record of an Endace card (DLT 197): what InfiniBand captures come in. */
export interface Erf {
  /** 8 octets, lowest first: seconds in the upper half, a binary fraction in the lower. */
  readonly timestamp: Uint8Array
  /** 2 is Ethernet, 21 InfiniBand; the top bit is not in it. */
  readonly type: number
  readonly flags: number
  /** Octets of the record, this header included. */
  readonly recordBytes: number
  /** Packets lost between this and the one before, or another meaning, by type. */
  readonly lossCounter: number
  /** Octets of the packet on the wire. */
  readonly wireBytes: number
  /** Extension headers, 8 octets each, and for Ethernet two of padding. */
  readonly extensions: Uint8Array
}

export const LINUX_COOKED_BYTES = 16
export const LINUX_COOKED2_BYTES = 20
export const ERF_BYTES = 16
export const ErfType = { Ethernet: 2, Infiniband: 21 } as const
const EXTENSIONS_MAX = 16

export const LINUX_COOKED = /* @__PURE__ */ layout(
  "linuxCooked",
  "packetType:16 hardwareType:16 addressBytes:16 address:8B protocol:16",
)
export const LINUX_COOKED2 = /* @__PURE__ */ layout(
  "linuxCooked2",
  "protocol:16 _:16 device:32 hardwareType:16 packetType:8 addressBytes:8 address:8B",
)
export const ERF = /* @__PURE__ */ layout(
  "erf",
  "timestamp:8B extended:1 type:7 flags:8 recordBytes:16 lossCounter:16 wireBytes:16",
)

export const parseLinuxCooked = (octets: Uint8Array, start = 0, end = octets.length): Parse<LinuxCooked> =>
  parsePlain(LINUX_COOKED, octets, start, end)

export const emitLinuxCooked = (value: LinuxCooked, octets: Uint8Array, start = 0): number =>
  emitPlain(LINUX_COOKED, value, octets, start)

export const parseLinuxCooked2 = (octets: Uint8Array, start = 0, end = octets.length): Parse<LinuxCooked2> =>
  parsePlain(LINUX_COOKED2, octets, start, end)

export const emitLinuxCooked2 = (value: LinuxCooked2, octets: Uint8Array, start = 0): number =>
  emitPlain(LINUX_COOKED2, value, octets, start)

/** Fails when an extension header is not all there, and when the record is shorter than its headers. */
export const parseErf = (octets: Uint8Array, start = 0, end = octets.length): Parse<Erf> => {
  let bytes = ERF_BYTES
  for (let more = true, count = 0; ; count++) {
    const short = shortage("erf", octets, start, end, bytes)
    if (short !== undefined) return short
    more = (octets[bytes === ERF_BYTES ? start + 8 : start + bytes - 8]! & 0x80) !== 0
    if (!more) break
    if (count === EXTENSIONS_MAX) return failed("value", "erf", "extensions", start + bytes, count, "16 at most")
    bytes += 8
  }
  const type = octets[start + 8]! & 0x7f
  if (type === ErfType.Ethernet) bytes += 2
  const short = shortage("erf", octets, start, end, bytes)
  if (short !== undefined) return short
  const { extended: _, ...fields } = readFields(ERF, octets, start)
  if (u16(octets, start + 10) < bytes)
    return failed("length", "erf", "recordBytes", start + 10, fields.recordBytes, `${bytes} at least`)
  const value: Erf = { ...fields, extensions: octets.subarray(start + ERF_BYTES, start + bytes) }
  return parsed(value, start + bytes, end)
}

export const emitErf = (value: Erf, octets: Uint8Array, start = 0): number => {
  const { extensions, type } = value
  const bytes = ERF_BYTES + extensions.length
  const padding = type === ErfType.Ethernet ? 2 : 0
  const count = (extensions.length - padding) / 8
  if (!Number.isInteger(count) || count < 0 || count > EXTENSIONS_MAX)
    throw new EmitError("erf", "extensions", extensions.length, `${padding} octets, and 8 for each extension`)
  for (let index = 0; index < count; index++)
    if (extensions[8 * index]! >> 7 !== (index < count - 1 ? 1 : 0))
      throw new EmitError("erf", "extensions", index, "the top bit in all but the last")
  space(octets, start, bytes, "erf")
  if (uint(value.recordBytes, 16, "erf", "recordBytes") < bytes)
    throw new EmitError("erf", "recordBytes", value.recordBytes, `${bytes} at least`)
  writeFields(ERF, { ...value, extended: count > 0 }, octets, start)
  octets.set(extensions, start + ERF_BYTES)
  return start + bytes
}

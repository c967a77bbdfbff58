import { EmitError, put16le, put32le, put64le, space, u16le, u32le, u64le, uint, uint64 } from "../Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, shortage, type WireError, wrong } from "../Result.ts"
import type { EfaRdm, EfaRdmHandshake, EfaRdmTarget } from "./Packet.ts"
import { FORMAT, type Shape, shapeOf, shapeOfType } from "./Shape.ts"

/** The version in every packet; newer features are told by the handshake. */
const VERSION = 4
const BASE_BYTES = 4
const TARGET_BYTES = 24

const RAW_ADDRESS = 0x01
const CQ_DATA = 0x02
const EMULATED_READ = 0x80
const AFTER_NACK = 0x2000
const CONNID = 0x8000

const HOST_ID = 0x01
const DEVICE_VERSION = 0x02
const USER_RECEIVE = 0x04
/** `nextra_p3` is the count of members and 3, for what the field once was (§2.1). */
const INFO_COUNT_EXTRA = 3
/** EFA_RDM_MAX_NUM_EXINFO. */
const INFO_MEMBERS_MAX = 256

/** A packet while it is read. */
type Draft = Record<string, unknown>

/** What is read one after the other behind the fixed part, or what failed. */
interface Cursor {
  readonly octets: Uint8Array
  readonly end: number
  at: number
  faults: Array<WireError> | undefined
}

/** Whether so many octets more are there; `at` stays where it is. */
const shortAt = (cursor: Cursor, bytes: number) => shortage(FORMAT, cursor.octets, cursor.at, cursor.end, bytes)

const readTargets = (cursor: Cursor, count: number): ReadonlyArray<EfaRdmTarget> => {
  const targets: Array<EfaRdmTarget> = []
  for (let index = 0; index < count; index++, cursor.at += TARGET_BYTES)
    targets.push({
      address: u64le(cursor.octets, cursor.at),
      bytes: u64le(cursor.octets, cursor.at + 8),
      key: u64le(cursor.octets, cursor.at + 16),
    })
  return targets
}

const putTargets = (targets: ReadonlyArray<EfaRdmTarget>, octets: Uint8Array, start: number): number => {
  let at = start
  for (const { address, bytes, key } of targets) {
    put64le(octets, at, uint64(address, FORMAT, "address"))
    put64le(octets, at + 8, uint64(bytes, FORMAT, "bytes"))
    put64le(octets, at + 16, uint64(key, FORMAT, "key"))
    at += TARGET_BYTES
  }
  return at
}

/** The flags that a packet has by what it says. */
const flagsOf = (shape: Shape, value: EfaRdm): number => {
  let flags = shape.classFlags | (value.connid === undefined ? 0 : CONNID)
  if ("rawAddress" in value && value.rawAddress !== undefined) flags |= RAW_ADDRESS
  if ("cqData" in value && value.cqData !== undefined) flags |= CQ_DATA
  if ("afterNack" in value && value.afterNack) flags |= AFTER_NACK
  if (value.kind === "cts" && value.emulatedRead) flags |= EMULATED_READ
  if (value.kind === "handshake") {
    if (value.hostId !== undefined) flags |= HOST_ID
    if (value.deviceVersion !== undefined) flags |= DEVICE_VERSION
    if (value.userReceive !== undefined) flags |= USER_RECEIVE
  }
  return flags
}

const fault = (cursor: Cursor, error: WireError): void => {
  cursor.faults ??= []
  cursor.faults.push(error)
}

/** Words that receivers ignore: reserved ones, and padding. */
const checkIgnored = (cursor: Cursor, field: string, at: number): void => {
  const found = u32le(cursor.octets, at)
  if (found !== 0) fault(cursor, wrong("ignored", FORMAT, field, at, found, "0"))
}

/** Behind the fixed part of a request: targets, the optional headers, sources. */
const readRequest = (cursor: Cursor, shape: Shape, start: number, flags: number, value: Draft) => {
  const { octets } = cursor
  if (shape.targetsAt >= 0) {
    const count = u32le(octets, start + shape.targetsAt)
    const short = shortAt(cursor, count * TARGET_BYTES)
    if (short !== undefined) return short
    value.targets = readTargets(cursor, count)
  }
  value.rawAddress = undefined
  if ((flags & RAW_ADDRESS) !== 0) {
    const short = shortAt(cursor, 4) ?? shortAt(cursor, 4 + u32le(octets, cursor.at))
    if (short !== undefined) return short
    const size = u32le(octets, cursor.at)
    value.rawAddress = octets.subarray(cursor.at + 4, cursor.at + 4 + size)
    cursor.at += 4 + size
  }
  const cqBytes = (flags & CQ_DATA) === 0 ? 0 : 8
  const connidBytes = (flags & CONNID) === 0 ? 0 : 4
  const sources = shape.sourcesAt < 0 ? 0 : u32le(octets, start + shape.sourcesAt)
  const short = shortAt(cursor, cqBytes + connidBytes + sources * TARGET_BYTES)
  if (short !== undefined) return short
  value.cqData = cqBytes === 0 ? undefined : u64le(octets, cursor.at)
  value.connid = connidBytes === 0 ? undefined : u32le(octets, cursor.at + cqBytes)
  cursor.at += cqBytes + connidBytes
  if (shape.sourcesAt >= 0) value.sources = readTargets(cursor, sources)
  return undefined
}

const readHandshake = (cursor: Cursor, shape: Shape, start: number, flags: number, value: Draft) => {
  const { octets } = cursor
  const count = u32le(octets, start + shape.infoAt)
  const members = count - INFO_COUNT_EXTRA
  if (members < 1 || members > INFO_MEMBERS_MAX)
    return failed("value", FORMAT, "infoCount", start + shape.infoAt, count, "4 to 259")
  const options = [CONNID, HOST_ID, DEVICE_VERSION, USER_RECEIVE].filter((flag) => (flags & flag) !== 0).length
  const short = shortAt(cursor, 8 * (members + options))
  if (short !== undefined) return short
  const extraInfo: Array<bigint> = []
  for (let index = 0; index < members; index++, cursor.at += 8) extraInfo.push(u64le(octets, cursor.at))
  /** Where the next option lies, if it is there. */
  const option = (flag: number): number | undefined => {
    if ((flags & flag) === 0) return undefined
    cursor.at += 8
    return cursor.at - 8
  }
  const word = (at: number | undefined): number | undefined => {
    if (at === undefined) return undefined
    checkIgnored(cursor, "padding", at + 4)
    return u32le(octets, at)
  }
  value.extraInfo = extraInfo
  value.connid = word(option(CONNID))
  const hostId = option(HOST_ID)
  value.hostId = hostId === undefined ? undefined : u64le(octets, hostId)
  value.deviceVersion = word(option(DEVICE_VERSION))
  const user = option(USER_RECEIVE)
  value.userReceive = user === undefined ? undefined : { qpn: u32le(octets, user), queueKey: u32le(octets, user + 4) }
  return undefined
}

/** The connection of a reply: a field that is padding without the flag, or the end of CTSDATA. */
const readReply = (cursor: Cursor, shape: Shape, start: number, flags: number, value: Draft) => {
  const { octets } = cursor
  const hasConnid = (flags & CONNID) !== 0
  value.connid = undefined
  if (shape.connidAt >= 0) {
    if (hasConnid) value.connid = u32le(octets, start + shape.connidAt)
    else checkIgnored(cursor, "padding", start + shape.connidAt)
  } else if (hasConnid) {
    const short = shortAt(cursor, 8)
    if (short !== undefined) return short
    value.connid = u32le(octets, cursor.at)
    checkIgnored(cursor, "padding", cursor.at + 4)
    cursor.at += 8
  }
  return undefined
}

/**
 * Fails for another version, and for types that are deprecated (1, 2), reserved (6, 131, 132) or not in the document:
 * PEER_ERROR (12), RUNTCTS (142 to 144), RUNTREAD_RTW (147). Flags that do not go with the rest are a fault: libfabric
 * does not set REQ_RMA. The payload is what a packet's own length says, or all that follows.
 */
export const parseEfaRdm = (octets: Uint8Array, start = 0, end = octets.length): Parse<EfaRdm> => {
  const short = shortage(FORMAT, octets, start, end, BASE_BYTES)
  if (short !== undefined) return short
  const shape = shapeOfType(octets[start]!)
  if (shape === undefined) return failed("unsupported", FORMAT, "type", start, octets[start]!, "a type of version 4")
  if (octets[start + 1] !== VERSION) return failed("reserved", FORMAT, "version", start + 1, octets[start + 1]!, "4")
  const cut = shortage(FORMAT, octets, start, end, shape.bytes)
  if (cut !== undefined) return cut
  const flags = u16le(octets, start + 2)
  const value: Draft = { ...shape.fixed }
  for (const { name, at, bits } of shape.words)
    value[name] = bits === 32 ? u32le(octets, start + at) : u64le(octets, start + at)
  const cursor: Cursor = { octets, end, at: start + shape.bytes, faults: undefined }
  for (const at of shape.reserved) checkIgnored(cursor, "reserved", start + at)
  if (shape.fixed.kind === "cts") value.emulatedRead = (flags & EMULATED_READ) !== 0
  if ("creditRequest" in value) value.afterNack = (flags & AFTER_NACK) !== 0
  const read = shape.isRequest ? readRequest : shape.infoAt >= 0 ? readHandshake : readReply
  const wrongBehind = read(cursor, shape, start, flags, value)
  if (wrongBehind !== undefined) return wrongBehind
  const packet = value as unknown as EfaRdm
  const expected = flagsOf(shape, packet)
  if (flags !== expected) fault(cursor, wrong("value", FORMAT, "flags", start + 2, flags, `0x${expected.toString(16)}`))
  const faults = cursor.faults ?? NO_FAULTS
  if (!("segmentBytes" in packet)) return parsed(packet, cursor.at, end, faults)
  const room = end - cursor.at
  if (packet.segmentBytes > BigInt(room)) {
    const { at } = shape.words.find(({ name }) => name === "segmentBytes")!
    return failed("length", FORMAT, "segmentBytes", start + at, packet.segmentBytes, `at most ${room}`)
  }
  return parsed(packet, cursor.at, cursor.at + Number(packet.segmentBytes), faults)
}

const handshakeOptions = (value: EfaRdmHandshake): number =>
  [value.connid, value.hostId, value.deviceVersion, value.userReceive].filter((each) => each !== undefined).length

const shapeFor = (value: EfaRdm): Shape => {
  const shape = shapeOf(value)
  if (shape === undefined) throw new EmitError(FORMAT, "kind", 0, "a kind and protocol of version 4")
  return shape
}

const bytesOf = (shape: Shape, value: EfaRdm): number => {
  let { bytes } = shape
  if (value.kind === "handshake") return bytes + 8 * (value.extraInfo.length + handshakeOptions(value))
  if (!shape.isRequest) return bytes + (value.kind === "ctsData" && value.connid !== undefined ? 8 : 0)
  if ("targets" in value) bytes += value.targets.length * TARGET_BYTES
  if ("sources" in value) bytes += value.sources.length * TARGET_BYTES
  if ("rawAddress" in value && value.rawAddress !== undefined) bytes += 4 + value.rawAddress.length
  if ("cqData" in value && value.cqData !== undefined) bytes += 8
  return bytes + (value.connid === undefined ? 0 : 4)
}

/** Octets of the header, with the sources that requests carry as their data. */
export const efaRdmBytes = (value: EfaRdm): number => bytesOf(shapeFor(value), value)

const putHandshake = (value: EfaRdmHandshake, octets: Uint8Array, start: number): void => {
  let at = start
  const pair = (low: number, high: number): void => {
    put32le(octets, at, low)
    put32le(octets, at + 4, high)
    at += 8
  }
  for (const member of value.extraInfo) {
    put64le(octets, at, uint64(member, FORMAT, "extraInfo"))
    at += 8
  }
  if (value.connid !== undefined) pair(uint(value.connid, 32, FORMAT, "connid"), 0)
  if (value.hostId !== undefined) {
    put64le(octets, at, uint64(value.hostId, FORMAT, "hostId"))
    at += 8
  }
  if (value.deviceVersion !== undefined) pair(uint(value.deviceVersion, 32, FORMAT, "deviceVersion"), 0)
  if (value.userReceive !== undefined)
    pair(uint(value.userReceive.qpn, 32, FORMAT, "qpn"), uint(value.userReceive.queueKey, 32, FORMAT, "queueKey"))
}

const putWords = (shape: Shape, value: EfaRdm, octets: Uint8Array, start: number): void => {
  octets.fill(0, start, start + shape.bytes)
  octets[start] = shape.code
  octets[start + 1] = VERSION
  put16le(octets, start + 2, flagsOf(shape, value))
  const said = value as unknown as Readonly<Record<string, number | bigint>>
  for (const { name, at, bits } of shape.words) {
    if (bits === 32) put32le(octets, start + at, uint(said[name] as number, 32, FORMAT, name))
    else put64le(octets, start + at, uint64(said[name] as bigint, FORMAT, name))
  }
  if (shape.connidAt >= 0) put32le(octets, start + shape.connidAt, uint(value.connid ?? 0, 32, FORMAT, "connid"))
  if ("targets" in value) put32le(octets, start + shape.targetsAt, value.targets.length)
  if ("sources" in value) put32le(octets, start + shape.sourcesAt, value.sources.length)
  if (value.kind !== "handshake") return
  const { length } = value.extraInfo
  if (length < 1 || length > INFO_MEMBERS_MAX) throw new EmitError(FORMAT, "extraInfo", length, "1 to 256 members")
  put32le(octets, start + shape.infoAt, length + INFO_COUNT_EXTRA)
}

/** Writes the header, and the sources that requests carry as their data; the payload goes where it ends. */
export const emitEfaRdm = (value: EfaRdm, octets: Uint8Array, start = 0): number => {
  const shape = shapeFor(value)
  const bytes = bytesOf(shape, value)
  space(octets, start, bytes, FORMAT)
  putWords(shape, value, octets, start)
  let at = start + shape.bytes
  if (value.kind === "handshake") putHandshake(value, octets, at)
  else if (value.kind === "ctsData" && value.connid !== undefined) {
    put32le(octets, at, uint(value.connid, 32, FORMAT, "connid"))
    put32le(octets, at + 4, 0)
  } else if ("rawAddress" in value) {
    if ("targets" in value) at = putTargets(value.targets, octets, at)
    if (value.rawAddress !== undefined) {
      put32le(octets, at, value.rawAddress.length)
      octets.set(value.rawAddress, at + 4)
      at += 4 + value.rawAddress.length
    }
    if (value.cqData !== undefined) {
      put64le(octets, at, uint64(value.cqData, FORMAT, "cqData"))
      at += 8
    }
    if (value.connid !== undefined) {
      put32le(octets, at, uint(value.connid, 32, FORMAT, "connid"))
      at += 4
    }
    if ("sources" in value) putTargets(value.sources, octets, at)
  }
  return start + bytes
}

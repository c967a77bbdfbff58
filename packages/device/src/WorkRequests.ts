/*
 * What is checked of a work request when it is posted. Keys are not: the transport looks at them when it touches the memory,
 * as NICs do, for they may change between the two.
 */
import { hasFields, type ReceiveRequest, type SendRequest, type Sge, shown, WrOpcode } from "@rdmakit/protocol"
import { AddressHandle } from "./AddressHandle.ts"
import { DeviceError } from "./DeviceError.ts"
import { checkFields, checkList, checkOctets, wrongType } from "./Given.ts"
import { MemoryRegion } from "./MemoryRegion.ts"
import { MemoryWindow } from "./MemoryWindow.ts"
import { GSI_QUEUE_KEY } from "./QpOptions.ts"
import type { DeviceQpType } from "./QpStateTable.ts"

/** A send as a program posts it: handles in place of what they stand for. */
export interface SendWork extends Omit<SendRequest, "datagram" | "bind"> {
  /** UD and SRD alone. */
  readonly datagram?: SendDatagram | undefined
  /** BIND_MW alone. */
  readonly bind?: SendBind | undefined
}

/** Whom a datagram is for. */
export interface SendDatagram {
  readonly address: AddressHandle
  /** 24 bits; 0xffffff for a multicast group. */
  readonly qpn: number
  readonly queueKey: number
}

/** What a window is to be bound to (struct ibv_mw_bind_info), and the key it gets: the window's own but for the lowest 8 bits. */
export interface SendBind {
  readonly window: MemoryWindow
  readonly remoteKey: number
  readonly region: MemoryRegion
  readonly address: number
  readonly length: number
  readonly access: number
}

const DATAGRAM: ReadonlySet<WrOpcode> = new Set([WrOpcode.Send, WrOpcode.SendWithImm])
/** SRD's of every generation of EFA together. */
const RELIABLE_DATAGRAM: ReadonlySet<WrOpcode> = new Set([
  ...DATAGRAM,
  WrOpcode.RdmaWrite,
  WrOpcode.RdmaWriteWithImm,
  WrOpcode.RdmaRead,
])

const ATOMIC: ReadonlySet<WrOpcode> = new Set([WrOpcode.AtomicCmpAndSwp, WrOpcode.AtomicFetchAndAdd])
const REMOTE: ReadonlySet<WrOpcode> = new Set([
  ...ATOMIC,
  WrOpcode.RdmaWrite,
  WrOpcode.RdmaWriteWithImm,
  WrOpcode.RdmaRead,
  WrOpcode.AtomicWrite,
])
const NEEDS_IMMEDIATE: ReadonlySet<WrOpcode> = new Set([WrOpcode.SendWithImm, WrOpcode.RdmaWriteWithImm])
const NEEDS_KEY: ReadonlySet<WrOpcode> = new Set([WrOpcode.SendWithInv, WrOpcode.LocalInv])
const NO_INLINE: ReadonlySet<WrOpcode> = new Set([...ATOMIC, WrOpcode.RdmaRead, WrOpcode.LocalInv, WrOpcode.BindMw])

const NAMES = new Map(Object.entries(WrOpcode).map(([name, code]) => [code as number, name]))

const invalid = (verb: string, attribute: string | undefined, problem: string, remedy: string): DeviceError =>
  new DeviceError("EINVAL", verb, attribute, problem, remedy)

export const isU32 = (value: number | undefined): boolean =>
  value !== undefined && Number.isInteger(value) && value >= 0 && value <= 0xffffffff

/** Bytes of a list. @throws DeviceError EINVAL */
const checkSges = (verb: string, sges: ReadonlyArray<Sge>, sgeMax: number, messageBytesMax: number): number => {
  checkList(verb, "sges", sges, "give an array; an empty one for no memory")
  if (sges.length > sgeMax) {
    throw invalid(verb, "sges", `${sges.length} elements`, `the queue was made for ${sgeMax}`)
  }
  let bytes = 0
  for (const sge of sges) {
    if (!hasFields(sge)) throw wrongType(verb, "sges", sge, "give { address, length, lkey } of each element")
    if (!Number.isSafeInteger(sge.address) || sge.address < 0 || !isU32(sge.length) || !isU32(sge.lkey)) {
      throw invalid(verb, "sges", "an address, a length or an lkey is no number of its range", "see Sge")
    }
    bytes += sge.length
  }
  if (bytes > messageBytesMax) throw invalid(verb, "sges", `${bytes} bytes`, `send at most ${messageBytesMax} at once`)
  return bytes
}

/** Refuses what is no request, or has no number. @throws DeviceError EINVAL */
const checkRequest = (verb: string, request: ReceiveRequest): void => {
  checkFields(verb, "request", request, "give an object, with an id and sges")
  if (!Number.isSafeInteger(request.id))
    throw wrongType(verb, "id", request.id, "give a whole number, exact in a double")
}

/** @throws DeviceError EINVAL */
export const checkReceive = (verb: string, request: ReceiveRequest, sgeMax: number, messageBytesMax: number): void => {
  checkRequest(verb, request)
  checkSges(verb, request.sges, sgeMax, messageBytesMax)
}

const isRemoteAddress = (address: number | bigint | undefined): boolean => {
  if (typeof address === "bigint") return address >= 0n && address < 1n << 64n
  return address !== undefined && Number.isSafeInteger(address) && address >= 0
}

/** What a send queue was made for. */
export interface SendBounds {
  readonly maxSendSge: number
  readonly maxReadSge: number
  readonly maxInlineBytes: number
  readonly maxMessageBytes: number
}

/** @throws DeviceError EINVAL */
export const checkSend = (type: DeviceQpType, request: SendWork, bounds: SendBounds): void => {
  const verb = "post_send"
  checkRequest(verb, request)
  const { opcode, inline } = request
  const name = NAMES.get(opcode) ?? shown(opcode)
  // One that the service has not is posted all the same, and completes with LOC_QP_OP_ERR: so it is with rxe.
  if (!NAMES.has(opcode)) throw invalid(verb, "opcode", name, "use one of WrOpcode")
  if (type === "gsi" && !DATAGRAM.has(opcode)) {
    throw invalid(verb, "opcode", `${name} is none of QP1`, "send datagrams")
  }
  const local = opcode === WrOpcode.LocalInv || opcode === WrOpcode.BindMw
  const sgeMax = opcode === WrOpcode.RdmaRead ? Math.min(bounds.maxSendSge, bounds.maxReadSge) : bounds.maxSendSge
  const bytes = checkSges(verb, request.sges, sgeMax, bounds.maxMessageBytes)
  if (inline !== undefined) {
    checkOctets(verb, "inline", inline, "give octets, or leave it out")
    if (NO_INLINE.has(opcode)) throw invalid(verb, "inline", `${name} sends no octets`, "leave it out")
    if (request.sges.length > 0) throw invalid(verb, "inline", "octets and a list", "give one of them")
    if (inline.length > bounds.maxInlineBytes) {
      throw invalid(verb, "inline", `${inline.length} octets`, `the queue was made for ${bounds.maxInlineBytes}`)
    }
  }
  if (local && bytes > 0) throw invalid(verb, "sges", `${name} moves no octets`, "give an empty list")
  if (ATOMIC.has(opcode) && bytes !== 8) throw invalid(verb, "sges", `${bytes} bytes`, "give room for 8")
  if (opcode === WrOpcode.AtomicWrite && (inline?.length ?? bytes) !== 8) {
    throw invalid(verb, "inline", "not 8 octets", "give the 8 that are to be written")
  }
  if (REMOTE.has(opcode)) checkRemote(verb, request)
  if (NEEDS_IMMEDIATE.has(opcode) && !isU32(request.immediate)) {
    throw invalid(verb, "immediate", shown(request.immediate), "give 32 bits without sign")
  }
  if (NEEDS_KEY.has(opcode) && !isU32(request.invalidateKey)) {
    throw invalid(verb, "invalidateKey", shown(request.invalidateKey), "give the key to invalidate")
  }
  if (opcode === WrOpcode.BindMw) checkBind(verb, request.bind)
}

const checkRemote = (verb: string, request: SendWork): void => {
  const { opcode, remoteAddress } = request
  if (!isRemoteAddress(remoteAddress)) {
    throw invalid(verb, "remoteAddress", shown(remoteAddress), "give 64 bits without sign; a bigint from 2^53 on")
  }
  if (!isU32(request.remoteKey)) throw invalid(verb, "remoteKey", shown(request.remoteKey), "give 32 bits without sign")
  const aligned = ATOMIC.has(opcode) || opcode === WrOpcode.AtomicWrite
  if (aligned && BigInt(remoteAddress!) % 8n !== 0n) {
    throw invalid(verb, "remoteAddress", "an atomic's is a multiple of 8", "align it")
  }
  if (ATOMIC.has(opcode) && typeof request.compareAdd !== "bigint") {
    throw invalid(verb, "compareAdd", "an atomic needs it", "give 64 bits, as a bigint")
  }
  if (opcode === WrOpcode.AtomicCmpAndSwp && typeof request.swap !== "bigint") {
    throw invalid(verb, "swap", "compare-and-swap needs it", "give 64 bits, as a bigint")
  }
}

const checkBind = (verb: string, bind: SendBind | undefined): void => {
  if (bind === undefined) throw invalid(verb, "bind", "missing", "say what the window is bound to")
  checkFields(verb, "bind", bind, "say what the window is bound to")
  const { window, region } = bind
  if (!(window instanceof MemoryWindow)) throw wrongType(verb, "bind.window", window, "give a window of allocMw")
  if (!(region instanceof MemoryRegion)) throw wrongType(verb, "bind.region", region, "give a region of regMr")
  if (!isU32(bind.remoteKey) || (bind.remoteKey ^ bind.window.rkey) >>> 8 !== 0) {
    throw invalid(verb, "bind.remoteKey", "another index than the window's", "change the lowest 8 bits alone")
  }
  if (
    !Number.isSafeInteger(bind.address) ||
    !Number.isSafeInteger(bind.length) ||
    bind.address < 0 ||
    bind.length < 0
  ) {
    throw invalid(verb, "bind.address", "no stretch of memory", "give whole numbers from 0 on")
  }
}

/** Whose request it is. */
interface Poster {
  readonly type: DeviceQpType
  readonly qpn: number
  readonly pd: { readonly number: number }
}

/** The request as an engine has it: handles become paths and keys. @throws DeviceError EINVAL, EHOSTUNREACH */
export const sendRequestOf = (qp: Poster, work: SendWork): SendRequest => {
  const { datagram, bind, inline } = work
  if (qp.type === "ud" || qp.type === "gsi" || qp.type === "srd") return datagramOf(qp, work)
  if (datagram !== undefined) throw invalid("post_send", "datagram", `${qp.type} has one peer`, "leave it out")
  // Most requests go as they are: a bulk sender makes no object more than it must.
  const plain: Omit<SendWork, "datagram" | "bind"> = work
  if (bind !== undefined) {
    const { window, remoteKey, region, address, length, access } = bind
    return { ...plain, bind: { window: window.rkey, remoteKey, lkey: region.lkey, address, length, access } }
  }
  return inline === undefined ? plain : { ...plain, inline: inline.slice() }
}

/** An operation that the service has not got is told first: nobody it could be for makes it right. */
const unaddressed = (type: DeviceQpType, opcode: WrOpcode): DeviceError => {
  const known = type === "srd" ? RELIABLE_DATAGRAM : DATAGRAM
  if (known.has(opcode)) return invalid("post_send", "datagram", "missing", "say whom the datagram is for")
  const remedy = type === "srd" ? "send, write or read" : "send datagrams"
  return invalid("post_send", "opcode", `${NAMES.get(opcode)} is none of ${type}`, remedy)
}

const datagramOf = (qp: Poster, work: SendWork): SendRequest => {
  const { datagram, inline } = work
  const verb = "post_send"
  if (datagram === undefined) throw unaddressed(qp.type, work.opcode)
  checkFields(verb, "datagram", datagram, "say whom the datagram is for")
  const { address, qpn, queueKey } = datagram
  if (!(address instanceof AddressHandle))
    throw wrongType(verb, "datagram.address", address, "give an address handle of createAh")
  if (address.pd.number !== qp.pd.number) {
    throw invalid(verb, "datagram.address", "of another protection domain", "make it in this one's")
  }
  if (!isU32(qpn) || qpn > 0xffffff) throw invalid(verb, "datagram.qpn", shown(qpn), "give 24 bits")
  if (!isU32(queueKey)) throw invalid(verb, "datagram.queueKey", shown(queueKey), "give 32 bits without sign")
  const path = qp.type === "srd" ? address.sharedPath : address.pathFor(qp.qpn)
  const to = { path, qpn, queueKey: qp.type === "gsi" ? GSI_QUEUE_KEY : queueKey }
  const plain: Omit<SendWork, "datagram" | "bind"> = work
  return inline === undefined ? { ...plain, datagram: to } : { ...plain, datagram: to, inline: inline.slice() }
}

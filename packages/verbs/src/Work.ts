import type { SendWork } from "@rdmakit/device"
import { type ReceiveRequest, type Sge, WrOpcode } from "@rdmakit/protocol"
import { AddressHandle } from "./AddressHandle.ts"
import { type MemoryRange, MemoryRegion, type MemoryWindow, type RemoteMemory } from "./MemoryRegion.ts"
import { type AccessName, accessBits } from "./Names.ts"
import { checkFields, VerbsError, wrongType } from "./VerbsError.ts"

/** What a request takes its octets from, or puts them in: a range or a whole region, several, or none. */
export type LocalMemory = Sge | ReadonlyArray<Sge>

/** What a send takes its octets from: memory, or octets that are copied when it is posted (IBV_SEND_INLINE). */
export type SendSource = LocalMemory | Uint8Array

export interface WorkFlags {
  /** Waits until READs and atomics before it are done. */
  readonly fence?: boolean
  /** Its completion at the peer is an event for a queue that is armed for solicited ones. */
  readonly solicited?: boolean
}

/** Whom a datagram is for. */
export interface Datagram {
  readonly address: AddressHandle
  /** 24 bits; 0xffffff for a multicast group. */
  readonly qpn: number
  /** 32 bits, the peer's. With the top bit set, the sender's own is sent (IBTA 1.7 §3.5.3, keys). */
  readonly queueKey: number
}

export interface SendOptions extends WorkFlags {
  /** 32 bits without sign. */
  readonly immediate?: number
  /** The peer's key that the send makes unusable. RC alone, not with `immediate`. */
  readonly invalidateKey?: number
  /** UD and SRD alone, which need it. */
  readonly to?: Datagram
}

export interface ReadOptions extends WorkFlags {
  /** SRD alone, which needs it: whose memory it is. */
  readonly to?: Datagram
}

export interface WriteOptions extends ReadOptions {
  /** 32 bits without sign. It uses up a receive of the peer's. */
  readonly immediate?: number
}

/** What a window is bound to. */
export interface BindOptions {
  readonly region: MemoryRegion
  /** First octet within the region. Default 0. */
  readonly offset?: number
  /** Bytes. Default: to the end. 0 unbinds a window of type 1. */
  readonly length?: number
  /** The remote ones, and "zero-based". */
  readonly access: ReadonlyArray<AccessName>
}

/** The number of a request and whether its success is told. */
export interface WorkIdentity {
  readonly id: number
  readonly signaled: boolean
}

/** Numbers below 0 are for requests that fibers wait for. @throws VerbsError EINVAL */
export const checkId = (verb: string, id: number): void => {
  if (Number.isSafeInteger(id) && id >= 0) return
  throw wrongType(verb, "id", id, "give a whole number from 0 to 2^53 - 1")
}

/** Refuses a request that a program numbers itself and that is none. @throws VerbsError EINVAL */
export const checkRequest = (verb: string, request: SendWork | ReceiveRequest): void => {
  checkFields(verb, "request", request, "give an object, with an id and sges")
  checkId(verb, request.id)
}

const isList = (memory: SendSource): memory is ReadonlyArray<Sge> => Array.isArray(memory)

/** The list as it is now: a range may be a region, whose numbers change with it. @throws VerbsError EINVAL */
export const sgesOf = (memory: LocalMemory, verb = "post_send", attribute = "into"): ReadonlyArray<Sge> =>
  (isList(memory) ? memory : [memory]).map((range) => {
    checkFields(verb, attribute, range, "give a region, a range of one, or a list of them")
    const { address, length, lkey } = range
    return { address, length, lkey }
  })

const source = (from: SendSource): Pick<SendWork, "sges" | "inline"> =>
  from instanceof Uint8Array ? { sges: [], inline: from } : { sges: sgesOf(from, "post_send", "from") }

const flags = (options: WorkFlags) => {
  checkFields("post_send", "options", options, "give an object, or leave it out")
  const { fence = false, solicited = false } = options
  return { fence, solicited }
}

export const sendWork = (identity: WorkIdentity, from: SendSource, options: SendOptions = {}): SendWork => {
  checkFields("post_send", "options", options, "give an object, or leave it out")
  const { immediate, invalidateKey, to } = options
  if (immediate !== undefined && invalidateKey !== undefined) {
    throw new VerbsError({
      errno: "EINVAL",
      verb: "post_send",
      attribute: "invalidateKey",
      problem: "a send carries an immediate or a key, not both",
      remedy: "leave one of them out",
    })
  }
  const opcode =
    immediate !== undefined ? WrOpcode.SendWithImm : invalidateKey !== undefined ? WrOpcode.SendWithInv : WrOpcode.Send
  return {
    ...identity,
    ...source(from),
    ...flags(options),
    opcode,
    ...(immediate === undefined ? {} : { immediate }),
    ...(invalidateKey === undefined ? {} : { invalidateKey }),
    ...datagram(to),
  }
}

const datagram = (to: Datagram | undefined): Pick<SendWork, "datagram"> => {
  if (to === undefined) return {}
  checkFields("post_send", "options.to", to, "give { address, qpn, queueKey } of the receiver")
  const { address, qpn, queueKey } = to
  if (!(address instanceof AddressHandle))
    throw wrongType("post_send", "options.to.address", address, "give what `addressHandle` made")
  return { datagram: { address: address.handle, qpn, queueKey } }
}

const remote = (memory: RemoteMemory, attribute: string) => {
  checkFields("post_send", attribute, memory, "give the peer's memory, { address, rkey }")
  return { remoteAddress: memory.address, remoteKey: memory.rkey }
}

export const writeWork = (
  identity: WorkIdentity,
  from: SendSource,
  to: RemoteMemory,
  options: WriteOptions = {},
): SendWork => ({
  ...identity,
  ...source(from),
  ...flags(options),
  ...remote(to, "to"),
  ...datagram(options.to),
  opcode: options.immediate === undefined ? WrOpcode.RdmaWrite : WrOpcode.RdmaWriteWithImm,
  ...(options.immediate === undefined ? {} : { immediate: options.immediate }),
})

export const readWork = (
  identity: WorkIdentity,
  into: LocalMemory,
  from: RemoteMemory,
  options: ReadOptions = {},
): SendWork => ({
  ...identity,
  ...flags(options),
  ...datagram(options.to),
  ...remote(from, "from"),
  sges: sgesOf(into),
  opcode: WrOpcode.RdmaRead,
})

export const compareAndSwapWork = (
  identity: WorkIdentity,
  into: LocalMemory,
  at: RemoteMemory,
  values: { readonly compare: bigint; readonly swap: bigint },
  options: WorkFlags = {},
): SendWork => {
  checkFields("post_send", "values", values, "give { compare, swap }, both as a bigint")
  return {
    ...identity,
    ...flags(options),
    ...remote(at, "at"),
    sges: sgesOf(into),
    opcode: WrOpcode.AtomicCmpAndSwp,
    compareAdd: values.compare,
    swap: values.swap,
  }
}

export const fetchAndAddWork = (
  identity: WorkIdentity,
  into: LocalMemory,
  at: RemoteMemory,
  add: bigint,
  options: WorkFlags = {},
): SendWork => ({
  ...identity,
  ...flags(options),
  ...remote(at, "at"),
  sges: sgesOf(into),
  opcode: WrOpcode.AtomicFetchAndAdd,
  compareAdd: add,
})

/** The octets of a number as the machine has it, low octet first. */
const octetsOf = (value: bigint): Uint8Array => {
  const octets = new Uint8Array(8)
  new DataView(octets.buffer).setBigUint64(0, BigInt.asUintN(64, value), true)
  return octets
}

export const atomicWriteWork = (
  identity: WorkIdentity,
  value: bigint | Uint8Array,
  at: RemoteMemory,
  options: WorkFlags = {},
): SendWork => {
  const inline = typeof value === "bigint" ? octetsOf(value) : value
  if (!(inline instanceof Uint8Array)) throw wrongType("post_send", "value", value, "give a bigint, or eight octets")
  return { ...identity, ...flags(options), ...remote(at, "at"), sges: [], inline, opcode: WrOpcode.AtomicWrite }
}

export const invalidateWork = (identity: WorkIdentity, key: number, options: WorkFlags = {}): SendWork => ({
  ...identity,
  ...flags(options),
  sges: [],
  opcode: WrOpcode.LocalInv,
  invalidateKey: key,
})

/** The part of its region that a window is bound to, as requests name it. */
export const bindPlace = (options: BindOptions) => {
  checkFields("bind_mw", "options", options, "give { region, access }, and what of the region")
  const { region, offset = 0, access } = options
  if (!(region instanceof MemoryRegion)) throw wrongType("bind_mw", "region", region, "give a registered region")
  if (!Number.isSafeInteger(offset)) throw wrongType("bind_mw", "offset", offset, "give a whole number")
  const { length = region.length - offset } = options
  if (!Number.isSafeInteger(length)) throw wrongType("bind_mw", "length", length, "give a whole number")
  return { region: region.handle, address: region.address + offset, length, access: accessBits(access, "bind_mw") }
}

/** Binds a window of type 2 under a key of the program's choice. */
export const bindWork = (
  identity: WorkIdentity,
  window: MemoryWindow,
  remoteKey: number,
  options: BindOptions & WorkFlags,
): SendWork => ({
  ...identity,
  ...flags(options),
  sges: [],
  opcode: WrOpcode.BindMw,
  bind: { window: window.handle, remoteKey, ...bindPlace(options) },
})

/** The key after this one: its tag, the lowest 8 bits, is one more (ibv_inc_rkey). */
export const nextKey = (key: number): number => ((key & 0xffffff00) | ((key + 1) & 0xff)) >>> 0

/** What an atomic has found: it puts it into memory as the machine has numbers, low octet first. */
export const foundIn = ({ octets }: MemoryRange): bigint =>
  new DataView(octets.buffer, octets.byteOffset, octets.byteLength).getBigUint64(0, true)

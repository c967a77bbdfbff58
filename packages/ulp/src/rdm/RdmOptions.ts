import { hasFields, shown } from "@rdmakit/protocol"
import type { EfaRdmAddress } from "@rdmakit/wire/efa-rdm"
import type { RdmMemory } from "./Datagram.ts"

/**
 * In which order messages of one peer end.
 *
 * - `completion`: they are matched in the order they were sent, and the receives they matched complete in that order.
 * - `matching`: they are matched in that order (FI_ORDER_SAS) and complete as they are done, as libfabric's provider has it.
 * - `none`: they are matched as they arrive: the raw face of SRD.
 */
export type RdmOrder = "completion" | "matching" | "none"

/** Sizes at which another protocol is chosen, bytes; the defaults are libfabric's for system memory (efa_hmem.c). */
export interface RdmThresholds {
  /** Messages up to here go in packets that are sent at once. Default 65,536. */
  readonly mediumBytesMax?: number
  /** Messages from here on are read by the receiver, where both can. Default 1 MiB. */
  readonly readBytesMin?: number
  /** Writes from here on are read by the responder, where both can READ and one of them cannot WRITE. Default 65,536. */
  readonly readWriteBytesMin?: number
  /** How much of each message that is read goes ahead in packets, bytes. Default 0; libfabric has 307,200 for GPUs. */
  readonly runtBytes?: number
}

/** What an endpoint keeps at most. */
export interface RdmLimits {
  /** Sends, writes, reads and atomics that have not ended, of this side; what responders answer counts too. Default 1,024. */
  readonly operationsMax?: number
  /** Receives that wait or are being filled, and what responders take in. Default 1,024. */
  readonly receivesMax?: number
  /** Packets and RDMA operations that the service has not completed. Default 128. */
  readonly packetsInFlightMax?: number
  /** Messages without a receive, bytes, over all peers. Default 4 MiB. */
  readonly unexpectedBytesMax?: number
  /** Packets ahead of their turn, bytes, over all peers. Default 4 MiB. */
  readonly reorderBytesMax?: number
  /** Default 4,096. */
  readonly peersMax?: number
}

export interface RdmOptions extends RdmThresholds, RdmLimits {
  /** What peers know this endpoint by. */
  readonly address: EfaRdmAddress
  /** The largest packet that the service takes, bytes: 512 to 65,536. EFA has about 8,900. */
  readonly mtuBytes: number
  readonly memory: RdmMemory
  /** Where the packet of a request lies, `mtuBytes` octets for each token below `packetsInFlightMax`. Default: its own memory. */
  readonly packetBuffer?: (token: number) => Uint8Array
  /** The service's number of a peer whose packet tells its address, or undefined. Without it such packets are dropped. */
  readonly peerOf?: (address: EfaRdmAddress) => number | undefined
  /** Default `completion`. */
  readonly order?: RdmOrder
  /** The device can RDMA READ. Default false. */
  readonly rdmaRead?: boolean
  /** The device can RDMA WRITE. Default false. */
  readonly rdmaWrite?: boolean
  /** It confirms deliveries (extra feature 1). Default true; false is what libfabric before 1.12 can. */
  readonly deliveryComplete?: boolean
  /** It takes and sends RUNTREAD packets (extra feature 4). Default true; false is what libfabric before 1.16 can. */
  readonly runtRead?: boolean
  /** Messages of a peer ahead of their turn, a power of two from 1 to 65,536. Default 16 (efa_rdm_peer.h); more overflow. */
  readonly receiveWindow?: number
  /** Packets of data that one CTS asks for and allows, 1 to 65,536. Default 32 (FI_EFA_TX_MIN_CREDITS). */
  readonly credits?: number
}

/** An option, or an argument of a call, that an endpoint cannot work with. */
export class RdmError extends Error {
  readonly _tag = "RdmError"
  override readonly name = "RdmError"
  /** The option or argument, as its interface spells it. */
  readonly field: string
  readonly value: unknown
  readonly expected: string

  constructor(field: string, value: unknown, expected: string) {
    super(`rdm: ${field} is ${shown(value)}, expected ${expected}`)
    this.field = field
    this.value = value
    this.expected = expected
  }
}

export const checkInteger = (field: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): number => {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  throw new RdmError(field, value, `a whole number from ${least} to ${most}`)
}

/** @throws RdmError unless the value is legal */
export const check = (field: string, value: unknown, legal: boolean, expected: string): void => {
  if (!legal) throw new RdmError(field, value, expected)
}

/** The options with every default filled in. */
export interface RdmSettings extends Required<Omit<RdmOptions, "peerOf">> {
  readonly peerOf: (address: EfaRdmAddress) => number | undefined
}

const MIB = 1_048_576

/** @throws RdmError for an option out of its range */
export const settingsOf = (options: RdmOptions): RdmSettings => {
  check("options", options, hasFields(options), "an object")
  const settings: RdmSettings = {
    mediumBytesMax: 65_536,
    readBytesMin: MIB,
    readWriteBytesMin: 65_536,
    runtBytes: 0,
    operationsMax: 1024,
    receivesMax: 1024,
    packetsInFlightMax: 128,
    unexpectedBytesMax: 4 * MIB,
    reorderBytesMax: 4 * MIB,
    peersMax: 4096,
    order: "completion",
    rdmaRead: false,
    rdmaWrite: false,
    deliveryComplete: true,
    runtRead: true,
    receiveWindow: 16,
    credits: 32,
    peerOf: () => undefined,
    packetBuffer: () => new Uint8Array(options.mtuBytes),
    ...options,
  }
  checkInteger("mtuBytes", settings.mtuBytes, 512, 65_536)
  checkInteger("receiveWindow", settings.receiveWindow, 1, 65_536)
  if ((settings.receiveWindow & (settings.receiveWindow - 1)) !== 0)
    throw new RdmError("receiveWindow", settings.receiveWindow, "a power of two")
  checkInteger("credits", settings.credits, 1, 65_536)
  for (const field of ["mediumBytesMax", "readBytesMin", "readWriteBytesMin", "runtBytes"] as const)
    checkInteger(field, settings[field], 0)
  for (const field of ["unexpectedBytesMax", "reorderBytesMax"] as const) checkInteger(field, settings[field], 0)
  for (const field of ["operationsMax", "receivesMax", "packetsInFlightMax", "peersMax"] as const)
    checkInteger(field, settings[field], 1, 65_536)
  for (const field of ["rdmaRead", "rdmaWrite", "deliveryComplete", "runtRead"] as const)
    check(field, settings[field], typeof settings[field] === "boolean", "true or false")
  for (const field of ["packetBuffer", "peerOf"] as const)
    check(field, settings[field], typeof settings[field] === "function", "a function")
  const { address, memory, order } = settings
  check("order", order, ["completion", "matching", "none"].includes(order), "completion, matching or none")
  check("memory", memory, hasFields(memory) && typeof memory.resolve === "function", "memory, which has resolve")
  check("address", address, hasFields(address), "an address, { gid, qpn, connid }")
  check("address.gid", address.gid, address.gid instanceof Uint8Array && address.gid.length === 16, "16 octets")
  checkInteger("address.qpn", address.qpn, 0, 0xffff)
  checkInteger("address.connid", address.connid, 0, 0xffff_ffff)
  return settings
}

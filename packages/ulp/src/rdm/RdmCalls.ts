import { hasFields } from "@rdmakit/protocol"
import type { EfaRdmTarget } from "@rdmakit/wire/efa-rdm"
import { atomicBytes, isAtomic } from "./Atomics.ts"
import { check, checkInteger, RdmError } from "./RdmOptions.ts"
import { TARGETS_MAX, targetBytes } from "./Targets.ts"

/** The most that the header of an atomic takes: to four targets, with the raw address. */
const ATOMIC_HEADER_BYTES_MAX = 24 + 24 * TARGETS_MAX + 40

/** What is said of a send, a write or an atomic. */
export interface RdmSendOptions {
  /** Makes it a tagged message; of `send` alone. 64 bits. */
  readonly tag?: bigint
  /** For the completion at the receiver, 64 bits; of `send` and `write`. */
  readonly cqData?: bigint
  /** It completes when the data is where it goes, not when the peer's device has it. Default false. */
  readonly deliveryComplete?: boolean
}

export interface RdmReceiveOptions {
  /** Takes tagged messages that differ from it in bits of `ignore` alone; without it, messages without a tag. */
  readonly tag?: bigint
  /** Default 0. */
  readonly ignore?: bigint
  /** Takes messages of this peer alone. */
  readonly from?: number
}

export interface RdmAtomicOptions {
  /** An {@link AtomicDatatype} and an {@link AtomicOperation}. */
  readonly datatype: number
  readonly operation: number
  /** Of atomics without a result. Default false. */
  readonly deliveryComplete?: boolean
}

/** @throws RdmError for what is no octets. @param field as the call spells it */
export const checkOctets = (field: string, value: unknown): void =>
  check(field, value, value instanceof Uint8Array, "octets, a Uint8Array")

/** What all calls have. @throws RdmError */
export const checkCall = (context: number, options: RdmSendOptions | RdmReceiveOptions | RdmAtomicOptions): void => {
  checkInteger("context", context, Number.MIN_SAFE_INTEGER)
  check("options", options, hasFields(options), "an object")
}

/** @throws RdmError for a number that does not fit 64 bits */
export const checkWord = (field: string, value: bigint | undefined): bigint | undefined => {
  if (value === undefined || (typeof value === "bigint" && value >= 0n && value <= 0xffff_ffff_ffff_ffffn)) return value
  throw new RdmError(field, value, "a whole number of 64 bits")
}

/** @throws RdmError when the remote ranges are too many, or have not the length of the local buffer */
export const checkTargets = (targets: ReadonlyArray<EfaRdmTarget>, local: Uint8Array): void => {
  check("targets", targets, Array.isArray(targets), "an array of remote ranges")
  checkInteger("targets.length", targets.length, 1, TARGETS_MAX)
  for (const target of targets) {
    check("targets", target, hasFields(target), "ranges, { address, bytes, key }")
    for (const field of ["address", "bytes", "key"] as const)
      check(`targets.${field}`, target[field], typeof target[field] === "bigint", "a bigint")
  }
  const bytes = targetBytes(targets)
  if (bytes !== BigInt(local.length))
    throw new RdmError("targets", bytes, `${local.length} bytes, as the local buffer has`)
}

/** @throws RdmError for what is no atomic, and for operands of `bytes` in all that do not fit a packet */
export const checkAtomic = (
  kind: "write" | "fetch" | "compare",
  operands: Uint8Array,
  targets: ReadonlyArray<EfaRdmTarget>,
  bytes: number,
  mtuBytes: number,
  { datatype, operation }: RdmAtomicOptions,
): void => {
  if (!isAtomic(kind, datatype, operation)) throw new RdmError("operation", operation, `one of datatype ${datatype}`)
  const size = atomicBytes(datatype)!
  if (operands.length % size !== 0) throw new RdmError("operands.length", operands.length, `a multiple of ${size}`)
  checkInteger("operands.length", bytes, size, mtuBytes - ATOMIC_HEADER_BYTES_MAX)
  checkTargets(targets, operands)
}

import type { EfaRdmTarget } from "@rdmakit/wire/efa-rdm"
import type { RdmAccess, RdmMemory } from "./Datagram.ts"
import { Segments } from "./Segments.ts"

/** Ranges that one request names at most (EFA_RDM_IOV_LIMIT). */
export const TARGETS_MAX = 4

export const targetBytes = (targets: ReadonlyArray<EfaRdmTarget>): bigint =>
  targets.reduce((sum, { bytes }) => sum + bytes, 0n)

/** The remote range from byte `offset` of several on that lies together, at most `bytesMax`. It has to be there. */
export const targetRun = (targets: ReadonlyArray<EfaRdmTarget>, offset: number, bytesMax: number): EfaRdmTarget => {
  let start = BigInt(offset)
  for (const { address, bytes, key } of targets) {
    if (start < bytes) {
      const left = bytes - start
      const most = BigInt(bytesMax)
      return { address: address + start, bytes: left < most ? left : most, key }
    }
    start -= bytes
  }
  return { address: 0n, bytes: 0n, key: 0n }
}

/** The memory that a peer names, or undefined if any of it is not there or not for that. */
export const resolveTargets = (
  memory: RdmMemory,
  targets: ReadonlyArray<EfaRdmTarget>,
  access: RdmAccess,
): Segments | undefined => {
  if (targets.length > TARGETS_MAX) return undefined
  const parts: Array<Uint8Array> = []
  for (const target of targets) {
    const part = memory.resolve(target, access)
    if (part === undefined) return undefined
    parts.push(part)
  }
  return new Segments(parts)
}

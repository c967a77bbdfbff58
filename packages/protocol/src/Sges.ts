import { type Memory, MemoryFault, type MemoryUser } from "./Memory.ts"
import type { Sge } from "./Verbs.ts"

/** Bytes in a list of scatter-gather elements. */
export const bytesOf = (sges: ReadonlyArray<Sge>): number => {
  let bytes = 0
  for (const { length } of sges) bytes += length
  return bytes
}

/** Whether the whole list may be read (`access` 0), or written to. */
export const checkSges = (memory: Memory, user: MemoryUser, sges: ReadonlyArray<Sge>, access: number): MemoryFault => {
  for (const { address, length, lkey } of sges) {
    if (length === 0) continue
    const fault = memory.check(user, lkey, false, access, address, length)
    if (fault !== MemoryFault.None) return fault
  }
  return MemoryFault.None
}

/**
 * Copies bytes between a list, from `offset` of its bytes on, and octets; all of them are within the list. After a fault
 * some may have been copied. Lists are short: it looks for its place anew each time.
 */
export const moveSges = (
  memory: Memory,
  user: MemoryUser,
  sges: ReadonlyArray<Sge>,
  offset: number,
  bytes: number,
  octets: Uint8Array,
  start: number,
  intoMemory: boolean,
): MemoryFault => {
  let before = 0
  let done = 0
  for (const { address, length, lkey } of sges) {
    if (done === bytes) break
    const from = offset + done - before
    before += length
    if (from >= length) continue
    const part = Math.min(length - from, bytes - done)
    const fault = intoMemory
      ? memory.write(user, lkey, false, address + from, octets, start + done, part)
      : memory.read(user, lkey, false, address + from, part, octets, start + done)
    if (fault !== MemoryFault.None) return fault
    done += part
  }
  return MemoryFault.None
}

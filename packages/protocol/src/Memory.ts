import type { MwBind } from "./Verbs.ts"

/** Why memory may not be touched; 0 when it may. */
export const MemoryFault = {
  None: 0,
  /** No such key, or one that is not for this use. */
  Key: 1,
  /** Another protection domain, or another queue pair's window. */
  Domain: 2,
  /** Outside the region. */
  Bounds: 3,
  /** The region, or the window, does not allow it. */
  Access: 4,
  /** An atomic whose address is no multiple of eight. */
  Alignment: 5,
} as const
export type MemoryFault = (typeof MemoryFault)[keyof typeof MemoryFault]

/** On whose behalf memory is touched. */
export interface MemoryUser {
  /** Protection domain, the device's number. */
  readonly domain: number
  /** Queue pair, to which a window of type 2 may be bound. */
  readonly qpn: number
}

/**
 * The memory that a device has registered, as a transport reaches it. Every call checks the key anew, for a region may go
 * between two packets; a call that returns a fault has touched nothing.
 */
export interface Memory {
  /**
   * Whether `bytes` from `address` on may be touched: for a remote key with the `Access` bits, for a local key with
   * LocalWrite, or 0 to read. No bytes are always allowed under a key that is not looked at (IBTA vol. 1, C9-88).
   */
  check(user: MemoryUser, key: number, remote: boolean, access: number, address: number, bytes: number): MemoryFault
  /** Copies out of memory. */
  read(
    user: MemoryUser,
    key: number,
    remote: boolean,
    address: number,
    bytes: number,
    out: Uint8Array,
    outStart: number,
  ): MemoryFault
  /** Copies into memory. */
  write(
    user: MemoryUser,
    key: number,
    remote: boolean,
    address: number,
    octets: Uint8Array,
    start: number,
    bytes: number,
  ): MemoryFault
  /**
   * Changes eight octets under a remote key, at once: the value there before is in `original`. The number lies in memory as
   * the machine has it, low octet first.
   */
  compareAndSwap(user: MemoryUser, key: number, address: number, compare: bigint, swap: bigint): MemoryFault
  fetchAndAdd(user: MemoryUser, key: number, address: number, add: bigint): MemoryFault
  /** What the last atomic found. */
  readonly original: bigint
  /** Makes a bound window of type 2 unusable, of this queue pair; regions that a program registered are not invalidated (Linux rxe). */
  invalidate(user: MemoryUser, key: number, remote: boolean): MemoryFault
  /** Binds a window of type 2. */
  bind(user: MemoryUser, bind: MwBind): MemoryFault
}

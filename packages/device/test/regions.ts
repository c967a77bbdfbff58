import { Access, type MemoryFault, type MemoryUser } from "@rdmakit/protocol"
import { expect } from "vitest"
import type { Lab } from "./fakes.ts"

export const PAGE = 4096
export const ALL = Access.LocalWrite | Access.RemoteWrite | Access.RemoteRead | Access.RemoteAtomic | Access.MwBind
export const REMOTE = Access.RemoteWrite | Access.RemoteRead | Access.RemoteAtomic

/** Three pages filled with 0xaa, of which a region covers the middle one. */
export const region = (at: Lab, access: number = ALL) => {
  const memory = at.device.allocate(3 * PAGE)
  memory.octets.fill(0xaa)
  const mr = at.pd.regMr({ address: memory.address + PAGE, length: PAGE, access })
  return { memory, mr, start: memory.address + PAGE, user: { domain: at.pd.number, qpn: 17 } satisfies MemoryUser }
}

export const INK = new Uint8Array(3 * PAGE).fill(0x55)

/** Every call of the contract with one key and place: what each says. Nothing may change, nor be told. */
export const attempts = (
  at: Lab,
  user: MemoryUser,
  key: number,
  address: number,
  bytes: number,
): ReadonlyArray<MemoryFault> => {
  const { memory } = at.device
  const out = new Uint8Array(Math.min(Math.max(bytes, 8), 1 << 16) || 8)
  const faults = [
    memory.check(user, key, true, Access.RemoteRead, address, bytes),
    memory.check(user, key, true, Access.RemoteWrite, address, bytes),
    memory.read(user, key, true, address, bytes, out, 0),
    memory.write(user, key, true, address, INK, 0, bytes),
    memory.compareAndSwap(user, key, address, 0xaaaaaaaaaaaaaaaan, 0n),
    memory.fetchAndAdd(user, key, address, 1n),
  ]
  expect(out.every((octet) => octet === 0)).toBe(true)
  return faults
}

import { Access, MemoryFault } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type Lab, lab, refusal } from "./fakes.ts"
import { ALL, attempts, INK, PAGE, REMOTE, region } from "./regions.ts"

describe("windows", () => {
  const bound = (at: Lab, type: 1 | 2, some: { access?: number; address?: number; length?: number } = {}) => {
    const { memory, mr, start, user } = region(at)
    const window = at.pd.allocMw(type)
    const bind = {
      window: window.rkey,
      remoteKey: (window.rkey & 0xffffff00) | ((window.rkey + 1) & 0xff),
      lkey: mr.lkey,
      address: start + 64,
      length: 64,
      access: Access.RemoteWrite,
      ...some,
    }
    return { memory, mr, start, user, window, bind, fault: at.device.memory.bind(user, bind) }
  }

  it("open a part of a region, under a key that changes with each bind", () => {
    const at = lab()
    const { memory, start, user, window, fault, mr } = bound(at, 1)
    const { memory: table } = at.device
    expect(fault).toBe(MemoryFault.None)
    expect(table.write(user, window.rkey, true, start + 64, INK, 0, 64)).toBe(MemoryFault.None)
    expect(memory.octets.indexOf(0x55)).toBe(PAGE + 64)
    expect(memory.octets.lastIndexOf(0x55)).toBe(PAGE + 127)
    expect(table.write(user, window.rkey, true, start + 63, INK, 0, 2)).toBe(MemoryFault.Bounds)
    expect(table.write(user, window.rkey, true, start + 127, INK, 0, 2)).toBe(MemoryFault.Bounds)
    expect(table.read(user, window.rkey, true, start + 64, 1, new Uint8Array(1), 0)).toBe(MemoryFault.Access)
    expect(table.write({ ...user, domain: 99 }, window.rkey, true, start + 64, INK, 0, 1)).toBe(MemoryFault.Domain)
    expect(table.write({ ...user, qpn: 99 }, window.rkey, true, start + 64, INK, 0, 1)).toBe(MemoryFault.None)
    expect(table.write(user, window.rkey, false, start + 64, INK, 0, 1)).toBe(MemoryFault.Key)
    const old = window.rkey
    const again = {
      window: old,
      remoteKey: old ^ 1,
      lkey: mr.lkey,
      address: start,
      length: 8,
      access: Access.RemoteRead | Access.ZeroBased,
    }
    expect(table.bind(user, again)).toBe(MemoryFault.None)
    expect(window.rkey).toBe(old ^ 1)
    expect(table.write(user, old, true, start + 64, INK, 0, 1)).toBe(MemoryFault.Key)
    expect(table.read(user, window.rkey, true, 0, 8, new Uint8Array(8), 0)).toBe(MemoryFault.None)
    expect(table.read(user, window.rkey, true, 1, 8, new Uint8Array(8), 0)).toBe(MemoryFault.Bounds)
    expect(refusal(() => mr.dereg())).toEqual({ errno: "EBUSY", attribute: undefined })
    expect(refusal(() => mr.rereg({ access: ALL })).errno).toBe("EBUSY")
    // A bind of no bytes unbinds a window of type 1.
    expect(table.bind(user, { ...again, window: window.rkey, remoteKey: window.rkey ^ 2, length: 0 })).toBe(
      MemoryFault.None,
    )
    expect(table.read(user, window.rkey, true, 0, 8, new Uint8Array(8), 0)).toBe(MemoryFault.Key)
    mr.dereg()
  })

  it("of type 2 belong to the queue pair that bound them, until they are invalidated", () => {
    const at = lab()
    const { start, user, window, fault, bind, mr } = bound(at, 2, { access: REMOTE })
    const { memory: table } = at.device
    expect(fault).toBe(MemoryFault.None)
    const other = { ...user, qpn: 99 }
    expect(attempts(at, other, window.rkey, start + 64, 8)).toEqual(Array(6).fill(MemoryFault.Domain))
    expect(table.bind(user, { ...bind, window: window.rkey, remoteKey: window.rkey ^ 2 })).toBe(MemoryFault.Access)
    expect(table.invalidate(other, window.rkey, true)).toBe(MemoryFault.Domain)
    expect(table.invalidate({ ...user, domain: 99 }, window.rkey, true)).toBe(MemoryFault.Domain)
    expect(table.write(user, window.rkey, true, start + 64, INK, 0, 8)).toBe(MemoryFault.None)
    const key = window.rkey
    expect(table.invalidate(user, key, true)).toBe(MemoryFault.None)
    expect(table.write(user, key, true, start + 64, INK, 0, 8)).toBe(MemoryFault.Key)
    expect(table.invalidate(user, key, true)).toBe(MemoryFault.Key)
    expect(table.bind(user, { ...bind, window: key, remoteKey: key })).toBe(MemoryFault.Key)
    expect(table.bind(other, { ...bind, window: key, remoteKey: key ^ 2 })).toBe(MemoryFault.None)
    expect(table.write(other, window.rkey, true, start + 64, INK, 0, 8)).toBe(MemoryFault.None)
    window.dealloc()
    expect(table.write(other, key ^ 2, true, start + 64, INK, 0, 8)).toBe(MemoryFault.Key)
    mr.dereg()
  })

  it("of type 2 close with their queue pair", () => {
    const at = lab()
    const qp = at.qp()
    const { mr, start } = region(at)
    const window = at.pd.allocMw(2)
    const user = { domain: at.pd.number, qpn: qp.qpn }
    const bind = {
      window: window.rkey,
      remoteKey: window.rkey ^ 1,
      lkey: mr.lkey,
      address: start,
      length: 8,
      access: REMOTE,
    }
    expect(at.device.memory.bind(user, bind)).toBe(MemoryFault.None)
    qp.destroy()
    expect(at.device.memory.write(user, window.rkey, true, start, INK, 0, 8)).toBe(MemoryFault.Key)
    mr.dereg()
  })

  it("bind only where the region lets them", () => {
    const at = lab()
    const { mr, start, user, window, bind } = bound(at, 2, { length: PAGE })
    const { memory: table } = at.device
    const fault = (some: object, who = user) => table.bind(who, { ...bind, length: 64, ...some })
    expect(window.region).toBeUndefined()
    expect(fault({ address: start - 1 })).toBe(MemoryFault.Bounds)
    expect(fault({ address: start + PAGE - 63 })).toBe(MemoryFault.Bounds)
    expect(fault({ length: Number.MAX_SAFE_INTEGER })).toBe(MemoryFault.Bounds)
    expect(fault({ length: -1 })).toBe(MemoryFault.Bounds)
    expect(fault({ length: 0 })).toBe(MemoryFault.Access)
    expect(fault({ access: Access.LocalWrite })).toBe(MemoryFault.Access)
    expect(fault({ remoteKey: bind.remoteKey + 256 })).toBe(MemoryFault.Key)
    expect(fault({ window: bind.window ^ 1, remoteKey: bind.remoteKey ^ 4 })).toBe(MemoryFault.Key)
    expect(fault({ window: mr.rkey, remoteKey: mr.rkey ^ 1 })).toBe(MemoryFault.Key)
    expect(fault({ lkey: mr.rkey })).toBe(MemoryFault.Key)
    expect(fault({}, { domain: 99, qpn: 1 })).toBe(MemoryFault.Domain)
    const { address } = at.device.allocate(PAGE)
    const readOnly = at.pd.regMr({ address, length: PAGE, access: Access.MwBind })
    const closed = at.pd.regMr({ address, length: PAGE, access: Access.LocalWrite })
    const zero = at.pd.regMr({ address, length: PAGE, access: ALL | Access.ZeroBased })
    const foreign = at.device.allocPd().regMr({ address, length: PAGE, access: ALL })
    expect(fault({ lkey: readOnly.lkey, address })).toBe(MemoryFault.Access)
    expect(fault({ lkey: closed.lkey, address })).toBe(MemoryFault.Access)
    expect(fault({ lkey: zero.lkey, address: 0 })).toBe(MemoryFault.Access)
    expect(fault({ lkey: foreign.lkey, address })).toBe(MemoryFault.Domain)
    expect(window.region).toBeUndefined()
    expect(fault({ lkey: readOnly.lkey, address, access: Access.RemoteRead })).toBe(MemoryFault.None)
    // Regions, and windows of type 1, are not invalidated.
    expect(table.invalidate(user, mr.rkey, true)).toBe(MemoryFault.Access)
    const first = bound(at, 1)
    expect(table.invalidate(first.user, first.window.rkey, true)).toBe(MemoryFault.Access)
    expect(table.invalidate(user, mr.lkey, false)).toBe(MemoryFault.Key)
  })
})

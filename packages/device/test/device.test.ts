import { readFileSync } from "node:fs"
import { Access } from "@rdmakit/protocol"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { Provider } from "../src/layer.ts"
import { gidOf, lab, refusal, vector } from "./fakes.ts"

const NONE = {
  allocations: 0,
  protectionDomains: 0,
  threadDomains: 0,
  memoryRegions: 0,
  memoryWindows: 0,
  completionQueues: 0,
  sharedReceiveQueues: 0,
  queuePairs: 0,
  addressHandles: 0,
  multicastAttachments: 0,
}

it("says what it is", () => {
  const at = lab({ name: "mlx5_0", seed: 7, limits: { maxQp: 3 } })
  expect(at.world.adapter).toBe(at.device)
  expect(at.device.query()).toMatchObject({
    name: "mlx5_0",
    ports: 1,
    pageBytes: 4096,
    atomics: "hca",
    limits: { maxQp: 3, maxSge: 32 },
  })
  expect(at.device.queryPort(1)).toEqual({
    state: "active",
    linkLayer: "ethernet",
    maxMtuBytes: 4096,
    activeMtuBytes: 1024,
    lineRateBps: 25e9,
    maxMessageBytes: 2 ** 31,
    gids: 2,
    partitionKeys: 1,
  })
  expect(at.device.queryGid(1, 1)).toEqual({ index: 1, gid: gidOf(9), type: "rocev2" })
  expect(at.device.gids).toHaveLength(2)
  expect(at.device.queryPkey(1, 0)).toBe(0xffff)
  for (const call of [
    () => at.device.queryPort(2),
    () => at.device.queryGid(0, 0),
    () => at.device.queryGid(1, 2),
    () => at.device.queryPkey(1, 1),
    () => lab({ limits: { maxQp: -1 } }),
  ]) {
    expect(refusal(call).errno).toBe("EINVAL")
  }
})

it("numbers queue pairs from its seed, never 0, 1 or 0xffffff, and gives none twice in a row", () => {
  const numbers = (seed: number) => {
    const at = lab({ seed })
    return Array.from({ length: 50 }, () => {
      const qp = at.qp()
      const { qpn } = qp
      if (qpn % 2 === 0) qp.destroy()
      return qpn
    })
  }
  expect(numbers(1)).toEqual(numbers(1))
  expect(numbers(1)).not.toEqual(numbers(2))
  for (let seed = 0; seed < 50; seed += 1) {
    const all = numbers(seed)
    expect(new Set(all).size).toBe(50)
    expect(all.every((qpn) => qpn >= 2 && qpn < 0xffffff)).toBe(true)
  }
  expect(lab({ seed: 3 }).device.nodeGuid).toBe(lab({ seed: 3 }).device.nodeGuid)
  expect(lab({ seed: 3 }).device.nodeGuid).not.toBe(lab({ seed: 4 }).device.nodeGuid)
})

it("frees in order, refuses out of order, and has nothing left", () => {
  const at = lab()
  const { device, pd, cq } = at
  const td = device.allocTd()
  const parent = pd.allocParentDomain(td)
  const memory = device.allocate(100)
  const mr = parent.regMr({ address: memory.address, length: 100, access: Access.LocalWrite })
  const mw = pd.allocMw(2)
  const srq = pd.createSrq({ maxWr: 1, maxSge: 1 })
  const qp = at.qp({ srq })
  const ah = pd.createAh(vector)
  expect(parent.number).toBe(pd.number)
  expect(device.queuePair(qp.qpn)).toBe(qp)
  expect(device.resources).toEqual({
    allocations: 1,
    protectionDomains: 2,
    threadDomains: 1,
    memoryRegions: 1,
    memoryWindows: 1,
    completionQueues: 1,
    sharedReceiveQueues: 1,
    queuePairs: 1,
    addressHandles: 1,
    multicastAttachments: 0,
  })
  const busy = (call: () => void) => expect(refusal(call)).toEqual({ errno: "EBUSY", attribute: undefined })
  for (const free of [
    () => parent.dealloc(),
    () => td.dealloc(),
    () => device.release(memory),
    () => srq.destroy(),
    () => cq.destroy(),
  ]) {
    busy(free)
  }
  const domain = () => pd.dealloc()
  for (const free of [
    () => mr.dereg(),
    () => parent.dealloc(),
    () => mw.dealloc(),
    () => qp.destroy(),
    () => srq.destroy(),
    () => ah.destroy(),
  ]) {
    busy(domain)
    free()
    expect(refusal(free).errno).toBe("EINVAL")
  }
  domain()
  for (const gone of [
    domain,
    () => pd.createSrq({ maxWr: 1, maxSge: 1 }),
    () => pd.regMr({ address: memory.address, length: 1, access: 0 }),
    () => at.qp(),
    () => qp.query(),
    () => mr.rereg({ access: 0 }),
  ]) {
    expect(refusal(gone).errno).toBe("EINVAL")
  }
  td.dealloc()
  cq.destroy()
  device.release(memory)
  expect(device.resources).toEqual(NONE)
})

it("has limits, and nothing is left of what was beyond them", () => {
  const limits = {
    maxQp: 1,
    maxCq: 2,
    maxMr: 1,
    maxMw: 1,
    maxPd: 2,
    maxAh: 1,
    maxSrq: 1,
    maxMemoryBytes: 8192,
    maxMulticastGroups: 1,
    maxMulticastQpAttach: 1,
  }
  const at = lab({ limits })
  const { device, pd } = at
  const { address } = device.allocate(4096)
  const qp = at.qp({ type: "ud" })
  const group = Uint8Array.of(0xff, ...Array(14).fill(0), 1)
  qp.attachMulticast(group)
  device.createCq(1)
  device.allocPd()
  const made = [
    () => at.qp(),
    () => device.createCq(1),
    () => device.allocPd(),
    () => pd.allocParentDomain(),
    () => device.allocate(4097),
    () => qp.attachMulticast(Uint8Array.of(0xff, ...Array(14).fill(0), 2)),
  ]
  const twice = [
    () => pd.regMr({ address, length: 1, access: 0 }),
    () => pd.allocMw(1),
    () => pd.createAh(vector),
    () => pd.createSrq({ maxWr: 1, maxSge: 1 }),
  ]
  for (const make of twice) make()
  const before = device.resources
  for (const make of [...made, ...twice]) expect(refusal(make).errno).toBe("ENOMEM")
  expect(device.resources).toEqual(before)
  for (const bytes of [0, -1, 1.5, Number.NaN]) expect(refusal(() => device.allocate(bytes)).errno).toBe("EINVAL")
})

it("a program asks for its devices", () => {
  const { device } = lab()
  const program = Effect.gen(function* () {
    const { devices } = yield* Provider
    return devices.map((each) => each.name)
  })
  expect(Effect.runSync(Effect.provide(program, Layer.succeed(Provider, { devices: [device] })))).toEqual(["rdmakit0"])
})

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", async () => {
  const { said } = await import("../examples/window.ts")
  expect(said).toEqual(["written", "out of bounds", "no such key"])
  expect(read("../README.md")).toContain(read("../examples/window.ts"))
})

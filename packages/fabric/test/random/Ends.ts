import type {
  Allocation,
  CompletionQueue,
  Device,
  MemoryRegion,
  ProtectionDomain,
  QpOptions,
  QueuePair,
  SharedReceiveQueue,
} from "@rdmakit/device"
import { Access, type Completion, QpState, type Sge, WcStatus } from "@rdmakit/protocol"
import { Effect } from "effect"
import { vectorTo } from "../verbs/connected.ts"

/** What a program has seen that should not be. */
export class Complaints {
  readonly lines: Array<string> = []
  expect(holds: boolean, what: () => string): void {
    if (!holds && this.lines.length < 20) this.lines.push(what())
  }
}

const names = new Map<number, string>(Object.entries(WcStatus).map(([name, code]) => [code, name]))
export const statusName = (status: number): string => names.get(status) ?? String(status)

/** Octets that tell where they come from: no two seeds, and no two places, are alike for long. */
export const fillPattern = (octets: Uint8Array, seed: number, start = 0, bytes = octets.length - start): void => {
  let state = (seed ^ 0x9e3779b9) >>> 0
  for (let i = start; i < start + bytes; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    octets[i] = state >>> 24
  }
}

/** Memory that is registered, cut into areas one after the other. */
export interface Memory {
  readonly allocation: Allocation
  readonly mr: MemoryRegion
}

/** All that one side of a lane has. */
export interface Side {
  readonly device: Device
  readonly pd: ProtectionDomain
  readonly sendCq: CompletionQueue
  readonly recvCq: CompletionQueue
  readonly memory: Memory
  readonly shared: SharedSlots | undefined
  readonly qp: QueuePair
}

export const EVERYTHING =
  Access.LocalWrite | Access.RemoteWrite | Access.RemoteRead | Access.RemoteAtomic | Access.MwBind

export const register = (device: Device, pd: ProtectionDomain, bytes: number): Memory => {
  const allocation = device.allocate(Math.max(1, bytes))
  const mr = pd.regMr({ address: allocation.address, length: allocation.octets.length, access: EVERYTHING })
  return { allocation, mr }
}

export interface SideOptions {
  readonly type: QpOptions["type"]
  readonly memoryBytes: number
  readonly sendDepth: number
  readonly receiveDepth: number
  /** It takes its receives from here, and is of its domain. */
  readonly shared: SharedSlots | undefined
}

export const makeSide = (device: Device, options: SideOptions): Side => {
  const { type, memoryBytes, sendDepth, receiveDepth, shared } = options
  const pd = shared?.pd ?? device.allocPd()
  const sendCq = device.createCq(sendDepth + 1)
  // A shared queue may have more for it than its own depth.
  const recvCq = device.createCq(receiveDepth + 64)
  const memory = register(device, pd, memoryBytes)
  const qp = pd.createQp({
    type,
    sendCq,
    recvCq,
    capabilities: {
      maxSendWr: sendDepth,
      maxRecvWr: receiveDepth,
      maxSendSge: 2,
      maxRecvSge: 2,
      maxInlineBytes: 64,
    },
    ...(shared === undefined ? {} : { srq: shared.srq }),
  })
  return { device, pd, sendCq, recvCq, memory, shared, qp }
}

/** Takes a side apart, in the order in which what it is made of depends on each other. */
export const unmakeSide = ({ device, pd, sendCq, recvCq, memory, shared, qp }: Side): void => {
  qp.destroy()
  memory.mr.dereg()
  sendCq.destroy()
  recvCq.destroy()
  if (shared === undefined) pd.dealloc()
  device.release(memory.allocation)
}

/** Receives that several queue pairs of a host take from. */
export class SharedSlots {
  readonly pd: ProtectionDomain
  readonly srq: SharedReceiveQueue
  readonly memory: Memory
  readonly slotBytes: number
  private readonly device: Device

  constructor(device: Device, slots: number, slotBytes: number) {
    this.device = device
    this.slotBytes = slotBytes
    this.pd = device.allocPd()
    this.srq = this.pd.createSrq({ maxWr: slots, maxSge: 1 })
    this.memory = register(device, this.pd, slots * slotBytes)
    for (let slot = 0; slot < slots; slot++) this.post(slot)
  }

  post(slot: number): void {
    const { address } = this.memory.allocation
    const sges = [{ address: address + slot * this.slotBytes, length: this.slotBytes, lkey: this.memory.mr.lkey }]
    this.srq.post({ id: slot, sges })
  }

  unmake(): void {
    this.srq.destroy()
    this.memory.mr.dereg()
    this.pd.dealloc()
    this.device.release(this.memory.allocation)
  }
}

export interface Link {
  readonly pathMtuBytes: number
  readonly gidIndex: number
  readonly serviceLevel: number
  readonly depth: number
}

/** Brings two sides of RC or UC to RTS. */
export const connectSides = (left: Side, right: Side, { pathMtuBytes, gidIndex, serviceLevel, depth }: Link): void => {
  const init = { state: QpState.Init, pkeyIndex: 0, port: 1, accessFlags: EVERYTHING }
  for (const [one, other] of [
    [left, right],
    [right, left],
  ] as const) {
    one.qp.modify(init)
    const rtr = {
      state: QpState.Rtr,
      address: vectorTo(other.device, gidIndex, serviceLevel),
      pathMtuBytes,
      destinationQp: other.qp.qpn,
      // PSNs wrap on the way, now and then.
      receivePsn: (0xffffe0 + other.qp.qpn) & 0xffffff,
    }
    const rts = { state: QpState.Rts, sendPsn: (0xffffe0 + one.qp.qpn) & 0xffffff }
    if (one.qp.type === "uc") {
      one.qp.modify(rtr)
      one.qp.modify(rts)
    } else {
      one.qp.modify({ ...rtr, responderResources: depth, minRnrTimer: 2 })
      one.qp.modify({ ...rts, timeout: 8, retryCount: 7, rnrRetry: 7, initiatorDepth: depth })
    }
  }
}

/** The next completion of a queue, when it comes. */
export const nextOf = (cq: CompletionQueue): Effect.Effect<Completion> =>
  Effect.suspend(() => {
    const completion = cq.pollOne()
    if (completion !== undefined) return Effect.succeed(completion)
    const event = Effect.callback<void>((resume) => {
      cq.arm("next", () => resume(Effect.void))
      return Effect.sync(() => cq.disarm())
    })
    return Effect.flatMap(event, () => nextOf(cq))
  })

/** All that wait in a queue. */
export const drained = (cq: CompletionQueue): ReadonlyArray<Completion> => {
  const out: Array<Completion> = []
  for (let one = cq.pollOne(); one !== undefined; one = cq.pollOne()) out.push(one)
  return out
}

/** A stretch of a side's memory. */
export const sgeOf = ({ memory }: Side, offset: number, length: number): Sge => ({
  address: memory.allocation.address + offset,
  length,
  lkey: memory.mr.lkey,
})

export const sameOctets = (a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, bytes: number): boolean =>
  Buffer.compare(a.subarray(aStart, aStart + bytes), b.subarray(bStart, bStart + bytes)) === 0

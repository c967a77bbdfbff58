import type {
  AddressHandle,
  Allocation,
  CompletionQueue,
  Device,
  MemoryRegion,
  ProtectionDomain,
  QueuePair,
} from "@rdmakit/device"
import { Access, QpState, type Sge } from "@rdmakit/protocol"
import { vectorTo } from "./connected.ts"

export const QUEUE_KEY = 0x11111111
const ALL = Access.LocalWrite | Access.RemoteWrite | Access.RemoteRead

/** A host with one queue pair of SRD, memory, and an address handle for each host. */
export interface SrdEnd {
  readonly device: Device
  readonly pd: ProtectionDomain
  readonly cq: CompletionQueue
  readonly recvCq: CompletionQueue
  readonly memory: Allocation
  readonly mr: MemoryRegion
  readonly qp: QueuePair
  readonly handles: ReadonlyArray<AddressHandle>
}

export interface SrdEndOptions {
  readonly bytes?: number
  readonly depth?: number
  readonly rnrRetry?: number
}

/** One end on each device, ready to send to all of them. */
export const srdEnds = (
  devices: ReadonlyArray<Device>,
  { bytes = 1 << 16, depth = 1024, rnrRetry }: SrdEndOptions = {},
): ReadonlyArray<SrdEnd> =>
  devices.map((device) => {
    const pd = device.allocPd()
    const cq = device.createCq(depth + 1)
    const recvCq = device.createCq(depth + 1)
    const memory = device.allocate(bytes)
    const mr = pd.regMr({ address: memory.address, length: memory.octets.length, access: ALL })
    const capabilities = { maxSendWr: depth, maxRecvWr: depth, maxSendSge: 2, maxRecvSge: 2, maxInlineBytes: 32 }
    const qp = pd.createQp({ type: "srd", sendCq: cq, recvCq, capabilities })
    qp.modify({ state: QpState.Init, pkeyIndex: 0, port: 1, queueKey: QUEUE_KEY })
    qp.modify({ state: QpState.Rtr })
    qp.modify({ state: QpState.Rts, sendPsn: 0, ...(rnrRetry === undefined ? {} : { rnrRetry }) })
    const handles = devices.map((other, index) => pd.createAh(vectorTo(other, index % 2)))
    return { device, pd, cq, recvCq, memory, mr, qp, handles }
  })

/** Whom a request of one end is for. */
export const toEnd = (from: SrdEnd, ends: ReadonlyArray<SrdEnd>, to: number) => ({
  address: from.handles[to]!,
  qpn: ends[to]!.qp.qpn,
  queueKey: QUEUE_KEY,
})

export const sgeOf = ({ mr }: SrdEnd, offset: number, length: number): Sge => ({
  address: mr.address + offset,
  length,
  lkey: mr.lkey,
})

export const remoteOf = ({ mr }: SrdEnd, offset: number) => ({
  remoteAddress: mr.address + offset,
  remoteKey: mr.rkey,
})

/** @param isDeregistered its region is gone already */
export const unmakeEnd = (
  { device, pd, cq, recvCq, memory, mr, qp, handles }: SrdEnd,
  isDeregistered = false,
): void => {
  for (const handle of handles) handle.destroy()
  qp.destroy()
  if (!isDeregistered) mr.dereg()
  cq.destroy()
  recvCq.destroy()
  pd.dealloc()
  device.release(memory)
}

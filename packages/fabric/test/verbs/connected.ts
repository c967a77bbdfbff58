import type { Allocation, CompletionQueue, Device, MemoryRegion, ProtectionDomain, QueuePair } from "@rdmakit/device"
import { Access, type AddressVector, type Completion, QpState, WrOpcode } from "@rdmakit/protocol"
import { star } from "@rdmakit/topology"

/** One end of a connection, with memory of its own. */
export interface End {
  readonly device: Device
  readonly pd: ProtectionDomain
  readonly cq: CompletionQueue
  readonly memory: Allocation
  readonly mr: MemoryRegion
  readonly qp: QueuePair
}

const ALL = Access.LocalWrite | Access.RemoteWrite | Access.RemoteRead | Access.RemoteAtomic

export const vectorTo = (device: Device, gidIndex = 1, serviceLevel = 0): AddressVector => ({
  port: 1,
  sourceGidIndex: gidIndex,
  destinationGid: device.gids[gidIndex]!.gid,
  trafficClass: 0,
  hopLimit: 64,
  flowLabel: 0,
  serviceLevel,
})

export const makeEnd = (device: Device, type: "rc" | "uc" | "ud", bytes = 1 << 16): End => {
  const pd = device.allocPd()
  const cq = device.createCq(4096)
  const memory = device.allocate(bytes)
  const mr = pd.regMr({ address: memory.address, length: bytes, access: ALL })
  const qp = pd.createQp({
    type,
    sendCq: cq,
    recvCq: cq,
    capabilities: { maxSendWr: 1024, maxRecvWr: 1024, maxSendSge: 4, maxRecvSge: 4, maxInlineBytes: 64 },
  })
  const init = { state: QpState.Init, pkeyIndex: 0, port: 1 }
  if (type === "ud") qp.modify({ ...init, queueKey: 0x1234 })
  else qp.modify({ ...init, accessFlags: ALL })
  return { device, pd, cq, memory, mr, qp }
}

export interface ConnectOptions {
  readonly pathMtuBytes?: number
  readonly gidIndex?: number
  readonly serviceLevel?: number
  readonly timeout?: number
  readonly retryCount?: number
}

/** Brings a pair of RC or UC to RTS. */
export const connect = (a: End, b: End, options: ConnectOptions = {}): void => {
  const { pathMtuBytes = 1024, gidIndex = 1, serviceLevel = 0, timeout = 8, retryCount = 7 } = options
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    const rtr = {
      state: QpState.Rtr,
      address: vectorTo(other.device, gidIndex, serviceLevel),
      pathMtuBytes,
      destinationQp: other.qp.qpn,
      receivePsn: other.qp.qpn,
    }
    const rts = { state: QpState.Rts, sendPsn: one.qp.qpn }
    if (one.qp.type === "uc") {
      one.qp.modify(rtr)
      one.qp.modify(rts)
    } else {
      one.qp.modify({ ...rtr, responderResources: 16, minRnrTimer: 1 })
      one.qp.modify({ ...rts, timeout, retryCount, rnrRetry: 7, initiatorDepth: 16 })
    }
  }
}

/** Brings a UD queue pair to RTS. */
export const ready = ({ qp }: End): void => {
  qp.modify({ state: QpState.Rtr })
  qp.modify({ state: QpState.Rts, sendPsn: 0 })
}

export const polled = ({ cq }: End): ReadonlyArray<Completion> => {
  const out: Array<Completion> = []
  for (let one = cq.pollOne(); one !== undefined; one = cq.pollOne()) out.push(one)
  return out
}

export const destroy = ({ device, pd, cq, memory, mr, qp }: End): void => {
  qp.destroy()
  mr.dereg()
  cq.destroy()
  pd.dealloc()
  device.release(memory)
}

export const twoHosts = () => star(2, { rate: "100Gbps", delay: "1us" })

export const write = (a: End, b: End, bytes: number, id = 1) =>
  a.qp.postSend({
    id,
    opcode: WrOpcode.RdmaWrite,
    signaled: true,
    sges: [{ address: a.memory.address, length: bytes, lkey: a.mr.lkey }],
    remoteAddress: b.memory.address,
    remoteKey: b.mr.rkey,
  })

export const fill = ({ memory }: End, salt = 7): void => {
  for (let i = 0; i < memory.octets.length; i++) memory.octets[i] = i * salt + (i >> 8)
}

export const outcomes = (end: End) => polled(end).map(({ id, status }) => [id, status])

import type { CompletionQueue, Device, MemoryRegion, ProtectionDomain, QueuePair } from "@rdmakit/device"
import { Access, type Completion, QpState, WcStatus } from "@rdmakit/protocol"
import { openSoftnic, type Softnic, type SoftnicOptions } from "../src/index.ts"
import type { Joint } from "./joints.ts"

export const QUEUE_KEY = 0x1111_1111

/** One device with memory that its peer may reach in every way, and a queue pair. */
export class Endpoint {
  readonly softnic: Softnic
  readonly device: Device
  readonly pd: ProtectionDomain
  readonly cq: CompletionQueue
  readonly octets: Uint8Array
  readonly region: MemoryRegion
  readonly qp: QueuePair
  private readonly gidIndex: number

  constructor(softnic: Softnic, type: "rc" | "uc" | "ud", gidIndex: number, bytes: number) {
    this.softnic = softnic
    this.gidIndex = gidIndex
    const { device } = softnic
    this.device = device
    this.pd = device.allocPd()
    this.cq = device.createCq(4096)
    const memory = device.allocate(bytes)
    this.octets = memory.octets
    const { LocalWrite, RemoteWrite, RemoteRead, RemoteAtomic } = Access
    const access = LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic
    this.region = this.pd.regMr({ address: memory.address, length: bytes, access })
    this.qp = this.pd.createQp({
      type,
      sendCq: this.cq,
      recvCq: this.cq,
      capabilities: { maxSendWr: 1024, maxRecvWr: 1024, maxSendSge: 4, maxRecvSge: 4, maxInlineBytes: 256 },
    })
  }

  get gid(): Uint8Array {
    return this.device.gids[this.gidIndex]!.gid
  }

  /** An address vector that leads to another. */
  vector(destinationGid: Uint8Array) {
    const { gidIndex: sourceGidIndex } = this
    const plain = { port: 1, trafficClass: 0, hopLimit: 64, flowLabel: 0, serviceLevel: 0 }
    return { ...plain, sourceGidIndex, destinationGid }
  }

  sge(offset: number, length: number) {
    return { address: this.region.iova + offset, length, lkey: this.region.lkey }
  }

  /** Brings the queue pair to RTS with another endpoint's; RC and UC. @param timeout code of the ACK timeout */
  connect(
    peer: Endpoint,
    settings: { readonly psn: number; readonly peerPsn: number; readonly timeout: number },
  ): void {
    const { qp, device } = this
    const rc = qp.type === "rc"
    const { LocalWrite, RemoteWrite, RemoteRead, RemoteAtomic } = Access
    const accessFlags = rc ? LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic : LocalWrite | RemoteWrite
    qp.modify({ state: QpState.Init, pkeyIndex: 0, port: 1, accessFlags })
    qp.modify({
      state: QpState.Rtr,
      address: this.vector(peer.gid),
      pathMtuBytes: device.queryPort(1).activeMtuBytes,
      destinationQp: peer.qp.qpn,
      receivePsn: settings.peerPsn,
      ...(rc ? { responderResources: 16, minRnrTimer: 12 } : {}),
    })
    qp.modify({
      state: QpState.Rts,
      sendPsn: settings.psn,
      ...(rc ? { timeout: settings.timeout, retryCount: 7, rnrRetry: 7, initiatorDepth: 16 } : {}),
    })
  }

  /** Brings a UD queue pair to RTS. */
  activate(queueKey: number): void {
    this.qp.modify({ state: QpState.Init, pkeyIndex: 0, port: 1, queueKey })
    this.qp.modify({ state: QpState.Rtr })
    this.qp.modify({ state: QpState.Rts, sendPsn: 0 })
  }

  /** The next `count` completions, all of them successes. */
  async completions(count: number): Promise<ReadonlyArray<Completion>> {
    const all: Array<Completion> = []
    while (all.length < count) {
      const completion = this.cq.pollOne()
      if (completion === undefined) {
        await new Promise<void>((resolve) => {
          this.cq.arm("next", resolve)
        })
        continue
      }
      if (completion.status !== WcStatus.Success)
        throw new Error(`completion ${completion.id}: status ${completion.status}`)
      all.push(completion)
    }
    return all
  }
}

/** Two devices that reach each other, and their endpoints, connected. */
export const openPair = async (
  joint: Joint,
  type: "rc" | "uc" | "ud" = "rc",
  { bytes = 1 << 20, timeout = 14, common = {} as Omit<SoftnicOptions, "link"> } = {},
) => {
  const first = await openSoftnic({ ...common, link: joint.left() })
  const second = await openSoftnic({ ...common, link: joint.right(first) })
  const left = new Endpoint(first, type, joint.gidIndex, bytes)
  const right = new Endpoint(second, type, joint.gidIndex, bytes)
  if (type === "ud") {
    left.activate(QUEUE_KEY)
    right.activate(QUEUE_KEY)
  } else {
    left.connect(right, { psn: 0xffffe0, peerPsn: 77, timeout })
    right.connect(left, { psn: 77, peerPsn: 0xffffe0, timeout })
  }
  return {
    left,
    right,
    close: () => {
      first.close()
      second.close()
    },
  }
}

/** Fills octets with what depends on where they are and a seed. */
export const fill = (octets: Uint8Array, seed: number): void => {
  for (let at = 0; at < octets.length; at++) octets[at] = (at * 31 + (at >> 8) * 17 + seed) & 0xff
}

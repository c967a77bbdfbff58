/** The device's side of the bench, the same in both processes. */
import { Access, type Completion, QpState } from "../../packages/protocol/src/index.ts"
import { openSoftnic, type Softnic } from "../../packages/softnic/src/index.ts"
import { verbsTransport } from "../../packages/transport-ib/src/index.ts"

const PORT = 47_911
const BYTES = 1 << 20

/** What a peer has to know. */
export interface PeerNumbers {
  readonly port: number
  readonly qpn: number
  readonly address: number
  readonly key: number
}

/** @param window packets in flight at most */
export const openEnd = async (address: string, window: number) => {
  const softnic = await openSoftnic({
    link: { udp: { address, port: PORT } },
    transport: verbsTransport({ inFlightPackets: window }),
  })
  const pd = softnic.device.allocPd()
  const cq = softnic.device.createCq(4096)
  const memory = softnic.device.allocate(BYTES)
  const region = pd.regMr({ address: memory.address, length: BYTES, access: Access.LocalWrite | Access.RemoteWrite })
  const qp = pd.createQp({
    type: "rc",
    sendCq: cq,
    recvCq: cq,
    capabilities: { maxSendWr: 1024, maxRecvWr: 1024, maxSendSge: 1, maxRecvSge: 1, maxInlineBytes: 64 },
  })
  return { softnic, cq, region, qp }
}
export type End = Awaited<ReturnType<typeof openEnd>>

const gidOf = (softnic: Softnic, address: string): Uint8Array => {
  const gid = softnic.device.gids[0]!.gid.slice()
  gid[15] = Number(address.split(".")[3])
  return gid
}

export const connect = ({ softnic, qp }: End, other: string, peer: PeerNumbers): void => {
  const accessFlags = Access.LocalWrite | Access.RemoteWrite
  qp.modify({ state: QpState.Init, pkeyIndex: 0, port: 1, accessFlags })
  const address = {
    port: 1,
    sourceGidIndex: 0,
    destinationGid: gidOf(softnic, other),
    trafficClass: 0,
    hopLimit: 64,
    flowLabel: 0,
    serviceLevel: 0,
  }
  qp.modify({
    state: QpState.Rtr,
    address,
    pathMtuBytes: 4096,
    destinationQp: peer.qpn,
    receivePsn: 0,
    responderResources: 1,
    minRnrTimer: 12,
  })
  qp.modify({ state: QpState.Rts, sendPsn: 0, timeout: 14, retryCount: 7, rnrRetry: 7, initiatorDepth: 1 })
}

export const numbersOf = ({ softnic, qp, region }: End): PeerNumbers => ({
  port: softnic.port!,
  qpn: qp.qpn,
  address: region.iova,
  key: region.rkey,
})

/** Calls `take` for each completion, as they come. */
export const watch = ({ cq }: End, take: (completion: Completion) => void): void => {
  const turn = (): void => {
    for (;;) {
      for (let each = cq.pollOne(); each !== undefined; each = cq.pollOne()) take(each)
      cq.arm("next", turn)
      if (cq.length === 0) return
      cq.disarm()
    }
  }
  turn()
}

export const checked = (completion: Completion): void => {
  if (completion.status !== 0) throw new Error(`completion with status ${completion.status}`)
}

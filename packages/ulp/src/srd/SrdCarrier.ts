import { type Completion, WcOpcode, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { type AddressHandle, formatGid, type MemoryRegion, type QueuePair } from "@rdmakit/verbs"
import type { EfaRdmAddress } from "@rdmakit/wire/efa-rdm"
import type { DatagramRequest, DatagramStatus } from "../rdm/Datagram.ts"
import { RdmEndpoint } from "../rdm/RdmEndpoint.ts"
import type { RdmOptions } from "../rdm/RdmOptions.ts"
import type { RegionDirectory } from "./RegionDirectory.ts"

/** Whom packets go to. */
interface Destination {
  readonly address: AddressHandle
  readonly qpn: number
  readonly queueKey: number
}

interface Held {
  readonly slot: number
  readonly from: number
  readonly bytes: number
}

export interface SrdCarrierParts {
  readonly queuePair: QueuePair
  readonly directory: RegionDirectory
  /** Room for as many packets as may be under way. */
  readonly outgoing: MemoryRegion
  /** Room for as many packets as there are receives. */
  readonly incoming: MemoryRegion
  readonly receives: number
  readonly options: Omit<RdmOptions, "memory" | "packetBuffer" | "peerOf">
}

/** EFA's queue pairs have numbers of 16 bits. Where a device has more, a raw address tells the low ones. */
export const addressQpn = (qpn: number): number => qpn & 0xffff

const keyOf = (gid: string, qpn: number): string => `${gid} ${qpn}`

/** An endpoint upon one queue pair of SRD: its requests as work requests, and completions as what it waits for. */
export class SrdCarrier {
  readonly endpoint: RdmEndpoint
  private readonly parts: SrdCarrierParts
  private readonly mtuBytes: number
  private readonly destinations: Array<Destination> = []
  private readonly numbers = new Map<string, number>()
  /** Who sends the packet that is being handed in, if it is not known. */
  private stranger: { readonly key: string; readonly address: AddressHandle; readonly qpn: number } | undefined

  private held: Array<Held> = []

  /** The queue pair is in RTS, and takes as many requests as may be under way. */
  constructor(parts: SrdCarrierParts) {
    const { options, directory, outgoing, receives } = parts
    const { mtuBytes } = options
    this.parts = parts
    this.mtuBytes = mtuBytes
    this.endpoint = new RdmEndpoint({
      ...options,
      memory: directory,
      packetBuffer: (token) => outgoing.octets.subarray(token * mtuBytes, (token + 1) * mtuBytes),
      peerOf: (address) => this.introduce(address),
    })
    for (let slot = 0; slot < receives; slot++) this.postReceive(slot)
  }

  /** The number of a peer, which it gets here if it has none. */
  addPeer(gid: string, destination: Destination): number {
    const key = keyOf(gid, destination.qpn)
    const known = this.numbers.get(key)
    if (known !== undefined) return known
    const number = this.destinations.push(destination) - 1
    this.numbers.set(key, number)
    return number
  }

  /** Whether a completion tells of a packet from someone unknown. */
  isStrange({ opcode, status, sourceGid, sourceQp }: Completion): boolean {
    if (status !== WcStatus.Success || opcode !== WcOpcode.Recv || sourceGid === undefined) return false
    return !this.numbers.has(keyOf(formatGid(sourceGid), sourceQp))
  }

  /** Hands a completion in. `address` is the way back to a sender who is not known. */
  handle(completion: Completion, address?: AddressHandle): void {
    const { id, status, byteLength, sourceGid, sourceQp } = completion
    const { receives } = this.parts
    if (id >= receives) {
      this.endpoint.handleCompletion(id - receives, statusOf(completion))
      return
    }
    if (status !== WcStatus.Success) return
    const key = keyOf(sourceGid === undefined ? "" : formatGid(sourceGid), sourceQp)
    this.stranger = address === undefined ? undefined : { key, address, qpn: sourceQp }
    if (!this.endpoint.handlePacket(this.numbers.get(key), this.packet(id, byteLength)))
      this.held.push({ slot: id, from: this.numbers.get(key)!, bytes: byteLength })
    else this.postReceive(id)
    this.stranger = undefined
  }

  /** A packet from someone unknown, whom there is no way back to: it is dropped. */
  drop({ id }: Completion): void {
    this.postReceive(id)
  }

  /** Posts what the endpoint asks for, and hands in again what it had no room for. */
  drain(): void {
    const { held } = this
    this.held = []
    for (const each of held)
      if (this.endpoint.handlePacket(each.from, this.packet(each.slot, each.bytes))) this.postReceive(each.slot)
      else this.held.push(each)
    const { endpoint } = this
    for (let request = endpoint.pollTransmit(); request !== undefined; request = endpoint.pollTransmit())
      this.post(request)
  }

  /** A peer that tells its address in its first packet. Its connection is its queue key. */
  private introduce({ qpn, connid }: EfaRdmAddress): number | undefined {
    const { stranger } = this
    if (stranger === undefined || qpn !== addressQpn(stranger.qpn)) return undefined
    const number = this.destinations.push({ address: stranger.address, qpn: stranger.qpn, queueKey: connid }) - 1
    this.numbers.set(stranger.key, number)
    return number
  }

  private packet(slot: number, bytes: number): Uint8Array {
    const start = slot * this.mtuBytes
    return this.parts.incoming.octets.subarray(start, start + bytes)
  }

  private postReceive(slot: number): void {
    const { queuePair, incoming } = this.parts
    const { address, lkey } = incoming
    queuePair.postReceive({
      id: slot,
      sges: [{ address: address + slot * this.mtuBytes, length: this.mtuBytes, lkey }],
    })
  }

  private post({ token, kind, peer, bytes, local, remote }: DatagramRequest): void {
    const { queuePair, outgoing, receives, directory } = this.parts
    const { address, qpn, queueKey } = this.destinations[peer]!
    const work = { id: receives + token, signaled: true, datagram: { address: address.handle, qpn, queueKey } }
    if (kind === "send") {
      const sge = { address: outgoing.address + token * this.mtuBytes, length: bytes, lkey: outgoing.lkey }
      queuePair.postSend({ ...work, opcode: WrOpcode.Send, sges: [sge] })
      return
    }
    const found = directory.find(local)
    if (found === undefined) {
      this.endpoint.handleCompletion(token, "refused")
      return
    }
    const { region, offset } = found
    queuePair.postSend({
      ...work,
      opcode: kind === "read" ? WrOpcode.RdmaRead : WrOpcode.RdmaWrite,
      sges: [{ address: region.address + offset, length: local.length, lkey: region.lkey }],
      remoteAddress: remote.address,
      remoteKey: Number(remote.key),
    })
  }
}

/** What failed by itself is refused; what the device gave up, or never sent, is a peer that cannot be reached. */
const statusOf = ({ status }: Completion): DatagramStatus => {
  switch (status) {
    case WcStatus.Success:
      return "done"
    case WcStatus.LocProtErr:
    case WcStatus.LocLenErr:
    case WcStatus.RemAccessErr:
    case WcStatus.RemOpErr:
    case WcStatus.RemInvReqErr:
      return "refused"
    default:
      return "unreachable"
  }
}

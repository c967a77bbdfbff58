import { Flag, Layout, type Packet } from "@rdmakit/packet"
import { Access, MemoryFault, moveSges, type Time, WcOpcode } from "@rdmakit/protocol"
import type { Carrier } from "./Carrier.ts"
import { EfaStatus } from "./EfaStatus.ts"
import { Message } from "./Message.ts"
import { Bit, Operation, wordOf } from "./Operation.ts"
import { type Peer, READS_MAX } from "./Peer.ts"
import { fillReceive, roomOf } from "./Receives.ts"
import type { SrdQueuePair } from "./SrdQueuePair.ts"

const { EXT } = Layout
const QPN = 0xffffff
const NO_OCTETS = new Uint8Array(0)

/**
 * Does what arriving packets ask for, each by itself and in whatever order they come: every check is made before memory is
 * touched, and one that fails is told to the peer and changes nothing (amzn-drivers, SRD.txt §1).
 */
export class Target {
  private readonly carrier: Carrier

  constructor(carrier: Carrier) {
    this.carrier = carrier
  }

  /** @returns Ok: the packet was taken; else why not */
  take(now: Time, peer: Peer, packet: Packet): EfaStatus {
    const segment = wordOf(packet, EXT.segment)
    const operation = segment & Bit.Operation
    if (packet.payloadBytes > 0 && packet.payload === undefined) return EfaStatus.RemoteBadStatus
    if (operation === Operation.ReadResponse) return this.takeResponse(peer, packet)
    const queuePair = this.carrier.queuePairs.get(wordOf(packet, EXT.destinationQp) & QPN)
    if (queuePair === undefined || !queuePair.isReceiving) return EfaStatus.RemoteBadDestQpn
    if (wordOf(packet, EXT.queueKey) !== queuePair.queueKey >>> 0) return EfaStatus.RemoteBadDestQpn
    if (operation === Operation.Send) return this.takeSend(peer, queuePair, packet, segment)
    const { rdmaRead, rdmaWrite } = this.carrier.config.capabilities
    if (!(operation === Operation.Write ? rdmaWrite : rdmaRead)) return EfaStatus.RemoteFeatureMismatch
    if (!this.carrier.host.knows(peer.path.peer)) return EfaStatus.RemoteUnknownPeer
    if (operation === Operation.Write) return this.takeWrite(peer, queuePair, packet, segment)
    return this.takeRead(now, peer, queuePair, packet)
  }

  private takeSend(peer: Peer, queuePair: SrdQueuePair, packet: Packet, segment: number): EfaStatus {
    const { memory, receives, user } = queuePair
    const receive = receives.first
    if (receive === undefined) return EfaStatus.RemoteRnr
    const { payloadBytes } = packet
    if (payloadBytes > roomOf(receive)) return EfaStatus.RemoteBadLength
    receives.take()
    const { octets, start } = packet.payload ?? { octets: NO_OCTETS, start: 0 }
    if (fillReceive(memory, user, receive, octets, start, payloadBytes) !== MemoryFault.None) {
      queuePair.tellReceive(receive.id, EfaStatus.InvalidLkey)
      return EfaStatus.RemoteBadStatus
    }
    this.tell(peer, queuePair, packet, segment, WcOpcode.Recv, receive.id)
    return EfaStatus.Ok
  }

  private takeWrite(peer: Peer, queuePair: SrdQueuePair, packet: Packet, segment: number): EfaStatus {
    const { memory, receives, user } = queuePair
    const hasImmediate = (segment & Bit.Immediate) !== 0
    const takesReceive = hasImmediate && !this.carrier.config.unsolicitedWrites
    if (takesReceive && receives.first === undefined) return EfaStatus.RemoteRnr
    const { payload, payloadBytes } = packet
    if (payload !== undefined) {
      const { octets, start } = payload
      const address = addressOf(packet)
      const fault = memory.write(user, wordOf(packet, EXT.remoteKey), true, address, octets, start, payloadBytes)
      if (fault !== MemoryFault.None) return EfaStatus.RemoteBadAddress
    }
    this.carrier.counters.writeRecvBytes += payloadBytes
    if (hasImmediate) {
      const id = takesReceive ? receives.take().id : 0
      this.tell(peer, queuePair, packet, segment, WcOpcode.RecvRdmaWithImm, id)
    }
    return EfaStatus.Ok
  }

  private tell(
    peer: Peer,
    queuePair: SrdQueuePair,
    packet: Packet,
    segment: number,
    opcode: WcOpcode,
    id: number,
  ): void {
    const { capabilities, unsolicitedWrites } = this.carrier.config
    const isWrite = opcode === WcOpcode.RecvRdmaWithImm
    if (!isWrite) this.carrier.counters.receive(packet.payloadBytes)
    queuePair.tellArrival(packet.has(Flag.Solicited), {
      id,
      opcode,
      byteLength: isWrite ? wordOf(packet, EXT.dmaLength) : packet.payloadBytes,
      immediate: (segment & Bit.Immediate) === 0 ? undefined : wordOf(packet, EXT.immediate),
      sourceQp: wordOf(packet, EXT.sourceQp) & QPN,
      ...(capabilities.cqWithSgid ? { sourceGid: peer.path.destinationGid } : {}),
      ...(isWrite && unsolicitedWrites ? { unsolicited: true } : {}),
    })
  }

  private takeRead(now: Time, peer: Peer, queuePair: SrdQueuePair, packet: Packet): EfaStatus {
    const { memory, user } = queuePair
    const key = wordOf(packet, EXT.remoteKey)
    const bytes = wordOf(packet, EXT.dmaLength)
    const address = addressOf(packet)
    if (memory.check(user, key, true, Access.RemoteRead, address, bytes) !== MemoryFault.None)
      return EfaStatus.RemoteBadAddress
    if (peer.answers.size >= READS_MAX) return EfaStatus.RemoteAbort
    const destinationQp = wordOf(packet, EXT.sourceQp) & QPN
    // No bytes are at any address.
    const answer = { key, address: bytes === 0 ? 0 : address, bytes, destinationQp }
    const message = new Message(peer, queuePair, answer, wordOf(packet, EXT.message))
    peer.answers.add(message)
    this.carrier.counters.readResponseBytes += bytes
    this.carrier.add(now, message)
    return EfaStatus.Ok
  }

  /** One that comes for a READ that has ended is taken, and means nothing. */
  private takeResponse(peer: Peer, packet: Packet): EfaStatus {
    const message = peer.read(wordOf(packet, EXT.message))
    if (message === undefined) return EfaStatus.Ok
    const { queuePair, request, readBytes } = message
    const status = wordOf(packet, EXT.status)
    if (status !== EfaStatus.Ok) {
      queuePair.end(message, status as EfaStatus)
      return EfaStatus.Ok
    }
    const { payload, payloadBytes } = packet
    const offset = wordOf(packet, EXT.messageOffset)
    if (offset + payloadBytes > readBytes) {
      queuePair.end(message, EfaStatus.RemoteBadStatus)
      return EfaStatus.Ok
    }
    if (payload !== undefined) {
      const { octets, start } = payload
      const { memory, user } = queuePair
      const fault = moveSges(memory, user, request!.sges, offset, payloadBytes, octets, start, true)
      if (fault !== MemoryFault.None) {
        queuePair.end(message, EfaStatus.InvalidLkey)
        return EfaStatus.Ok
      }
    }
    message.received += payloadBytes
    if (message.received === readBytes) queuePair.end(message, EfaStatus.Ok)
    return EfaStatus.Ok
  }
}

/** Where a packet's octets go, or come from; infinite where no memory is. */
const addressOf = (packet: Packet): number => {
  const high = wordOf(packet, EXT.remoteAddress)
  return high >= 2 ** 21 ? Infinity : high * 2 ** 32 + wordOf(packet, EXT.remoteAddress + 1)
}

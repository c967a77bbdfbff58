import { Opcode, type Packet, PSN_MASK, psnDistance } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { Ns3QueuePair } from "./Ns3QueuePair.ts"

/**
 * L2_BACK_TO_ZERO of the public HPCC simulator (RdmaHw::ReceiveAck, ReceiverCheckSeq): at a gap the receiver forgets what
 * it has of the chunk, and the sender takes only whole chunks for acknowledged. One message a connection, from PSN 0.
 */
export class BackToZeroQueuePair extends Ns3QueuePair {
  protected override handleData(now: Time, packet: Packet): void {
    const { config, expected } = this
    const ahead = psnDistance(packet.psn, expected & PSN_MASK)
    if (ahead <= 0) {
      // It remembers which packet it told of last (m_lastNACK): going back, it may come to wait for that one again.
      const { nakFor } = this
      super.handleData(now, packet)
      this.nakFor = nakFor
      return
    }
    if (now < this.nakTime && this.nakFor === expected) return
    this.nakTime = now + config.nakIntervalPs
    this.nakFor = expected
    this.expected -= expected % (config.ns3AckChunkBytes! / config.mtuBytes)
    this.receivedBytes = this.expected * config.mtuBytes
    this.reply(packet, Opcode.NakSequence, this.expected)
  }

  protected override acknowledged(now: Time, packet: Packet, count: number, isNak: boolean): void {
    const { config } = this
    const before = this.ackedBytes
    // What the reply says, which controllers go by, and how much of it counts.
    const sequence = count > this.una ? this.messages.bytesBefore(count) : this.sequenceOf(count)
    const chunkBytes = config.ns3AckChunkBytes!
    // A message of zero bytes has no chunk to fill.
    const counted = sequence % chunkBytes === 0 ? count : (sequence - (sequence % chunkBytes)) / config.mtuBytes
    if (counted > this.una) this.advance(now, counted)
    if (isNak) this.goBack()
    this.runController(now, packet, sequence, before)
    if (isNak && this.controller.onLoss(now, false)) this.tookAction(now)
  }
}

import { shown, type Time } from "@rdmakit/protocol"

/** A NIC sent what is no packet of its network: its transport had said how large its packets are. */
export class PacketFault extends Error {
  readonly _tag = "PacketFault"
  override readonly name = "PacketFault"
  /** The host that sent it. */
  readonly node: number
  /** When, ps. */
  readonly time: Time

  /** @param wireBytes its size, or undefined: there is no packet of that handle @param most the largest of the network */
  constructor(handle: unknown, wireBytes: number | undefined, most: number, node: number, time: Time) {
    const found = wireBytes === undefined ? `handle ${shown(handle)}, which is no packet's` : `${wireBytes} bytes`
    super(
      `NIC of host ${node}, at ${time / 1e6} us: it sent ${found}, expected a packet of 1 to ${most} bytes: the transport's mtuBytes and framing`,
    )
    this.node = node
    this.time = time
  }
}

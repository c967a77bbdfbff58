import type { Controller, PathInfo } from "./Controller.ts"
import type { QueuePair } from "./Engine.ts"
import type { Time } from "./Time.ts"

/**
 * What the headers of a run cost, bytes. A frame's wire size decides its serialization time and what it takes of a
 * switch's buffer; preamble and inter-packet gap count only where a framing says so.
 */
export interface Framing {
  readonly name: string
  /** Every data packet, beside its payload. */
  readonly dataBytes: number
  /** Room for telemetry in every data packet. */
  readonly telemetryBytes: number
  /** Least size of a data packet; a smaller one is padded to it. 0: none is. */
  readonly leastBytes: number
  /** An acknowledgement or NAK, telemetry included. */
  readonly ackBytes: number
  readonly cnpBytes: number
  readonly pfcBytes: number
}

/** Identity of one end of a flow. */
export interface FlowAddress {
  /** This end's node and the other end's, 0 to 65,535. */
  readonly node: number
  readonly peer: number
  /** This end's and the other end's UDP port, 0 to 65,535. */
  readonly udpPort: number
  readonly peerUdpPort: number
  /** Traffic class of its packets, 0 to 7. */
  readonly priority: number
  /** Value of `Packet.flow` for what this end sends. */
  readonly flow: number
  /** What the controller is made from; undefined at an end that only responds. */
  readonly path: PathInfo | undefined
}

/** Work for the sending end of a flow. */
export interface FlowCommand {
  /** A message of this many bytes, a whole number, for the peer's memory. 0 takes one packet. */
  readonly writeBytes: number
  /** Comes back in the event. */
  readonly message: number
}

/** What the sending end is told when a message ends, each once. */
export interface FlowEvent {
  /**
   * "completed": every byte was acknowledged. "failed": retries exceeded; the connection has ended. "flushed": the
   * connection had failed before this message's turn.
   */
  readonly type: "completed" | "failed" | "flushed"
  /** ps */
  readonly time: Time
  readonly message: number
  /** Bytes of the message that were acknowledged. */
  readonly bytes: number
}

/** One end of a flow, as a world holds it. */
export interface FlowEngine extends QueuePair<FlowCommand, FlowEvent> {
  /** What the packets it sends carry. */
  readonly flow: number
  readonly controller: Controller
  /** Times the controller set its rate or window. */
  readonly controllerActions: number
  /** Packets sent again. */
  readonly retransmissions: number
  /** Bytes of this end's messages that the peer has acknowledged. */
  readonly bytesAcknowledged: number
  /** What it waits for, or had waited for when it failed, in words: "PSN 12". */
  readonly waitingFor: string
  /** Why it failed, in words: what follows "no acknowledgement of packet 12". */
  readonly failure: string
  /** The world's: the port it sends through. */
  port: number
  /** The NIC's: its place in a list; -1 at first. */
  place: number
  /** The controller set the rate since a NIC last cleared this. */
  rateChanged: boolean
}

/** What the packets of a transport of flows are as octets, for whoever writes them. */
export type FlowOctets =
  /** Packets of RoCEv2, by their opcodes. */
  | { readonly protocol: "roce" }
  /** Segments of TCP with time stamps (RFC 7323): a packet's PSN is its segment's number, from 0 on. */
  | {
      readonly protocol: "tcp"
      /** Each segment of data is one FPDU of iWARP with a tagged header (RFC 5044 §5), its CRC filled in or 0. Default: none is. */
      readonly fpdu?: "crc" | "noCrc"
      /** Frames go in a tunnel of VXLAN, from host to host; a packet's ports are those of the tunnel. Default: they do not. */
      readonly tunnel?: "vxlan"
    }

/** A transport that carries flows: each a message from one node to another. */
export interface FlowTransport {
  readonly name: string
  /** Payload of a full packet. */
  readonly mtuBytes: number
  readonly framing: Framing
  /** Its packets carry telemetry for switches to fill. */
  readonly telemetry: boolean
  /** What its packets are as octets. Undefined: they have none, and cannot be written. */
  readonly octets?: FlowOctets | undefined
  /**
   * Its ends are local: what one does depends on nothing but what has come to it, and on nothing that ends at other hosts
   * do or keep. So a kernel may run the events of one host before earlier ones of another, as long as no packet could have
   * told of those; without it events come in the order of time. It asks for whole picoseconds only.
   */
  readonly local?: boolean | undefined
  /** For one world: makes the ends of its flows. @param hops switches on the longest path */
  open(hops: number): (now: Time, address: FlowAddress) => FlowEngine
}

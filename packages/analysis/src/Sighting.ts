import type { CaptureInterface } from "@rdmakit/pcap"
import type { LinkType, Node } from "@rdmakit/wire/decode"
import type { IcrcPlace } from "@rdmakit/wire/roce"
import type { Operation } from "./Operations.ts"

/** What a frame is, as far as analysis goes. */
export type SightingKind = "roce" | "tcp" | "pause" | "other"

/**
 * One packet as it was seen: the fields that conversations are followed by. One object is filled again for each packet,
 * so that a long capture makes no garbage; copy what is kept. A number that the packet does not have is -1.
 */
export class Sighting {
  /** Position in the capture, from 1. */
  frame = 0
  /** Nanoseconds since the first packet; NaN without a time. */
  timeNs = Number.NaN
  /** Octets on the wire. */
  wireBytes = 0
  isTruncated = false
  kind: SightingKind = "other"
  data: Uint8Array = new Uint8Array(0)
  /** Where it was taken. */
  interface: CaptureInterface | undefined
  link: LinkType = "ethernet"
  /** The nodes, for frames that were not taken on the short way. */
  nodes: ReadonlyArray<Node> | undefined
  /** Inside VXLAN, GRE, ERSPAN or IP in IP. */
  isTunnelled = false
  /** Numbers of the innermost addresses. */
  source = -1
  destination = -1
  trafficClass = -1
  /** IPv4 identification. */
  ipId = -1
  hopLimit = -1
  sourcePort = -1
  destinationPort = -1

  /** Where the ICRC is; undefined where no rule says what it covers, or there is none. */
  place: IcrcPlace | undefined
  /** Undefined for an opcode that is not known, or one that the capture cut off. */
  operation: Operation | undefined
  opcode = -1
  destinationQp = -1
  psn = -1
  isAckRequest = false
  isFecn = false
  isBecn = false
  padBytes = 0
  /** Octets of the message in this packet, on the wire. */
  payloadBytes = 0
  /** The ICRC as it is in the packet. */
  icrc = -1
  sourceQp = -1
  syndrome = -1
  msn = -1
  /** Octets that RETH announces. */
  dmaBytes = -1
  remoteKey = -1
  immediate = -1

  /** Octets of TCP's payload in `data`; the end is that on the wire and may lie past what was captured. */
  tcpStart = 0
  tcpEnd = 0
  tcpSequence = 0
  tcpFlags = 0

  /** Everything as it is for a frame of which nothing is known. */
  clear(): void {
    this.kind = "other"
    this.nodes = undefined
    this.isTunnelled = false
    this.source = -1
    this.destination = -1
    this.trafficClass = -1
    this.ipId = -1
    this.hopLimit = -1
    this.sourcePort = -1
    this.destinationPort = -1
    this.place = undefined
    this.operation = undefined
    this.opcode = -1
    this.destinationQp = -1
    this.psn = -1
    this.isAckRequest = false
    this.isFecn = false
    this.isBecn = false
    this.padBytes = 0
    this.payloadBytes = 0
    this.icrc = -1
    this.sourceQp = -1
    this.syndrome = -1
    this.msn = -1
    this.dmaBytes = -1
    this.remoteKey = -1
    this.immediate = -1
  }
}

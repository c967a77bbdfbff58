import type { Arp } from "../Arp.ts"
import type { CmMessage } from "../Cm.ts"
import type { Ethernet } from "../Ethernet.ts"
import type { Erspan, Gre } from "../Gre.ts"
import type { IcmpEcho } from "../Icmp.ts"
import type { Bth, ExtendedHeaders, Grh, Lrh } from "../Infiniband.ts"
import type { Ipv4 } from "../Ipv4.ts"
import type { Ipv6, Ipv6Extension } from "../Ipv6.ts"
import type { Erf, LinuxCooked, LinuxCooked2 } from "../Link.ts"
import type { Lldp } from "../Lldp.ts"
import type { Mad } from "../Mad.ts"
import type { Pfc } from "../Pfc.ts"
import type { WireError } from "../Result.ts"
import type { CrcVerdict, IcrcPlace } from "../roce/Icrc.ts"
import type { Tcp } from "../Tcp.ts"
import type { Udp } from "../Udp.ts"
import type { Vxlan } from "../Vxlan.ts"

/** The representation of each header that a frame is taken apart into. */
export interface Headers extends ExtendedHeaders {
  readonly erf: Erf
  readonly linuxCooked: LinuxCooked
  readonly linuxCooked2: LinuxCooked2
  readonly ethernet: Ethernet
  readonly arp: Arp
  readonly pfc: Pfc
  readonly lldp: Lldp
  readonly ipv4: Ipv4
  readonly ipv6: Ipv6
  readonly ipv6Extension: Ipv6Extension
  readonly udp: Udp
  readonly tcp: Tcp
  readonly icmpEcho: IcmpEcho
  readonly vxlan: Vxlan
  readonly gre: Gre
  readonly erspan: Erspan
  readonly lrh: Lrh
  readonly grh: Grh
  readonly bth: Bth
  readonly mad: Mad
  readonly cm: CmMessage
}

/** Where a node is; `end` is never past the captured octets. */
interface Place {
  readonly start: number
  readonly end: number
}

export interface HeaderNode<F extends keyof Headers> extends Place {
  readonly format: F
  readonly value: Headers[F]
  readonly faults: ReadonlyArray<WireError>
}

/** What a header carries and no module reads: a message's octets, a stream's, part of a packet. */
export interface PayloadNode extends Place {
  readonly format: "payload"
  readonly of:
    | "llc"
    | "etherType"
    | "fragment"
    | "ipProtocol"
    | "udp"
    | "tcp"
    | "icmpEcho"
    | "transport"
    | "lrh"
    | "grh"
    | "mad"
}

/** What fills up a frame, or the last word of a transport's payload. */
export interface PaddingNode extends Place {
  readonly format: "padding"
  readonly of: "frame" | "transport"
}

/** What is not legal, unchanged: the error says why. */
export interface RawNode extends Place {
  readonly format: "raw"
  readonly error: WireError
}

export interface IcrcNode extends Place {
  readonly format: "icrc"
  /** Undefined when its octets are not all there. */
  readonly value: number | undefined
  /** `unknown` behind IPv6 extension headers, where no rule says what is covered. */
  readonly verdict: CrcVerdict | "unknown"
  readonly covers: IcrcPlace | undefined
}

/** The CRC of a native packet's link, or of an Ethernet frame (FCS) when the capture has it. */
export interface LinkCrcNode<F extends "vcrc" | "fcs"> extends Place {
  readonly format: F
  readonly value: number | undefined
  readonly verdict: CrcVerdict
}

export type AnyHeaderNode = { readonly [F in keyof Headers]: HeaderNode<F> }[keyof Headers]

/** One part of a frame. */
export type Node =
  | AnyHeaderNode
  | PayloadNode
  | PaddingNode
  | RawNode
  | IcrcNode
  | LinkCrcNode<"vcrc">
  | LinkCrcNode<"fcs">

/** The node of a format. */
export type NodeOf<F extends Node["format"]> = Extract<Node, { readonly format: F }>

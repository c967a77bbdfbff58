import type { MpaEnhanced } from "@rdmakit/wire/mpa"

/** What a side of an iWARP connection asks for (RFC 5044 §7.1.1, RFC 6581 §9). */
export interface IwarpParameters {
  readonly dialect: "iwarp"
  /** It wants markers in what it receives. */
  readonly markers: boolean
  /** It wants CRCs; they are used when either side does. */
  readonly crc: boolean
  /** Revision 2 with READs and the ready-to-receive agreed on; undefined: revision 1. */
  readonly enhanced: MpaEnhanced | undefined
}

/** What a side of an eRDMA connection asks for (Linux, erdma_cm.h). */
export interface ErdmaParameters {
  readonly dialect: "erdma"
  /** Tells apart connections between the same addresses, 32 bits. */
  readonly cookie: number
  /** Number of the congestion control, 0 to 15. */
  readonly congestionControl: number
}

export type MpaParameters = IwarpParameters | ErdmaParameters

/** What two sides have agreed on: how the stream is framed from here on, and what goes through it. */
export interface MpaAgreement {
  /** Markers are put into what is sent, because the peer wants them; and are in what comes. */
  readonly markersSent: boolean
  readonly markersReceived: boolean
  readonly crc: boolean
  /** READs of the peer that may be outstanding here, and of this side there; undefined: not agreed on. */
  readonly inboundReads: number | undefined
  readonly outboundReads: number | undefined
  /** What the initiator sends first, of no octets, before the responder may send; undefined: nothing, it has the first word. */
  readonly ready: "send" | "write" | "read" | undefined
  /** eRDMA alone: the congestion control of the connection, and the peer's cookie. */
  readonly congestionControl: number | undefined
  readonly peerCookie: number | undefined
}

/** Why there is no connection. */
export type MpaReason =
  /** What came is no opening frame. */
  | "format"
  /** It is of a revision that this side has not. */
  | "revision"
  /** It asks for what this side has not: markers or CRCs of eRDMA, a kind of ready-to-receive. */
  | "unsupported"
  /** Octets came behind a request before it was answered. */
  | "early-data"
  /** The responder would have more READs outstanding than this side has room for. */
  | "reads"
  | "timeout"
  | "closed"

export type MpaEvent =
  /** At the responder: accept it, or reject it. */
  | { readonly type: "request"; readonly peer: MpaParameters; readonly privateData: Uint8Array }
  /** The stream carries FPDUs from here on; `rest` came of them already. */
  | {
      readonly type: "established"
      readonly agreement: MpaAgreement
      readonly privateData: Uint8Array
      readonly rest: Uint8Array
    }
  /** The peer has refused. */
  | { readonly type: "rejected"; readonly privateData: Uint8Array }
  | { readonly type: "failed"; readonly reason: MpaReason; readonly message: string }

/** READs that are left to the consumer (RFC 6581 §9). */
const LEFT_OPEN = 0x3fff
/** What two eRDMA ends use that ask for different ones: CUBIC (erdma_cm.c: COMPROMISE_CC). */
const COMPROMISE = 1

const fewer = (ours: number, theirs: number): number => (theirs === LEFT_OPEN ? ours : Math.min(ours, theirs))

/** The kinds of ready-to-receive that both have, the first of which is taken: a WRITE costs the peer nothing. */
const readyOf = (ours: MpaEnhanced, theirs: MpaEnhanced): MpaAgreement["ready"] => {
  if (ours.readyByWrite && theirs.readyByWrite) return "write"
  if (ours.readyBySend && theirs.readyBySend) return "send"
  return ours.readyByRead && theirs.readyByRead ? "read" : undefined
}

/** What comes of what the two sides ask for. @returns a reason when they cannot agree */
export const agree = (
  role: "initiator" | "responder",
  ours: MpaParameters,
  theirs: MpaParameters,
): MpaAgreement | MpaReason => {
  if (ours.dialect === "erdma" || theirs.dialect === "erdma") {
    if (ours.dialect !== "erdma" || theirs.dialect !== "erdma") return "revision"
    const same = ours.congestionControl === theirs.congestionControl
    return { ...NOTHING, congestionControl: same ? ours.congestionControl : COMPROMISE, peerCookie: theirs.cookie }
  }
  const streams = {
    ...NOTHING,
    markersSent: theirs.markers,
    markersReceived: ours.markers,
    crc: ours.crc || theirs.crc,
  }
  if (ours.enhanced === undefined && theirs.enhanced === undefined) return streams
  if (ours.enhanced === undefined || theirs.enhanced === undefined) return "revision"
  const { enhanced: mine } = ours
  const { enhanced: other } = theirs
  // RFC 6581 §9.1: the responder has lowered what it starts to what the initiator holds.
  if (role === "initiator" && other.outboundReads !== LEFT_OPEN && other.outboundReads > mine.inboundReads)
    return "reads"
  const ready = mine.peerToPeer && other.peerToPeer ? readyOf(mine, other) : undefined
  if (mine.peerToPeer && other.peerToPeer && ready === undefined) return "unsupported"
  return {
    ...streams,
    inboundReads: fewer(mine.inboundReads, other.outboundReads),
    outboundReads: fewer(mine.outboundReads, other.inboundReads),
    ready,
  }
}

const NOTHING: MpaAgreement = {
  markersSent: false,
  markersReceived: false,
  crc: false,
  inboundReads: undefined,
  outboundReads: undefined,
  ready: undefined,
  congestionControl: undefined,
  peerCookie: undefined,
}

/** What a responder says back: what it asks for, narrowed to what was agreed on. */
export const answerOf = (
  ours: MpaParameters,
  { congestionControl, outboundReads, ready }: MpaAgreement,
): MpaParameters => {
  if (ours.dialect === "erdma") return { ...ours, congestionControl: congestionControl! }
  if (ours.enhanced === undefined) return ours
  const enhanced = {
    inboundReads: ours.enhanced.inboundReads,
    outboundReads: outboundReads!,
    peerToPeer: ready !== undefined,
    readyBySend: ready === "send",
    readyByWrite: ready === "write",
    readyByRead: ready === "read",
  }
  return { ...ours, enhanced }
}

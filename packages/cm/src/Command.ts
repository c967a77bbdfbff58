import type { IpCm } from "@rdmakit/wire/cm"
import type { CmRoute } from "./Route.ts"

/** Who asks for a connection. */
export interface CmConnect {
  readonly type: "connect"
  /** 64 bits; `serviceIdOf` of `@rdmakit/wire/cm` makes those of IP ports. */
  readonly serviceId: bigint
  readonly route: CmRoute
  readonly transport: "rc" | "uc"
  readonly qpn: number
  /** The PSN that the peer is to begin with, 24 bits. */
  readonly psn: number
  /** RDMA READs and atomics this side serves at once, and has outstanding at once; 0 to 255. */
  readonly responderResources: number
  readonly initiatorDepth: number
  /** 0 to 7; 7 RNR retries are without end. */
  readonly retries: number
  readonly rnrRetries: number
  readonly flowControl?: boolean
  readonly sharedReceive?: boolean
  /** Codes, 4.096 µs · 2^n: how long an answer may take, there and here. Default 20, 4.3 s, as Linux's rdma_cm. */
  readonly remoteResponseTimeout?: number
  readonly localResponseTimeout?: number
  /** How often each message is repeated, 0 to 15; default 15. */
  readonly cmRetries?: number
  /** Put in front of the private data, of which 56 octets are left; 92 without. */
  readonly ip?: IpCm
  readonly privateData?: Uint8Array
}

/** Accepts a request (REP). */
export interface CmAccept {
  readonly type: "accept"
  readonly id: number
  readonly qpn: number
  readonly psn: number
  readonly responderResources: number
  readonly initiatorDepth: number
  readonly rnrRetries: number
  readonly flowControl?: boolean
  readonly sharedReceive?: boolean
  /** 196 octets at most. */
  readonly privateData?: Uint8Array
}

/** Asks which datagram queue pair serves a service (SIDR_REQ). */
export interface CmResolve {
  readonly type: "resolve"
  readonly serviceId: bigint
  readonly route: CmRoute
  readonly responseTimeout?: number
  readonly cmRetries?: number
  /** Put in front of the private data, of which 180 octets are left; 216 without. */
  readonly ip?: IpCm
  readonly privateData?: Uint8Array
}

/** Answers who asked for a datagram queue pair (SIDR_REP). */
export interface CmAnswer {
  readonly type: "answer"
  readonly id: number
  /** `SidrStatus`. */
  readonly status: number
  readonly qpn?: number
  readonly queueKey?: number
  /** 136 octets at most. */
  readonly privateData?: Uint8Array
}

/** What a program asks of the machine. `id` is the one that an answer or an event told. */
export type CmCommand =
  /** Requests for this service become events. One listener a service. */
  | { readonly type: "listen"; readonly serviceId: bigint }
  | CmConnect
  /** The answer to a request takes longer (MRA). `serviceTimeout` is a code; 222 octets of private data at most. */
  | {
      readonly type: "delay"
      readonly id: number
      readonly serviceTimeout: number
      readonly privateData?: Uint8Array
    }
  | CmAccept
  /** The reply is accepted (RTU): the connection is established. 224 octets at most. */
  | { readonly type: "ready"; readonly id: number; readonly privateData?: Uint8Array }
  /** The peer's first packet came before its RTU (event COMM_EST of the queue pair). */
  | { readonly type: "established"; readonly id: number }
  /** Refuses a request or a reply (REJ). Default 28, the consumer's own. 72 octets of information, 148 of private data. */
  | {
      readonly type: "reject"
      readonly id: number
      readonly reason?: number
      readonly information?: Uint8Array
      readonly privateData?: Uint8Array
    }
  /** DREQ; the answer to one (DREP) when the peer was first. 220 octets at most. */
  | { readonly type: "disconnect"; readonly id: number; readonly privateData?: Uint8Array }
  | CmResolve
  | CmAnswer
  /** A request, or a resolve request, is not answered, so that the peer asks again: there is no room for it now. */
  | { readonly type: "ignore"; readonly id: number }
  /** The program is done with this id, in any state: the peer is told what it has to know, and no event follows. */
  | { readonly type: "close"; readonly id: number }

/** Why a command was not done; nothing changed. */
export interface CmRefusal {
  readonly ok: false
  readonly reason: "id" | "state" | "limit" | "value" | "service"
  /** For people: what, and what to do. */
  readonly message: string
}

/** `id` is the new one of `listen`, `connect` and `resolve`, else the one of the command. */
export type CmResult = { readonly ok: true; readonly id: number } | CmRefusal

export const refused = (reason: CmRefusal["reason"], message: string): CmRefusal => ({ ok: false, reason, message })

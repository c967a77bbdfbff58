import type { IpCm } from "@rdmakit/wire/cm"
import type { CmRoute } from "./Route.ts"

/** A peer asks for a connection: `accept`, `reject` or `delay` it. Depths are as this side sees them. */
export interface CmRequestEvent {
  readonly type: "request"
  readonly id: number
  /** The id of the listener. */
  readonly listener: number
  readonly serviceId: bigint
  readonly transport: "rc" | "uc"
  readonly route: CmRoute
  /** Of a service of the IP port space. */
  readonly ip: IpCm | undefined
  /** What follows the header of IP addressing: 56 octets, else 92. */
  readonly privateData: Uint8Array
  readonly remoteQpn: number
  /** READs and atomics that the peer wants served at once; and serves at once itself. */
  readonly responderResources: number
  readonly initiatorDepth: number
  readonly retries: number
  readonly rnrRetries: number
  readonly flowControl: boolean
  readonly sharedReceive: boolean
}

/** The peer accepts: bring the queue pair up with `settings`, then `ready` or `reject`. */
export interface CmReplyEvent {
  readonly type: "reply"
  readonly id: number
  readonly remoteQpn: number
  readonly responderResources: number
  readonly initiatorDepth: number
  readonly rnrRetries: number
  readonly flowControl: boolean
  readonly sharedReceive: boolean
  /** 196 octets. */
  readonly privateData: Uint8Array
}

export type CmEvent =
  | CmRequestEvent
  | CmReplyEvent
  /** RTU, or the command `established`; 224 octets, none in the latter case. */
  | { readonly type: "established"; readonly id: number; readonly privateData: Uint8Array }
  /** MRA: the peer asks for that much time. */
  | {
      readonly type: "delayed"
      readonly id: number
      readonly serviceTimeoutPs: number
      readonly privateData: Uint8Array
    }
  /** The id is gone, or waits out its time where packets may be on their way; then `timewaitEnded` follows. */
  | {
      readonly type: "rejected"
      readonly id: number
      /** `rejectReason` of `@rdmakit/wire/cm` names it. */
      readonly reason: number
      readonly information: Uint8Array
      /** 148 octets. */
      readonly privateData: Uint8Array
    }
  /** No answer to this message, repeated as often as agreed. After a request and a resolve request the id is gone. */
  | {
      readonly type: "unreachable"
      readonly id: number
      readonly message: "request" | "reply" | "disconnectRequest" | "resolveRequest"
    }
  /** The peer wants to end the connection: answer with `disconnect`. */
  | { readonly type: "disconnectRequested"; readonly id: number; readonly privateData: Uint8Array }
  /** The peer agreed to the end. */
  | { readonly type: "disconnected"; readonly id: number; readonly privateData: Uint8Array }
  /** No packet of the connection can be on its way: the queue pair may serve another. The id is gone. */
  | { readonly type: "timewaitEnded"; readonly id: number }
  /** A peer asks for a datagram queue pair: `answer` it. */
  | {
      readonly type: "resolveRequest"
      readonly id: number
      readonly listener: number
      readonly serviceId: bigint
      readonly route: CmRoute
      readonly ip: IpCm | undefined
      /** 180 octets, else 216. */
      readonly privateData: Uint8Array
    }
  /** The answer of the peer; the id is gone. */
  | {
      readonly type: "resolved"
      readonly id: number
      /** `SidrStatus`. */
      readonly status: number
      readonly qpn: number
      readonly queueKey: number
      readonly information: Uint8Array
      /** 136 octets. */
      readonly privateData: Uint8Array
    }

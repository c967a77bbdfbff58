/** Everything a connection request says of one path (IBTA 1.7 §12.6.5). */
export interface CmPath {
  readonly localLid: number
  readonly remoteLid: number
  /** 16 octets; an IPv4-mapped address on RoCE. */
  readonly localGid: Uint8Array
  readonly remoteGid: Uint8Array
  /** 20 bits. */
  readonly flowLabel: number
  /** Code of the rate, 6 bits (§15.2.5.16). */
  readonly rate: number
  readonly trafficClass: number
  readonly hopLimit: number
  readonly serviceLevel: number
  readonly subnetLocal: boolean
  /** 4.096 µs · 2^n, 0 to 31. */
  readonly ackTimeout: number
  /** Of the alternate path alone: suggested alternate paths are supported. */
  readonly suggestions: boolean
}

/** A connection is asked for. Counts of retries: 7 RNR retries are without end. */
export interface CmRequest {
  readonly kind: "request"
  readonly localId: number
  /** 64 bits; `serviceIdOf` makes those of IP ports. */
  readonly serviceId: bigint
  readonly caGuid: bigint
  readonly queueKey: number
  readonly qpn: number
  /** RDMA READs and atomics the sender serves at once. */
  readonly responderResources: number
  readonly localContext: number
  /** RDMA READs and atomics the sender has outstanding at once. */
  readonly initiatorDepth: number
  readonly remoteContext: number
  /** 4.096 µs · 2^n. */
  readonly remoteResponseTimeout: number
  /** 0 RC, 1 UC, 2 RD, 3 what `extendedTransport` says. */
  readonly transport: number
  readonly flowControl: boolean
  /** The first PSN of who receives this message: what the sender of it expects (IBTA 1.7 §12.7). */
  readonly psn: number
  readonly localResponseTimeout: number
  readonly retries: number
  readonly partition: number
  /** 1 to 5 are 256 to 4,096 octets. */
  readonly mtuCode: number
  readonly rdcExists: boolean
  readonly rnrRetries: number
  readonly cmRetries: number
  readonly sharedReceive: boolean
  /** 1 is XRC. */
  readonly extendedTransport: number
  readonly primary: CmPath
  readonly alternate: CmPath | undefined
  /** 92 octets. */
  readonly privateData: Uint8Array
}

/** The answer takes longer. */
export interface CmDelay {
  readonly kind: "messageReceipt"
  readonly localId: number
  readonly remoteId: number
  /** What was received: 0 a request, 1 a reply, 2 a path request. */
  readonly message: number
  /** 4.096 µs · 2^n. */
  readonly serviceTimeout: number
  /** 222 octets. */
  readonly privateData: Uint8Array
}

export interface CmReject {
  readonly kind: "reject"
  readonly localId: number
  readonly remoteId: number
  /** What is rejected: 0 a request, 1 a reply, 2 neither (a timeout, say). */
  readonly message: number
  /** How many octets of `information` count, 0 to 72. */
  readonly informationBytes: number
  /** `rejectReason` names it. */
  readonly reason: number
  /** 72 octets. */
  readonly information: Uint8Array
  /** 148 octets. */
  readonly privateData: Uint8Array
}

export interface CmReply {
  readonly kind: "reply"
  readonly localId: number
  readonly remoteId: number
  readonly queueKey: number
  readonly qpn: number
  readonly context: number
  readonly psn: number
  readonly responderResources: number
  readonly initiatorDepth: number
  /** 4.096 µs · 2^n. */
  readonly ackDelay: number
  /** 0 the alternate path is accepted, 1 not supported, 2 rejected. */
  readonly failover: number
  readonly flowControl: boolean
  readonly rnrRetries: number
  readonly sharedReceive: boolean
  readonly caGuid: bigint
  /** 196 octets. */
  readonly privateData: Uint8Array
}

export interface CmReady {
  readonly kind: "readyToUse"
  readonly localId: number
  readonly remoteId: number
  /** 224 octets. */
  readonly privateData: Uint8Array
}

export interface CmDisconnectRequest {
  readonly kind: "disconnectRequest"
  readonly localId: number
  readonly remoteId: number
  readonly qpn: number
  /** 220 octets. */
  readonly privateData: Uint8Array
}

export interface CmDisconnectReply {
  readonly kind: "disconnectReply"
  readonly localId: number
  readonly remoteId: number
  /** 224 octets. */
  readonly privateData: Uint8Array
}

/** Which datagram queue pair serves a service? */
export interface CmResolveRequest {
  readonly kind: "resolveRequest"
  readonly requestId: number
  readonly partition: number
  readonly serviceId: bigint
  /** 216 octets. */
  readonly privateData: Uint8Array
}

export interface CmResolveReply {
  readonly kind: "resolveReply"
  readonly requestId: number
  /** 0 is fine, 1 the service is not there, 2 rejected, 3 no queue pair, 4 redirected, 5 the version. */
  readonly status: number
  readonly informationBytes: number
  readonly qpn: number
  readonly serviceId: bigint
  readonly queueKey: number
  /** 72 octets. */
  readonly information: Uint8Array
  /** 136 octets. */
  readonly privateData: Uint8Array
}

/** A message of communication management (IBTA 1.7 §12.6 to §12.11). */
export type CmMessage =
  | CmRequest
  | CmDelay
  | CmReject
  | CmReply
  | CmReady
  | CmDisconnectRequest
  | CmDisconnectReply
  | CmResolveRequest
  | CmResolveReply

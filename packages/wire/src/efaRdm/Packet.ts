/** A range of remote memory (`efa_rma_iov`): 24 octets. */
export interface EfaRdmTarget {
  readonly address: bigint
  readonly bytes: bigint
  readonly key: bigint
}

/** The optional headers of a request (§3.1), in the order they lie in. */
export interface EfaRdmOptions {
  /** The sender's address, for peers that may not know it yet: {@link EfaRdmAddress}, and what lengthens it. */
  readonly rawAddress: Uint8Array | undefined
  /** Data for the completion at the receiver, 64 bits. */
  readonly cqData: bigint | undefined
  /** The sender's connection, 32 bits. */
  readonly connid: number | undefined
}

interface ReadBack {
  readonly messageBytes: bigint
  readonly sendId: number
  /** The sender's buffer, which the receiver reads. */
  readonly sources: ReadonlyArray<EfaRdmTarget>
}

interface Windowed {
  readonly messageBytes: bigint
  readonly sendId: number
  /** How many packets of data the sender would like to send. */
  readonly creditRequest: number
  /** It takes the place of a transfer by RDMA READ that the receiver refused (§4.7), and carries no data. */
  readonly afterNack: boolean
}

/** A transfer whose end is confirmed says under which number (§4.2). */
type Confirmed = { readonly deliveryComplete: false } | { readonly deliveryComplete: true; readonly sendId: number }

/** Request to message, RTM: MSGRTM without a tag, TAGRTM with one (§3.2, §4.1, §4.2, §4.5). */
export type EfaRdmMessage = EfaRdmOptions & {
  readonly kind: "message"
  /** The order of all messages and atomics from one endpoint to another, 32 bits, wraps to 0. */
  readonly messageId: number
  readonly tag: bigint | undefined
} & (
    | ({ readonly protocol: "eager" } & Confirmed)
    | ({ readonly protocol: "medium"; readonly messageBytes: bigint; readonly offset: bigint } & Confirmed)
    | ({ readonly protocol: "longCts"; readonly deliveryComplete: boolean } & Windowed)
    | ({ readonly protocol: "longRead"; readonly deliveryComplete: false } & ReadBack)
    | ({
        readonly protocol: "runtRead"
        readonly deliveryComplete: false
        /** Where in the message this packet's data is. */
        readonly offset: bigint
        /** How much of the message comes in such packets; the rest is read. */
        readonly runtBytes: bigint
      } & ReadBack)
  )

/** Request to write, RTW (§3.3, §4.1, §4.2). */
export type EfaRdmWrite = EfaRdmOptions & {
  readonly kind: "write"
  readonly targets: ReadonlyArray<EfaRdmTarget>
} & (
    | ({ readonly protocol: "eager" } & Confirmed)
    | ({ readonly protocol: "longCts"; readonly deliveryComplete: boolean } & Windowed)
    | ({ readonly protocol: "longRead"; readonly deliveryComplete: false } & ReadBack)
  )

/** Request to read, RTR (§3.3): the responder sends, the requester receives. */
export interface EfaRdmRead extends EfaRdmOptions {
  readonly kind: "read"
  readonly protocol: "short" | "longCts"
  readonly messageBytes: bigint
  readonly receiveId: number
  /** What the requester is ready to receive, bytes. Of a short one the document says padding; libfabric sets it too. */
  readonly windowBytes: number
  readonly targets: ReadonlyArray<EfaRdmTarget>
}

/** Request to atomic, RTA (§3.3): the operands are the payload, of `compare` the values to compare with behind them. */
export type EfaRdmAtomic = EfaRdmOptions & {
  readonly kind: "atomic"
  readonly messageId: number
  /** `enum fi_datatype`. */
  readonly datatype: number
  /** `enum fi_op`. */
  readonly operation: number
  readonly targets: ReadonlyArray<EfaRdmTarget>
} & (
    | ({ readonly protocol: "write" } & Confirmed)
    | { readonly protocol: "fetch" | "compare"; readonly deliveryComplete: false; readonly receiveId: number }
  )

interface Reply {
  readonly connid: number | undefined
}

/** Clear to send (table 3.6). */
export interface EfaRdmCts extends Reply {
  readonly kind: "cts"
  readonly sendId: number
  readonly receiveId: number
  /** What the receiver is ready to receive, bytes. */
  readonly windowBytes: bigint
  /** It belongs to an emulated READ. */
  readonly emulatedRead: boolean
}

/** Data that a CTS allowed (table 3.7). */
export interface EfaRdmCtsData extends Reply {
  readonly kind: "ctsData"
  readonly receiveId: number
  readonly segmentBytes: bigint
  readonly offset: bigint
}

/**
 * The first data of an emulated READ. The document (table 3.11) has `send_id` before `recv_id`; libfabric's header file
 * and all its releases have them as here.
 */
export interface EfaRdmReadResponse extends Reply {
  readonly kind: "readResponse"
  readonly receiveId: number
  readonly sendId: number
  readonly segmentBytes: bigint
}

/** End of read (table 4.2), and the refusal to read (§4.7). */
export interface EfaRdmReadEnd extends Reply {
  readonly kind: "endOfRead" | "readNack"
  readonly sendId: number
  readonly receiveId: number
}

/** What memory held before an atomic (table 3.15). */
export interface EfaRdmAtomicResponse extends Reply {
  readonly kind: "atomicResponse"
  readonly receiveId: number
  readonly segmentBytes: bigint
}

/** What an endpoint can do and asks for (table 2.2). */
export interface EfaRdmHandshake extends Reply {
  readonly kind: "handshake"
  /** Bit i % 64 of member i / 64 is the feature or request i; 1 to 256 members. */
  readonly extraInfo: ReadonlyArray<bigint>
  readonly hostId: bigint | undefined
  readonly deviceVersion: number | undefined
  /** The queue pair for receives without headers (§4.8), of older endpoints. */
  readonly userReceive: { readonly qpn: number; readonly queueKey: number } | undefined
}

/** The data is where the application wants it (§4.2). */
export interface EfaRdmReceipt extends Reply {
  readonly kind: "receipt"
  readonly sendId: number
  readonly messageId: number
}

/** A packet of libfabric's EFA RDM protocol, version 4. */
export type EfaRdm =
  | EfaRdmMessage
  | EfaRdmWrite
  | EfaRdmRead
  | EfaRdmAtomic
  | EfaRdmCts
  | EfaRdmCtsData
  | EfaRdmReadResponse
  | EfaRdmReadEnd
  | EfaRdmAtomicResponse
  | EfaRdmHandshake
  | EfaRdmReceipt

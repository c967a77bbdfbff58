/*
 * The numbers of the verbs, as libibverbs has them (rdma-core, verbs.h), for everybody who speaks of queue pairs: devices,
 * transports, programs.
 */

/** Services of queue pairs: IBTA 1.7 §9.4, and AWS's scalable reliable datagram, which EFA has as a type of its own. */
export type QpType = "rc" | "uc" | "ud" | "srd"

/** enum ibv_qp_state. */
export const QpState = { Reset: 0, Init: 1, Rtr: 2, Rts: 3, Sqd: 4, Sqe: 5, Err: 6 } as const
export type QpState = (typeof QpState)[keyof typeof QpState]

/** enum ibv_access_flags. */
export const Access = {
  LocalWrite: 1,
  RemoteWrite: 2,
  RemoteRead: 4,
  RemoteAtomic: 8,
  MwBind: 16,
  ZeroBased: 32,
} as const

/** enum ibv_wr_opcode. */
export const WrOpcode = {
  RdmaWrite: 0,
  RdmaWriteWithImm: 1,
  Send: 2,
  SendWithImm: 3,
  RdmaRead: 4,
  AtomicCmpAndSwp: 5,
  AtomicFetchAndAdd: 6,
  LocalInv: 7,
  BindMw: 8,
  SendWithInv: 9,
  AtomicWrite: 15,
} as const
export type WrOpcode = (typeof WrOpcode)[keyof typeof WrOpcode]

/** enum ibv_wc_status. */
export const WcStatus = {
  Success: 0,
  LocLenErr: 1,
  LocQpOpErr: 2,
  LocEecOpErr: 3,
  LocProtErr: 4,
  WrFlushErr: 5,
  MwBindErr: 6,
  BadRespErr: 7,
  LocAccessErr: 8,
  RemInvReqErr: 9,
  RemAccessErr: 10,
  RemOpErr: 11,
  RetryExcErr: 12,
  RnrRetryExcErr: 13,
  LocRddViolErr: 14,
  RemInvRdReqErr: 15,
  RemAbortErr: 16,
  InvEecnErr: 17,
  InvEecStateErr: 18,
  FatalErr: 19,
  RespTimeoutErr: 20,
  GeneralErr: 21,
  TmErr: 22,
  TmRndvIncomplete: 23,
} as const
export type WcStatus = (typeof WcStatus)[keyof typeof WcStatus]

/** enum ibv_wc_opcode. */
export const WcOpcode = {
  Send: 0,
  RdmaWrite: 1,
  RdmaRead: 2,
  CompSwap: 3,
  FetchAdd: 4,
  BindMw: 5,
  LocalInv: 6,
  AtomicWrite: 9,
  Recv: 128,
  RecvRdmaWithImm: 129,
} as const
export type WcOpcode = (typeof WcOpcode)[keyof typeof WcOpcode]

/** A stretch of registered memory (struct ibv_sge). */
export interface Sge {
  /** Virtual address, below 2^53. */
  readonly address: number
  /** Bytes, below 2^32. */
  readonly length: number
  readonly lkey: number
}

/** Where packets to a peer go, as a world has resolved an address vector. */
export interface PeerPath {
  /** The world's number of this node and of the peer, 0 to 65,535. */
  readonly node: number
  readonly peer: number
  /** What packets on this path carry as `flow`. */
  readonly flow: number
  /** UDP source port of RoCEv2, which spreads flows over equal paths. */
  readonly udpSourcePort: number
  /** IP traffic class, 8 bits, ECN code point included. */
  readonly trafficClass: number
  readonly hopLimit: number
  /** IPv6 flow label, 20 bits. */
  readonly flowLabel: number
  /** Priority in the network, 0 to 7 (service level). */
  readonly priority: number
  /** 16 octets each; IPv4 mapped (RFC 4291 §2.5.5.2). */
  readonly sourceGid: Uint8Array
  readonly destinationGid: Uint8Array
  /** Of the port, bit/s. */
  readonly lineRateBps: number
  /** What a congestion controller starts from, ps. */
  readonly baseRttPs: number
}

/** A send work request (struct ibv_send_wr). Which fields count depends on the opcode. */
export interface SendRequest {
  /** wr_id. */
  readonly id: number
  readonly opcode: WrOpcode
  readonly sges: ReadonlyArray<Sge>
  /** In place of `sges`: octets copied when the request is posted (IBV_SEND_INLINE). ATOMIC_WRITE takes its eight here. */
  readonly inline?: Uint8Array | undefined
  /** A completion is wanted also when it succeeds. */
  readonly signaled: boolean
  /** The peer's completion is an event for a queue armed for solicited ones. */
  readonly solicited?: boolean
  /** Waits until READs and atomics before it are done. */
  readonly fence?: boolean
  /** Of RDMA and atomics, 64 bits. */
  readonly remoteAddress?: number | bigint
  readonly remoteKey?: number
  /** 32 bits without sign, as a number: 0x89abcdef goes out as 89 ab cd ef. */
  readonly immediate?: number
  /** SEND_WITH_INV: the peer's key; LOCAL_INV: one's own. */
  readonly invalidateKey?: number
  /** Compare, or add. */
  readonly compareAdd?: bigint
  readonly swap?: bigint
  /** UD and SRD alone. */
  readonly datagram?: { readonly path: PeerPath; readonly qpn: number; readonly queueKey: number }
  /** BIND_MW alone: window of type 2. */
  readonly bind?: MwBind
}

/** What a memory window is bound to (struct ibv_mw_bind_info), and its new key. */
export interface MwBind {
  /** The window's key until now, and from now on: the upper 24 bits are the same. */
  readonly window: number
  readonly remoteKey: number
  /** lkey of the region. */
  readonly lkey: number
  readonly address: number
  readonly length: number
  /** `Access` bits, of the remote ones and ZeroBased. */
  readonly access: number
}

/** A receive work request. */
export interface ReceiveRequest {
  readonly id: number
  readonly sges: ReadonlyArray<Sge>
}

/** A work completion (struct ibv_wc). With another status than Success only id, status, qpn and vendorError mean anything. */
export interface Completion {
  readonly id: number
  readonly status: WcStatus
  readonly opcode: WcOpcode
  readonly byteLength: number
  /** 32 bits without sign; undefined without IBV_WC_WITH_IMM. */
  readonly immediate: number | undefined
  /** undefined without IBV_WC_WITH_INV. */
  readonly invalidatedKey: number | undefined
  readonly qpn: number
  /** UD and SRD alone. */
  readonly sourceQp: number
  /** SRD alone, where its device tells it: 16 octets, the GID of who sent it (efadv_wc_read_sgid). */
  readonly sourceGid?: Uint8Array | undefined
  /** SRD alone: a WRITE with immediate that took no receive, so that `id` means nothing (efadv_wc_is_unsolicited). */
  readonly unsolicited?: boolean
  /** IBV_WC_GRH: the first 40 octets of the receive are the network header. */
  readonly grh: boolean
  readonly vendorError: number
}

/** What `modify` sets, in the units of the wire (struct ibv_qp_attr): a device has checked it, and resolved its address. */
export interface QpSettings {
  readonly accessFlags: number
  readonly partition: number
  readonly queueKey: number
  readonly path: PeerPath | undefined
  /** 256 to 4,096. */
  readonly pathMtuBytes: number
  readonly destinationQp: number
  readonly receivePsn: number
  readonly sendPsn: number
  /** READs and atomics of the peer that may be outstanding here. */
  readonly responderResources: number
  /** READs and atomics of this side that may be outstanding there. */
  readonly initiatorDepth: number
  /** Codes of IBTA 1.7: RNR timer (table 45), 5 bits; local ACK timeout, 4.096 µs · 2^n, 0 is never. */
  readonly minRnrTimer: number
  readonly timeout: number
  /** 0 to 7; 7 RNR retries are without end. */
  readonly retryCount: number
  readonly rnrRetry: number
}

/** Asynchronous events of a queue pair (enum ibv_event_type). */
export type QpAsyncEvent =
  | "QP_FATAL"
  | "QP_REQ_ERR"
  | "QP_ACCESS_ERR"
  | "COMM_EST"
  | "SQ_DRAINED"
  | "PATH_MIG"
  | "QP_LAST_WQE_REACHED"

import type { AddressVector, QpState } from "@rdmakit/protocol"

/** enum ibv_qp_attr_mask. */
export const QpAttr = {
  State: 1 << 0,
  CurState: 1 << 1,
  EnSqdAsyncNotify: 1 << 2,
  AccessFlags: 1 << 3,
  PkeyIndex: 1 << 4,
  Port: 1 << 5,
  QueueKey: 1 << 6,
  Av: 1 << 7,
  PathMtu: 1 << 8,
  Timeout: 1 << 9,
  RetryCount: 1 << 10,
  RnrRetry: 1 << 11,
  RqPsn: 1 << 12,
  MaxQpRdAtomic: 1 << 13,
  AltPath: 1 << 14,
  MinRnrTimer: 1 << 15,
  SqPsn: 1 << 16,
  MaxDestRdAtomic: 1 << 17,
  PathMigState: 1 << 18,
  Cap: 1 << 19,
  DestQpn: 1 << 20,
} as const

/** How many work requests, and of what size, a queue pair takes (struct ibv_qp_cap). */
export interface QpCapabilities {
  readonly maxSendWr: number
  /** 0 with a shared receive queue. */
  readonly maxRecvWr: number
  readonly maxSendSge: number
  readonly maxRecvSge: number
  readonly maxInlineBytes: number
}

/** What `modify` sets (struct ibv_qp_attr): an attribute that is there counts as one in the mask. Codes are those of the wire. */
export interface QpAttributes {
  readonly state?: QpState | undefined
  /** What the program takes the state to be now. */
  readonly currentState?: QpState | undefined
  /** SQ_DRAINED is wanted. */
  readonly enableSqdNotify?: boolean | undefined
  /** What a peer may do: `Access` bits. */
  readonly accessFlags?: number | undefined
  /** 0, the only one. */
  readonly pkeyIndex?: number | undefined
  /** 1, the only one. */
  readonly port?: number | undefined
  /** 32 bits. */
  readonly queueKey?: number | undefined
  readonly address?: AddressVector | undefined
  /** 256, 512, 1,024, 2,048 or 4,096, up to the port's active MTU. */
  readonly pathMtuBytes?: number | undefined
  /** Local ACK timeout: 4.096 µs · 2^n, 0 to 31; 0 is never. */
  readonly timeout?: number | undefined
  /** 0 to 7. */
  readonly retryCount?: number | undefined
  /** 0 to 7; 7 is without end. */
  readonly rnrRetry?: number | undefined
  /** 24 bits; more are cut off, as Linux does. */
  readonly receivePsn?: number | undefined
  /** READs and atomics outstanding at the peer (max_rd_atomic). */
  readonly initiatorDepth?: number | undefined
  /** Refused: path migration does not exist on RoCE. */
  readonly alternatePath?: AddressVector | undefined
  /** Code of IBTA 1.7 table 45, 0 to 31. */
  readonly minRnrTimer?: number | undefined
  /** 24 bits; more are cut off, as Linux does. */
  readonly sendPsn?: number | undefined
  /** READs and atomics of the peer outstanding here (max_dest_rd_atomic). */
  readonly responderResources?: number | undefined
  readonly pathMigrationState?: "migrated" | "rearm" | "armed" | undefined
  /** No transition takes it: queues are not resized. */
  readonly capabilities?: QpCapabilities | undefined
  /** 24 bits. */
  readonly destinationQp?: number | undefined
}

/** The mask's bit of each attribute. */
export const qpAttrOf = {
  state: QpAttr.State,
  currentState: QpAttr.CurState,
  enableSqdNotify: QpAttr.EnSqdAsyncNotify,
  accessFlags: QpAttr.AccessFlags,
  pkeyIndex: QpAttr.PkeyIndex,
  port: QpAttr.Port,
  queueKey: QpAttr.QueueKey,
  address: QpAttr.Av,
  pathMtuBytes: QpAttr.PathMtu,
  timeout: QpAttr.Timeout,
  retryCount: QpAttr.RetryCount,
  rnrRetry: QpAttr.RnrRetry,
  receivePsn: QpAttr.RqPsn,
  initiatorDepth: QpAttr.MaxQpRdAtomic,
  alternatePath: QpAttr.AltPath,
  minRnrTimer: QpAttr.MinRnrTimer,
  sendPsn: QpAttr.SqPsn,
  responderResources: QpAttr.MaxDestRdAtomic,
  pathMigrationState: QpAttr.PathMigState,
  capabilities: QpAttr.Cap,
  destinationQp: QpAttr.DestQpn,
} as const satisfies Readonly<Record<keyof QpAttributes, number>>

const ATTRIBUTES = Object.entries(qpAttrOf) as ReadonlyArray<[keyof QpAttributes, number]>

/** Which attributes are there. */
export const qpAttrMask = (attributes: QpAttributes): number => {
  let mask = 0
  for (const [name, bit] of ATTRIBUTES) if (attributes[name] !== undefined) mask |= bit
  return mask
}

/** Names of the attributes in a mask. */
export const qpAttrNames = (mask: number): ReadonlyArray<keyof QpAttributes> =>
  ATTRIBUTES.filter(([, bit]) => (mask & bit) !== 0).map(([name]) => name)

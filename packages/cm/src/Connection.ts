import { NEVER } from "@rdmakit/protocol"
import type { Timed } from "./DeadlineHeap.ts"
import type { CmAddress, CmRoute } from "./Route.ts"

/** States of an id, those of IBTA 1.7 §12.9 under their own names. */
export type CmState =
  // The side that asks.
  | "requestSent"
  | "requestDelayReceived"
  | "replyReceived"
  | "replyDelaySent"
  // The side that is asked.
  | "requestReceived"
  | "requestDelaySent"
  | "replySent"
  | "replyDelayReceived"
  // Both.
  | "established"
  | "disconnectSent"
  | "disconnectReceived"
  | "timewait"
  // Resolution of services.
  | "resolveSent"
  | "resolveReceived"
  | "resolveAnswered"
  /** No longer in any table. */
  | "gone"

export const halfOpenStates: ReadonlySet<CmState> = new Set<CmState>([
  "requestReceived",
  "requestDelaySent",
  "replySent",
  "replyDelayReceived",
  "resolveReceived",
])

/** What is known of one id. */
export interface Connection extends Timed {
  readonly id: number
  state: CmState
  /** False once the program has closed it. */
  wanted: boolean
  /** The peer's id; 0 before it is known. */
  remoteId: number
  readonly serviceId: bigint
  /** What messages of the exchange under way share. */
  transactionId: bigint
  readonly address: CmAddress
  readonly route: CmRoute
  readonly transport: "rc" | "uc"
  /** How long an answer may take, ps; each wait. */
  waitPs: number
  readonly cmRetries: number
  retriesLeft: number
  /** What is sent again when nothing comes, or when the peer repeats itself. */
  message: Uint8Array | undefined
  localQpn: number
  remoteQpn: number
  receivePsn: number
  sendPsn: number
  responderResources: number
  initiatorDepth: number
  retries: number
  rnrRetries: number
  /** Code. */
  ackTimeout: number
  /** The peer asked for an alternate path, which is not supported. */
  readonly alternate: boolean
  /** Keys in the tables of the peer's ids and queue pairs. */
  idKey: string
  qpKey: string
}

export type ConnectionStart = Pick<
  Connection,
  "state" | "remoteId" | "serviceId" | "transactionId" | "address" | "route" | "transport" | "waitPs" | "cmRetries"
> &
  Partial<Connection>

export const makeConnection = (id: number, start: ConnectionStart): Connection => ({
  id,
  deadline: NEVER,
  order: 0,
  place: -1,
  wanted: true,
  retriesLeft: start.cmRetries,
  message: undefined,
  localQpn: 0,
  remoteQpn: 0,
  receivePsn: 0,
  sendPsn: 0,
  responderResources: 0,
  initiatorDepth: 0,
  retries: 0,
  rnrRetries: 0,
  ackTimeout: 0,
  alternate: false,
  idKey: "",
  qpKey: "",
  ...start,
})

/** An id of a peer, or its queue pair, among all peers. */
export const peerKey = (caGuid: bigint, number: number): string => `${caGuid.toString(16)}:${number}`

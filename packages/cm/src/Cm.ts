import { NEVER, type QpSettings, type Time } from "@rdmakit/protocol"
import type { CmCommand, CmResult } from "./Command.ts"
import { refused } from "./Command.ts"
import type { CmEvent } from "./Event.ts"
import type { CmAddress, CmRoute } from "./Route.ts"

export interface CmOptions {
  /** GUID of the channel adapter, 64 bits: peers know connections by it and their ids. */
  readonly caGuid: bigint
  /** Ids start from it. A new one for every life of the process, or peers take new requests for old ones. */
  readonly seed: number
  /** Code, 4.096 µs · 2^n: how long this adapter takes to acknowledge. Default 15, as rdma_rxe. */
  readonly localAckDelay?: number
  readonly limits?: Partial<CmLimits>
}

/** What peers and programs can make the machine hold. */
export interface CmLimits {
  /** Ids of all kinds but listeners. Default 65,536. */
  readonly connections: number
  /** Requests of peers that are not yet connections: more are not answered, so that peers try again. Default 1,024. */
  readonly halfOpen: number
  /** Default 1,024. */
  readonly listeners: number
  /** Connections that wait out their time; the oldest go first. Default 16,384. */
  readonly timewait: number
  /** Datagrams and events that nobody has polled; more are dropped. Default 4,096 each. */
  readonly queued: number
  /** Largest code a peer may make this side wait by, 4.096 µs · 2^n. Default 24, 69 s. */
  readonly timeoutCode: number
}

/** What the queue pair of a connection is brought up with, in the units of the wire. */
export type CmSettings = Pick<
  QpSettings,
  | "partition"
  | "pathMtuBytes"
  | "destinationQp"
  | "receivePsn"
  | "sendPsn"
  | "responderResources"
  | "initiatorDepth"
  | "minRnrTimer"
  | "timeout"
  | "retryCount"
  | "rnrRetry"
> & { readonly route: CmRoute }

export interface CmDatagram {
  readonly destination: CmAddress
  /** 256 of its own. */
  readonly octets: Uint8Array
}

/** The InfiniBand connection manager of one port, without IO (IBTA 1.7 chapter 12). */
export class Cm {
  readonly nextTimeout: Time = NEVER

  // biome-ignore lint/complexity/noUselessConstructor: the options are part of the interface
  constructor(_options: CmOptions) {}

  /** A datagram of queue pair 1 arrived; what is no message of communication management is counted and dropped. */
  handleMad(_now: Time, _octets: Uint8Array, _source: CmAddress): void {}

  /** `nextTimeout` was reached, or passed. */
  handleTimeout(_now: Time): void {}

  command(_now: Time, _command: CmCommand): CmResult {
    return refused("state", "not there yet")
  }

  pollTransmit(_now: Time): CmDatagram | undefined {
    return undefined
  }

  pollEvent(): CmEvent | undefined {
    return undefined
  }

  /** undefined before both sides have said what they need, and for ids that are gone. */
  settings(_id: number): CmSettings | undefined {
    return undefined
  }
}

import type { EfaRdm, EfaRdmOptions } from "@rdmakit/wire/efa-rdm"
import type { IdTable } from "./IdTable.ts"
import type { Incoming } from "./Incoming.ts"
import type { Outgoing } from "./Outgoing.ts"
import type { Peer } from "./Peer.ts"
import type { RdmCounters, RdmEvent } from "./RdmEvent.ts"
import type { RdmSettings } from "./RdmOptions.ts"
import type { Segments } from "./Segments.ts"
import type { Slot, Transmitter } from "./Transmitter.ts"

/** What the operations of one endpoint share. */
export interface Rdm {
  readonly settings: RdmSettings
  readonly transmitter: Transmitter
  /** What sends data, by `send_id`. */
  readonly outgoing: IdTable<Outgoing>
  /** What takes data in, by `recv_id`. */
  readonly incoming: IdTable<Incoming>
  readonly counters: RdmCounters
  readonly emit: (event: RdmEvent) => void
  /** The optional headers of a request to this peer now. */
  readonly optionsFor: (peer: Peer, cqData: bigint | undefined) => EfaRdmOptions
  /** The service has given a peer up: all that concerns it fails. */
  readonly lose: (peer: Peer) => void
  /** Writes a packet: its header, and as much data from `offset` on as fits and is wanted. Returns how much. */
  readonly write: (slot: Slot, peer: Peer, header: EfaRdm, data?: Segments, offset?: number, bytes?: number) => number
}

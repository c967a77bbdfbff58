import type { Route } from "@rdmakit/codec"
import type { Cable } from "@rdmakit/codec/cable"
import type { GidEntry, Time } from "@rdmakit/protocol"

/** What a packet that a link keeps is, until the link gives it back. */
export interface KeptPacket {
  /** Its handle in the world's pool. */
  readonly handle: number
  readonly octets: Uint8Array
  readonly start: number
  readonly end: number
}

/** One end of a path: the headers of its packets, and what its link knows of the peer. */
export interface LinkPath {
  readonly route: Route
  /** The link's own number of the neighbour that packets go to. */
  readonly neighbor: number
}

/** What a world's packets leave and arrive by: a UDP socket, or a network of Ethernet frames. */
export interface Link {
  readonly gids: ReadonlyArray<GidEntry>
  /** Largest path MTU, 256 to 4,096. */
  readonly pathMtuBytes: number
  /** Where packets pass, middlewares included. */
  readonly cable: Cable
  /** How packets to an address leave; undefined: nobody can be there. */
  path(source: GidEntry, destination: Uint8Array): LinkPath | undefined
  /** A path is held, once more: what is needed to use it is found out, where that takes time. */
  want(now: Time, path: LinkPath): void
  /** One that held a path does no more. */
  unwant(path: LinkPath): void
  /** A path that nothing holds will not be used again: what is kept for it is freed, and packets that wait are lost. */
  forget(path: LinkPath): void
  /** UDP source port of all packets, where a socket has but one; -1: each has its own. */
  readonly onlySourcePort: number
  /** UDP source port of a queue pair's packets. */
  sourcePort(qpn: number): number
  /**
   * Sends a packet whose octets lie in the pool. False: the link keeps it, and its octets, and gives it to `release` later.
   */
  send(now: Time, path: LinkPath, handle: number, octets: Uint8Array, start: number, end: number): boolean
  /** Takes packets of RoCEv2 that arrived; `start` is where the link's header, or IP, begins. */
  deliver: (now: Time, octets: Uint8Array, start: number, end: number) => void
  /** Takes what follows UDP's header of packets that arrived, where a link sees no more; `route` leads from the sender. */
  deliverDatagram: (now: Time, octets: Uint8Array, route: Route, sourcePort: number) => void
  /** Takes back packets that the link had kept. */
  release: (handle: number) => void
  /** The network takes nothing now: `unblock` is to be called from time to time, and nothing sent meanwhile. */
  readonly blocked: boolean
  unblock(): void
  /** Told when `nextTimer` has become earlier because of what arrived. */
  wake: () => void
  /** When `handleTimer` is wanted. */
  readonly nextTimer: Time
  handleTimer(now: Time): void
  joinGroup(gid: Uint8Array): void
  leaveGroup(gid: Uint8Array): void
  close(): void
}

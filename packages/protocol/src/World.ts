import type { Packet } from "@rdmakit/packet"
import type { QueuePair } from "./Engine.ts"
import type { Memory, MemoryUser } from "./Memory.ts"
import type { StreamHost } from "./Streams.ts"
import type { Time } from "./Time.ts"
import type {
  Completion,
  PeerPath,
  QpAsyncEvent,
  QpSettings,
  QpState,
  QpType,
  ReceiveRequest,
  SendRequest,
} from "./Verbs.ts"

/** What a device tells a queue pair's engine. It has checked all of it. */
export type VerbsCommand =
  | { readonly type: "send"; readonly request: SendRequest }
  /** Not of queue pairs with a shared receive queue. */
  | { readonly type: "receive"; readonly request: ReceiveRequest }
  /** From any state, as the table of states has it; settings that are left out stay as they are. */
  | { readonly type: "modify"; readonly state: QpState; readonly settings: Partial<QpSettings> }

/** What an engine tells its device. */
export type VerbsEvent =
  | {
      readonly type: "completion"
      readonly queue: "send" | "receive"
      /** Its packet asked for an event, or it failed. */
      readonly solicited: boolean
      readonly completion: Completion
    }
  /** @property qpn whom it is about, where one engine speaks for several queue pairs */
  | { readonly type: "async"; readonly event: QpAsyncEvent; readonly qpn?: number }
  /** Nobody answers at a peer's address, and the work for it has failed. */
  | { readonly type: "unresponsive"; readonly path: PeerPath }

/** One queue pair's transport. `state` is the truth: an error moves it. */
export interface VerbsEngine extends QueuePair<VerbsCommand, VerbsEvent> {
  readonly type: QpType
  readonly qpn: number
  readonly state: QpState
  /** Work requests posted that have not completed. */
  readonly sendOutstanding: number
  readonly receiveOutstanding: number
  /** What packets of this queue pair carry as `flow`; -1 before it has a path. */
  readonly flow: number
  /** The send queue is draining: it is in SQD with requests still under way. */
  readonly draining: boolean
  /**
   * Since when it does nothing but ask a peer without a receive again and again, for ever (RNR retry 7), at least twice;
   * undefined: it does something else.
   */
  readonly receiveAwaitedSince?: Time | undefined
  /**
   * The engine that has its packets, where all queue pairs of a device share one: worlds drive that one alone, and its
   * completions name their queue pairs. Default: it is its own.
   */
  readonly carrier?: VerbsEngine
  /** The ends of its connection have agreed on this congestion control, by its number; from RTR on it is used. */
  readonly agree?: (congestionControl: number) => void
}

/** Where an engine takes the receives of a shared queue from. */
export interface SharedReceives {
  /** The oldest receive, which is then the taker's; undefined: none. */
  take(): ReceiveRequest | undefined
}

/** What a device gives a transport to make a queue pair's engine. */
export interface VerbsEngineOptions {
  readonly type: QpType
  readonly qpn: number
  readonly user: MemoryUser
  readonly memory: Memory
  readonly sharedReceives: SharedReceives | undefined
  /** Most requests that may be posted and not completed. */
  readonly sendMax: number
  readonly receiveMax: number
  /** Every send completes with a completion (sq_sig_all). */
  readonly signalAll: boolean
}

/** A transport that serves verbs: it makes engines. */
export interface VerbsTransport {
  /** The types of queue pairs that it has. Default: rc, uc and ud. */
  readonly types?: ReadonlyArray<QpType>
  /** Those of them that take receives from a shared receive queue. Default: all. */
  readonly sharedReceives?: ReadonlyArray<QpType>
  /** Most that a packet has on the wire beside its payload, bytes, preamble and gap included. Default: what RoCEv2 has. */
  readonly headerBytes?: number
  /** SRD queue pairs may be told how often to try again where no receive is posted. Default true. */
  readonly rnrRetry?: boolean
  /** Congestion control that connections ask for, by number, where the two ends of one agree on it as eRDMA's do. */
  readonly congestionControl?: number
  readonly makeEngine: (now: Time, options: VerbsEngineOptions) => VerbsEngine
  /** What it is for one device, where that device's queue pairs share something. */
  readonly open?: (now: Time, host: CarrierHost) => DeviceTransport
}

/** What a device lends to the engine that its queue pairs share. */
export interface CarrierHost {
  /** Largest payload of a packet through the device's port. */
  readonly mtuBytes: number
  /** The way back to whoever sent a packet, until `forgetPeer` is told of it; undefined: there is none. */
  pathTo(packet: Packet): PeerPath | undefined
  /** One of the device's address handles is for this node. */
  knows(peer: number): boolean
}

/** A transport of one device, whose queue pairs share an engine. */
export interface DeviceTransport extends VerbsTransport {
  /** Takes the packets of all queue pairs that name it as theirs, and those that no queue pair is for. */
  readonly carrier: VerbsEngine
  /** What the device has counted, by the names that its driver gives. */
  readonly counters: Readonly<Record<string, number>>
  /** An address handle is gone, and this was its path: work that waits for the peer ends. */
  forget(now: Time, path: PeerPath): void
  /** A peer's number is another's from now on: what is kept of it ends. */
  forgetPeer(now: Time, peer: number): void
}

/** What a device does for a world that carries its packets. */
export interface Adapter {
  /** The engine that an arriving packet is for, by its destination queue pair; undefined: it is dropped, and counted. */
  engineFor(packet: Packet): VerbsEngine | undefined
  /** Queue pairs of a multicast group that the packet is to be copied to; empty when it is none of the device's. */
  groupFor(packet: Packet): ReadonlyArray<VerbsEngine>
  /** Nothing holds a path to this peer, and its number is another's from now on. */
  forgetPeer(now: Time, peer: number): void
  /** An engine had an event. */
  handleEvent(now: Time, engine: VerbsEngine, event: VerbsEvent): void
}

/** One address of a port (struct ibv_gid_entry). */
export interface GidEntry {
  readonly index: number
  /** 16 octets. */
  readonly gid: Uint8Array
  readonly type: "rocev1" | "rocev2"
}

/** An address vector before it is resolved (struct ibv_ah_attr). */
export interface AddressVector {
  readonly port: number
  readonly sourceGidIndex: number
  readonly destinationGid: Uint8Array
  readonly trafficClass: number
  readonly hopLimit: number
  readonly flowLabel: number
  readonly serviceLevel: number
}

/** What surrounds one device: a simulated fabric's host, or a socket. It owns time, the pool and the order of sending. */
export interface World {
  readonly now: Time
  /** Addresses of the device's port, by index. */
  readonly gids: ReadonlyArray<GidEntry>
  /** Of the port. */
  readonly link: {
    readonly lineRateBps: number
    /** Largest path MTU, 256 to 4,096. */
    readonly mtuBytes: number
    readonly up: boolean
  }
  /** How peers are connected where queue pairs need a stream each. Default: by datagrams of queue pair 1. */
  readonly streams?: StreamHost
  /** The device, once it is made: whom packets and events are for. */
  attach(adapter: Adapter): void
  /** A path to an address. undefined: nobody can be there. @param qpn the queue pair it is for, which spreads flows */
  resolve(vector: AddressVector, qpn: number): PeerPath | undefined
  /**
   * A path that `resolve` gave, once for each time, is needed no more. A world may then give the peer's number to another,
   * and tells the adapter; default: numbers are for good.
   */
  release?(path: PeerPath): void
  /** Something was posted, or changed: the world drains transmit, timeout and events, soon but not within this call. */
  kick(engine: VerbsEngine): void
  /** The engine is gone: no packet, timer or turn is for it any more. */
  detach(engine: VerbsEngine): void
  /** The port joins or leaves a multicast group. */
  joinGroup(gid: Uint8Array): void
  leaveGroup(gid: Uint8Array): void
}

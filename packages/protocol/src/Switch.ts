import type { Packet, PacketPool } from "@rdmakit/packet"
import type { Time } from "./Time.ts"

/** Why a switch let a packet go. Negative, as `route` and `admit` return them. */
export const Drop = {
  /** No next hop leads to the destination. */
  NoRoute: -1,
  /** Shared buffer and headroom of the ingress are full. */
  IngressFull: -2,
  /** The egress queue is over its threshold. */
  EgressFull: -3,
  /** The packet passed more switches than a path may have. */
  HopLimit: -4,
  /** A PFC watchdog drops what its queue holds and what comes for it. */
  Watchdog: -5,
} as const
export type Drop = (typeof Drop)[keyof typeof Drop]

/** Names of the drop reasons, as reports spell them. */
export const dropNames: Readonly<Record<number, string>> = {
  [Drop.NoRoute]: "no-route",
  [Drop.IngressFull]: "ingress-full",
  [Drop.EgressFull]: "egress-full",
  [Drop.HopLimit]: "hop-limit",
  [Drop.Watchdog]: "pfc-watchdog",
}

/** Words that a policy has for each port. */
export const POLICY_WORDS = 32

/**
 * What a switch leaves to the kernel: for most packets there is nothing to decide, and nothing to do but to count. The
 * policy words of an ingress tell of what it holds; `SwitchPorts.leave` tells of an egress. All are -1 at first, and a
 * switch that leaves them so is asked for each packet.
 *
 * A packet is not asked about when it arrives if the ingress holds at most `Limit` bytes of its priority with it (any
 * amount of priority 0, if `Limit` is not negative), nor when it leaves if what the ingress held before was at most
 * `Limit` and what stays behind in its queue is no more than its egress marks. The kernel then does what the switch
 * would: it counts the bytes held, and stamps.
 */
export const Shortcut = {
  /** Bytes the ingress may hold of a priority while neither drop nor pause nor resume can be due; -1: always ask. */
  Limit: 0,
  /** Words 1 to 7: the bytes it holds, by priority. */
  Held: 0,
} as const

/** What a kernel lends to a switch: the ports are the kernel's. Ports are numbered across the whole network. */
export interface SwitchPorts {
  readonly pool: PacketPool
  /** Bytes waiting at an egress port, all queues together. */
  queueBytes(port: number): number
  /** Bytes waiting in one queue of an egress port. */
  queueBytesOf(port: number, queue: number): number
  /** Bytes a port has sent. */
  sentBytes(port: number): number
  /**
   * Words a policy may keep its state in: `POLICY_WORDS` for each of its ports, from `policyAt(port)`, which is linear in
   * it. A kernel reads some of a switch's itself: see `Shortcut`.
   */
  readonly policyWords: Int32Array
  policyAt(port: number): number
  /**
   * Leaves an egress to the kernel, where `Shortcut` allows it.
   * @param unmarkedBytes bytes in a queue up to which no packet that leaves it is marked; -1: ask for each
   * @param stampCode rate code to stamp telemetry with, the node as path identifier; -1: no stamp
   */
  leave(port: number, unmarkedBytes: number, stampCode: number): void
  /** Tells the peer of `port` to pause (or resume) a priority: a frame through queue 0 of that port. */
  sendPfc(now: Time, port: number, priority: number, pause: boolean): void
}

/**
 * The policy of one switch. The kernel owns ports and queues and calls it: `route` and `admit` when a packet has
 * arrived, `dequeued` when its last hop's serialization starts. Packets that fall under `Shortcut` pass without a call.
 */
export interface Switch {
  /**
   * "lazy": `dequeued` may be called late, though before anything else happens at that egress. So what it does depends on
   * its arguments, on what it did at that egress before, and on what the kernel says of that egress; what it changes for
   * others is to take away from what the switch holds, in whatever order; and it sends nothing but the resume for a pause
   * that `admit` sent. As long as such a pause is out it is called in time. Before `route` is asked about queue lengths,
   * and before `admit`, whatever should have left has left.
   */
  readonly dequeue: "eager" | "lazy"
  /** False: a route holds for a flow until links change, and a kernel asks for it once. True: it asks for each packet. */
  readonly perPacket: boolean
  /** Egress port, or a `Drop`. */
  route(now: Time, packet: Packet): number
  /** Takes the packet into the buffer: the egress queue (0 to 7), or a `Drop`. Sends a pause when one is due. */
  admit(now: Time, packet: Packet, ingress: number, egress: number): number
  /** The packet starts to leave: frees its buffer, marks, stamps telemetry, sends a resume when one is due. */
  dequeued(now: Time, packet: Packet, egress: number, queue: number): void
}

/** Chooses among equal-cost next hops. */
export interface LoadBalancer {
  /** True: it may choose anew for each packet, and its switch is asked for each. Default false: a flow keeps its path. */
  readonly perPacket?: boolean
  /** True: it goes by the packet, the switch and the count alone, wherever in the table the next hops are. Default false. */
  readonly byPacket?: boolean
  /** Index below `count`. The egress ports to choose from are `table[from]` … `table[from + count - 1]`. */
  pick(now: Time, packet: Packet, node: number, count: number, table: Int32Array, from: number): number
}

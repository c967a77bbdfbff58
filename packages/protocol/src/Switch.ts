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
} as const
export type Drop = (typeof Drop)[keyof typeof Drop]

/** Names of the drop reasons, as reports spell them. */
export const dropNames: Readonly<Record<number, string>> = {
  [Drop.NoRoute]: "no-route",
  [Drop.IngressFull]: "ingress-full",
  [Drop.EgressFull]: "egress-full",
  [Drop.HopLimit]: "hop-limit",
}

/** What a kernel lends to a switch: the ports are the kernel's. Ports are numbered across the whole network. */
export interface SwitchPorts {
  readonly pool: PacketPool
  /** Bytes waiting at an egress port, all queues together. */
  queueBytes(port: number): number
  /** Bytes waiting in one queue of an egress port. */
  queueBytesOf(port: number, queue: number): number
  /** Bytes a port has sent. */
  sentBytes(port: number): number
  /** Words a policy may keep its state in: sixteen for each of its ports, from `policyAt(port)`, which is linear in it. */
  readonly policyWords: Int32Array
  policyAt(port: number): number
  /** Tells the peer of `port` to pause (or resume) a priority: a frame through queue 0 of that port. */
  sendPfc(now: Time, port: number, priority: number, pause: boolean): void
}

/**
 * The policy of one switch. The kernel owns ports and queues and calls it: `route` and `admit` when a packet has
 * arrived, `dequeued` when its last hop's serialization starts.
 */
export interface Switch {
  /** "lazy": nothing but `dequeued`'s own arguments decides what it does, so a kernel may call it late. */
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
  /** Index below `count`. */
  pick(now: Time, packet: Packet, node: number, count: number): number
}

import type { Packet } from "@rdmakit/packet"
import type { Time } from "./Time.ts"
import type { Timers } from "./Timers.ts"

/**
 * A transport endpoint without IO: it is handed packets and the time, and asked what to send and when to be woken.
 * After any `handle…` or `command` a world drains transmit, timeout and events, in this order.
 */
export interface Engine<Command, Event> {
  /** A packet arrived. The engine never keeps the cursor. */
  handlePacket(now: Time, packet: Packet): void
  /** `nextTimeout` was reached, or passed. */
  handleTimeout(now: Time): void
  /** A work request or a change of state. */
  command(now: Time, command: Command): void
  /** Fills the caller's fresh packet, control packets first. False: nothing may leave now, the packet is untouched. */
  pollTransmit(now: Time, out: Packet): boolean
  /** When pacing and window next allow a data packet; NEVER while there is none, or the window is full. */
  readonly nextSend: Time
  /** When `handleTimeout` is wanted, a time that has passed: at once; NEVER when idle. */
  readonly nextTimeout: Time
  /** The next completion or asynchronous event; undefined when there is none left. */
  pollEvent(): Event | undefined
}

/** What a NIC's scheduler reads of a queue pair, beside the engine. Plain fields: they are read for every packet. */
export interface QueuePair<Command, Event> extends Engine<Command, Event> {
  /** Node it lives on. */
  readonly node: number
  /** Priority (traffic class) of its data, 0 to 7. */
  readonly priority: number
  /** An acknowledgement, NAK or CNP waits to be polled. */
  readonly controlPending: boolean
  /** There is data to send, window and pacing aside. */
  readonly hasData: boolean
  /** As many bytes are in flight as the window allows. */
  readonly windowBound: boolean
  /** When pacing next allows a packet, window aside. */
  readonly paceTime: Time
  /** Everything sent and acknowledged. */
  readonly finished: boolean
  /** The controller's timers, where it has several and they have been lent. */
  readonly timers: Timers | undefined
  /** From now on the world runs the timers of `timers` itself, each as an event of its own, and `nextTimeout` leaves them out. */
  lendTimers(): void
  /** A timer of `timers` was reached; it has been made idle. */
  handleTimer(now: Time, timer: number): void
}

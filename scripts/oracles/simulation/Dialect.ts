import type { World } from "../../../packages/fabric/src/index.ts"
import { Flag, type Packet } from "../../../packages/packet/src/index.ts"

/** What tshark is asked about the frames of a transport, and what it should answer. */
export interface Dialect {
  /** Of what it does not find tshark says nothing. */
  readonly fields: ReadonlyArray<string>
  /** Preferences, and protocols that guess wrong: arguments of tshark. */
  readonly options: ReadonlyArray<string>
  /** The line that tshark should print of a packet on the link from `node`. */
  readonly lineOf: (world: World, now: number, node: number, packet: Packet) => string
  /** Frames that tshark needs in front, and no run moves. */
  readonly openings?: (world: World) => ReadonlyArray<Uint8Array>
}

export const hex = (value: number, digits: number): string => `0x${value.toString(16).padStart(digits, "0")}`

/** Seconds, with the nine digits of nanoseconds. */
export const timeText = (now: number): string => {
  const ns = Math.floor(now / 1000)
  return `${Math.floor(ns / 1e9)}.${String(ns % 1e9).padStart(9, "0")}`
}

export const macText = (node: number): string => `02:00:00:00:${(hex(node, 4).slice(2).match(/../g) ?? []).join(":")}`

/** `macc` is tshark's name of PFC. */
export const pfcFields = ["macc.cbfc.enbv", "macc.cbfc.pause_time.c3"]

export const pfcTexts = (packet: Packet): ReadonlyArray<string> => {
  const { priority } = packet
  return [hex(1 << priority, 4), priority === 3 ? String(packet.has(Flag.Pause) ? 0xffff : 0) : "0"]
}

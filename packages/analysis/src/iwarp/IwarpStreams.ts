import { TcpFlag } from "@rdmakit/wire/tcp"
import type { Sighting } from "../Sighting.ts"
import { Direction, type DirectionListener } from "./Direction.ts"
import { HeldTotal } from "./TcpReassembly.ts"

/** TCP streams followed at once. The oldest makes room for another. */
const STREAMS_MAX = 4096

/** Follows every TCP stream of a capture that may be iWARP. */
export class IwarpStreams {
  readonly #listener: DirectionListener
  readonly #held = new HeldTotal()
  /** By addresses and ports. */
  readonly #directions = new Map<string, Direction>()

  constructor(listener: DirectionListener) {
    this.#listener = listener
  }

  /** Takes a TCP segment. */
  segment(sighting: Sighting): void {
    const { source, destination, sourcePort, destinationPort, tcpFlags, tcpSequence } = sighting
    const key = `${source}:${sourcePort}>${destination}:${destinationPort}`
    let direction = this.#directions.get(key)
    const isSyn = (tcpFlags & TcpFlag.Syn) !== 0
    if (isSyn && direction !== undefined && !direction.isFresh) {
      // The ports are used again.
      direction.end()
      this.#directions.delete(key)
      direction = undefined
    }
    const reverseKey = `${destination}:${destinationPort}>${source}:${sourcePort}`
    if (direction === undefined) {
      direction = new Direction(source, destination, sourcePort, destinationPort, this.#listener, this.#held)
      this.#add(key, direction)
      const reverse = this.#directions.get(reverseKey)
      if (reverse !== undefined) {
        direction.reverse = reverse
        reverse.reverse = direction
      }
    }
    direction.count(sighting.frame, sighting.timeNs, sighting.wireBytes)
    if (isSyn) {
      direction.tcp.open(tcpSequence)
      return
    }
    if (direction.isOther) return
    const { data, tcpStart, tcpEnd, frame } = sighting
    if (tcpEnd <= tcpStart) return
    direction.isFresh = false
    direction.tcp.push(tcpSequence, data.subarray(tcpStart, Math.min(tcpEnd, data.length)), tcpEnd - tcpStart, frame)
    // What comes later is not looked at.
    if (direction.isOther) direction.tcp.end()
  }

  /** Says that the capture has ended. */
  end(): void {
    for (const direction of this.#directions.values()) direction.end()
    this.#directions.clear()
  }

  #add(key: string, direction: Direction): void {
    if (this.#directions.size >= STREAMS_MAX) {
      const [oldest] = this.#directions
      this.#directions.delete(oldest![0])
      oldest![1].end()
    }
    this.#directions.set(key, direction)
  }
}

import type { ServiceName } from "@rdmakit/wire/infiniband"
import type { Sighting } from "../Sighting.ts"
import { Tally } from "../Tally.ts"
import { Answers } from "./Answers.ts"
import { Reaction } from "./Reaction.ts"
import { Requests } from "./Requests.ts"

/** Everything that one host sends to one queue pair of another: its requests, and its answers to the other's. */
export class Flow {
  readonly source: number
  readonly destination: number
  /** The queue pair at the destination. */
  readonly qp: number
  readonly service: ServiceName
  /** Of datagrams: the queue pair they come from. */
  readonly sourceQp: number
  /** The other direction, once it is known. */
  reverse: Flow | undefined
  /** How it became known. */
  pairedBy: "cm" | "psn" | undefined
  readonly requests = new Requests()
  readonly answers = new Answers()
  readonly reaction = new Reaction()
  packets = 0
  wireBytes = 0
  /** Octets of messages, those that were sent again included. */
  payloadBytes = 0
  firstNs = Number.NaN
  lastNs = Number.NaN
  firstFrame = 0
  lastFrame = 0
  sourcePort = -1
  hopLimit = -1
  ecnCapable = 0
  readonly marked = new Tally()
  /** Congestion notifications in this direction: they slow the other one down. */
  readonly cnps = new Tally()
  /** Attempts to find the other direction. */
  attempts = 0

  constructor(sighting: Sighting, service: ServiceName) {
    this.source = sighting.source
    this.destination = sighting.destination
    this.qp = sighting.destinationQp
    this.service = service
    this.sourceQp = sighting.sourceQp
    this.firstNs = sighting.timeNs
    this.firstFrame = sighting.frame
    this.sourcePort = sighting.sourcePort
    this.hopLimit = sighting.hopLimit
  }

  count(sighting: Sighting): void {
    const { trafficClass } = sighting
    this.packets++
    this.wireBytes += sighting.wireBytes
    this.payloadBytes += sighting.payloadBytes
    this.lastNs = sighting.timeNs
    this.lastFrame = sighting.frame
    if (trafficClass < 0 || (trafficClass & 3) === 0) return
    this.ecnCapable++
    if ((trafficClass & 3) === 3) this.marked.add(sighting.frame)
  }
}

import type { ServiceName } from "@rdmakit/wire/infiniband"
import type { Sighting } from "../Sighting.ts"
import { Tally } from "../Tally.ts"
import { Answers } from "./Answers.ts"
import { Reaction } from "./Reaction.ts"
import { Requests } from "./Requests.ts"

const NO_REQUESTS = /* @__PURE__ */ new Requests()
const NO_ANSWERS = /* @__PURE__ */ new Answers()
const NO_REACTION = /* @__PURE__ */ new Reaction()

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
  #requests: Requests | undefined
  #answers: Answers | undefined
  #reaction: Reaction | undefined
  packets = 0
  wireBytes = 0
  /** Octets of messages, those that were sent again included; those of copies are not. */
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

  /** What it asked for: nothing, in a direction of answers alone. To be read. */
  get requests(): Requests {
    return this.#requests ?? NO_REQUESTS
  }

  /** What it answered. To be read. */
  get answers(): Answers {
    return this.#answers ?? NO_ANSWERS
  }

  /** Packets with data that are there twice. */
  get copies(): number {
    return this.requests.copies.count + this.answers.copies.count
  }

  /** What its sender did when it was told of congestion. To be read. */
  get reaction(): Reaction {
    return this.#reaction ?? NO_REACTION
  }

  /** The same to be changed: most directions have requests or answers, not both. */
  ownRequests(): Requests {
    this.#requests ??= new Requests()
    return this.#requests
  }

  ownAnswers(): Answers {
    this.#answers ??= new Answers()
    return this.#answers
  }

  ownReaction(): Reaction {
    this.#reaction ??= new Reaction()
    return this.#reaction
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

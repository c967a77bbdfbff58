import type { PacketRecord } from "@rdmakit/pcap"
import { Conversations } from "./flows/Conversations.ts"
import { Iwarp } from "./iwarp/Iwarp.ts"
import { Observer } from "./Observer.ts"
import { Pauses } from "./Pauses.ts"
import type { Sighting } from "./Sighting.ts"
import { type Crc, type Verdicts, Verifier } from "./Verifier.ts"

/** Follows everything in a capture: queue pairs, connections, iWARP streams, pauses, checksums. */
export class CaptureAnalysis {
  readonly observer: Observer
  readonly conversations = new Conversations()
  readonly pauses = new Pauses()
  readonly iwarp = new Iwarp()
  readonly #verifier: Verifier
  packets = 0
  roce = 0
  cut = 0
  tunnelled = 0
  /** Packets with a time before that of the packet before them. */
  outOfOrder = 0
  lastNs = Number.NEGATIVE_INFINITY
  #verdicts: Verdicts | undefined
  #beforeNs = Number.NEGATIVE_INFINITY

  /** @param observer shares what it saw with a filter; its own by default */
  constructor(crc: Crc, observer: Observer = new Observer()) {
    this.observer = observer
    this.#verifier = new Verifier(crc, observer, false)
  }

  packet(packet: PacketRecord, frame: number = packet.frame): void {
    this.sighting(this.observer.observe(packet, frame))
  }

  /** The same for a packet that was observed already. */
  sighting(sighting: Sighting): void {
    this.packets++
    const { kind, timeNs } = sighting
    if (timeNs < this.#beforeNs) this.outOfOrder++
    if (!Number.isNaN(timeNs)) this.#beforeNs = timeNs
    if (timeNs > this.lastNs) this.lastNs = timeNs
    if (sighting.isTruncated) this.cut++
    if (sighting.isTunnelled) this.tunnelled++
    this.#verifier.sighting(sighting)
    if (kind === "roce") {
      this.roce++
      this.conversations.take(sighting)
    } else if (kind === "tcp") this.iwarp.segment(sighting)
    else if (kind === "pause") this.pauses.take(sighting)
  }

  /** What the checksums say. Ends the capture. */
  end(): Verdicts {
    if (this.#verdicts === undefined) {
      this.pauses.end()
      this.iwarp.end()
      this.#verdicts = this.#verifier.end()
    }
    return this.#verdicts
  }
}

import type { PacketRecord } from "@rdmakit/pcap"
import { nodeOf } from "@rdmakit/wire/decode"
import { checkIcrc } from "@rdmakit/wire/roce"
import { IwarpStreams } from "./iwarp/IwarpStreams.ts"
import { Observer } from "./Observer.ts"
import type { Sighting } from "./Sighting.ts"

/** CRC-32 over part of an array; `crc32` of `@rdmakit/wire/crc`, or the quicker one of its `/node`. */
export type Crc = (octets: Uint8Array, start?: number, end?: number, previous?: number) => number

/** What the checksums of a capture say. */
export interface Verdicts {
  readonly packets: number
  /** Packets of RoCE and of native InfiniBand that carry a transport. */
  readonly roce: number
  readonly icrcOk: number
  /** Numbers of the frames whose ICRC is wrong. */
  readonly icrcBad: ReadonlyArray<number>
  /** Packets that the capture cut before the end of their ICRC, or for which no rule says what it covers. */
  readonly notCheckable: number
  readonly vcrcOk: number
  readonly vcrcBad: number
  /** Units of iWARP. */
  readonly mpaCrcOk: number
  readonly mpaCrcBad: number
  /** The frames in which units with a wrong CRC end. */
  readonly mpaCrcBadFrames: ReadonlyArray<number>
  /** Units without a CRC: the connection uses none. */
  readonly mpaCrcAbsent: number
  /** What the whole of it means. */
  readonly notes: ReadonlyArray<string>
}

/** Fewer wrong ones may be damage. */
const ALL_WRONG_MIN = 3

/** Checks every checksum that RDMA has end to end: ICRC and VCRC, and the CRCs of MPA. */
export class Verifier {
  readonly #crc: Crc
  readonly #observer: Observer
  readonly #icrcBad: Array<number> = []
  readonly #mpaBad: Array<number> = []
  readonly #streams: IwarpStreams | undefined
  #packets = 0
  #roce = 0
  #right = 0
  #notCheckable = 0
  #vcrcRight = 0
  #vcrcWrong = 0
  #mpaRight = 0
  #mpaAbsent = 0
  #unaligned = 0
  #lostBytes = 0
  /** The ICRC that all wrong ones have; undefined when they differ. */
  #constant: number | undefined

  /**
   * @param observer shares what it saw with a filter; its own by default
   * @param iwarp whether streams of TCP are followed
   */
  constructor(crc: Crc, observer: Observer = new Observer(), iwarp = true) {
    this.#crc = crc
    this.#observer = observer
    if (!iwarp) return
    this.#streams = new IwarpStreams({
      opened: () => {},
      unit: (_, { crc: verdict }, frame) => {
        if (verdict === "right") this.#mpaRight++
        else if (verdict === "absent") this.#mpaAbsent++
        else this.#mpaBad.push(frame)
      },
      gap: (_, bytes, reason) => {
        if (reason === "unaligned") this.#unaligned += bytes
        else this.#lostBytes += bytes
      },
    })
  }

  packet(packet: PacketRecord): void {
    this.sighting(this.#observer.observe(packet))
  }

  /** The same for a packet that was observed already. */
  sighting(sighting: Sighting): void {
    this.#packets++
    if (sighting.kind === "roce") this.#transport(sighting)
    else if (sighting.kind === "tcp") this.#streams?.segment(sighting)
    const vcrc = sighting.nodes === undefined ? undefined : nodeOf(sighting.nodes, "vcrc")
    if (vcrc?.verdict === "right") this.#vcrcRight++
    else if (vcrc?.verdict === "wrong") this.#vcrcWrong++
  }

  #transport({ place, data, frame, icrc }: Sighting): void {
    this.#roce++
    const verdict = place === undefined ? "unknown" : checkIcrc(data, place, this.#crc)
    if (verdict === "right") this.#right++
    else if (verdict === "wrong") {
      if (this.#icrcBad.length === 0) this.#constant = icrc
      else if (this.#constant !== icrc) this.#constant = undefined
      this.#icrcBad.push(frame)
    } else this.#notCheckable++
  }

  /** What came of it. Call it once, after the last packet. */
  end(): Verdicts {
    this.#streams?.end()
    return {
      packets: this.#packets,
      roce: this.#roce,
      icrcOk: this.#right,
      icrcBad: this.#icrcBad,
      notCheckable: this.#notCheckable,
      vcrcOk: this.#vcrcRight,
      vcrcBad: this.#vcrcWrong,
      mpaCrcOk: this.#mpaRight,
      mpaCrcBad: this.#mpaBad.length,
      mpaCrcBadFrames: this.#mpaBad,
      mpaCrcAbsent: this.#mpaAbsent,
      notes: this.#notes(),
    }
  }

  #notes(): ReadonlyArray<string> {
    const notes: Array<string> = []
    const bad = this.#icrcBad.length
    if (bad >= ALL_WRONG_MIN && this.#right === 0) {
      const same = this.#constant
      const value = same === undefined ? "" : `, each 0x${same.toString(16).padStart(8, "0")}`
      notes.push(
        `every ICRC is wrong${value}: the packets were taken before the NIC computed them, or after something rewrote addresses, ports or identification`,
      )
    }
    if (this.#notCheckable > 0) {
      const all = this.#notCheckable === this.#roce ? "no" : `${this.#notCheckable} of ${this.#roce}`
      const verb = all === "no" ? "ICRC can be checked" : "ICRCs cannot be checked"
      notes.push(`${all} ${verb}: the capture cut the packets; take whole ones with snap length 0`)
    }
    if (this.#mpaAbsent > 0 && this.#mpaRight === 0) notes.push("the iWARP connections use no CRC")
    if (this.#unaligned > 0) notes.push(`${this.#unaligned} octets of iWARP streams are not made of units`)
    if (this.#lostBytes > 0) notes.push(`${this.#lostBytes} octets of iWARP streams are not in the capture`)
    return notes
  }
}

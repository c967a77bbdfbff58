import { PSNS, psnDistance, psnPlus } from "@rdmakit/wire/infiniband"

interface Gap {
  psn: number
  packets: number
  /** The frame that came instead. */
  readonly frame: number
  readonly timeNs: number
}

/** Gaps that are open at once. Beyond them the oldest are given up. */
const GAPS_MAX = 256

/** The PSNs that were skipped and have not come yet. */
export class Gaps {
  #open: Array<Gap> = []
  /** Packets that an acknowledgement covered though nobody saw them: the capture missed them, not the receiver. */
  unseen = 0

  add(psn: number, packets: number, frame: number, timeNs: number): void {
    if (this.#open.length === GAPS_MAX) this.#open.shift()
    this.#open.push({ psn, packets, frame, timeNs })
  }

  /** The packet is there after all: when the gap was seen; undefined when it is in none. */
  fill(psn: number): number | undefined {
    const at = this.#open.findIndex((gap) => (psn - gap.psn + PSNS) % PSNS < gap.packets)
    const gap = this.#open[at]
    if (gap === undefined) return undefined
    const before = (psn - gap.psn + PSNS) % PSNS
    const after = gap.packets - before - 1
    const rest: Array<Gap> = []
    if (before > 0) rest.push({ ...gap, packets: before })
    if (after > 0) rest.push({ ...gap, psn: psnPlus(psn, 1), packets: after })
    this.#open.splice(at, 1, ...rest)
    return gap.timeNs
  }

  /** Everything up to `psn` has arrived at the receiver. Answers the packets of gaps before it. */
  acknowledged(psn: number): number {
    if (this.#open.length === 0) return 0
    let packets = 0
    this.#open = this.#open.filter((gap) => {
      const covered = Math.min(gap.packets, psnDistance(psn, gap.psn) + 1)
      if (covered <= 0) return true
      packets += covered
      gap.psn = psnPlus(gap.psn, covered)
      gap.packets -= covered
      return gap.packets > 0
    })
    this.unseen += packets
    return packets
  }

  /** Packets that never came, and the frames behind them. */
  open(): { readonly packets: number; readonly frames: ReadonlyArray<number> } {
    return {
      packets: this.#open.reduce((sum, { packets }) => sum + packets, 0),
      frames: this.#open.slice(0, 32).map(({ frame }) => frame),
    }
  }
}

import type { Sighting } from "../Sighting.ts"

const FIRST = 64
const MOST = 4096

/** The packets of a flow that were seen last, by PSN. Memory grows with the flow, up to some 100 KiB. */
export class History {
  #psns = new Int32Array(FIRST).fill(-1)
  #ipIds = new Int32Array(FIRST)
  #icrcs = new Int32Array(FIRST)
  #hops = new Uint8Array(FIRST)
  #times = new Float64Array(FIRST)
  #frames = new Float64Array(FIRST)
  #count = 0

  /** Where a PSN is kept; -1 when it is not. */
  find(psn: number): number {
    const at = psn & (this.#psns.length - 1)
    return this.#psns[at] === psn ? at : -1
  }

  /** Identification of the packet at a place. */
  ipId(at: number): number {
    return this.#ipIds[at]!
  }

  timeNs(at: number): number {
    return this.#times[at]!
  }

  frame(at: number): number {
    return this.#frames[at]!
  }

  hopLimit(at: number): number {
    return this.#hops[at]!
  }

  /** Whether a packet has the same identification and ICRC as the one at a place. */
  isSame(at: number, sighting: Sighting): boolean {
    return this.#ipIds[at] === sighting.ipId && this.#icrcs[at] === (sighting.icrc | 0)
  }

  keep(sighting: Sighting): void {
    const { psn } = sighting
    if (++this.#count > this.#psns.length && this.#psns.length < MOST) this.#grow()
    const at = psn & (this.#psns.length - 1)
    this.#psns[at] = psn
    this.#ipIds[at] = sighting.ipId
    this.#icrcs[at] = sighting.icrc | 0
    this.#hops[at] = Math.max(0, sighting.hopLimit)
    this.#times[at] = sighting.timeNs
    this.#frames[at] = sighting.frame
  }

  #grow(): void {
    const size = this.#psns.length * 4
    const psns = new Int32Array(size).fill(-1)
    const ipIds = new Int32Array(size)
    const icrcs = new Int32Array(size)
    const hops = new Uint8Array(size)
    const times = new Float64Array(size)
    const frames = new Float64Array(size)
    for (const [from, psn] of this.#psns.entries()) {
      if (psn < 0) continue
      const to = psn & (size - 1)
      psns[to] = psn
      ipIds[to] = this.#ipIds[from]!
      icrcs[to] = this.#icrcs[from]!
      hops[to] = this.#hops[from]!
      times[to] = this.#times[from]!
      frames[to] = this.#frames[from]!
    }
    this.#psns = psns
    this.#ipIds = ipIds
    this.#icrcs = icrcs
    this.#hops = hops
    this.#times = times
    this.#frames = frames
  }
}

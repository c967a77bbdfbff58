import { crc32 } from "@rdmakit/wire/crc"
import { expect } from "vitest"
import { CaptureAnalysis, diagnose, flowRows, lineOf, Observer, Rates, Verifier } from "../src/index.ts"
import { captured, type Frame } from "./synthetic.ts"

/** Numbers from a seed (xorshift32). */
const random = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0 || 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

/** Frames with bits flipped, cut, doubled and out of order, and lengths that lie. */
const spoiled = (frames: ReadonlyArray<Frame>, seed: number): ReadonlyArray<Frame> => {
  const below = random(seed)
  return frames.flatMap(({ timeNs, octets }): ReadonlyArray<Frame> => {
    const changed = octets.slice(0, below(4) === 0 ? below(octets.length + 1) : octets.length)
    for (let flips = below(4); flips > 0 && changed.length > 0; flips--)
      changed[below(changed.length)]! ^= 1 << below(8)
    const wireBytes = Math.max(changed.length, octets.length + below(3) - 1)
    const frame = { timeNs: Math.max(0, timeNs + (below(8) === 0 ? below(1e6) - 5e5 : 0)), octets: changed, wireBytes }
    return below(10) === 0 ? [] : below(10) === 0 ? [frame, frame] : [frame]
  })
}

/** Everything that can be said of spoiled frames is said, and adds up. */
export const analyseSpoiled = (frames: ReadonlyArray<Frame>, seed: number): number => {
  const packets = captured(spoiled(frames, seed))
  const observer = new Observer()
  const analysis = new CaptureAnalysis(crc32, observer)
  const verifier = new Verifier(crc32, observer)
  const rates = new Rates()
  for (const packet of packets) {
    const sighting = observer.observe(packet)
    expect(typeof lineOf(sighting).text).toBe("string")
    analysis.sighting(sighting)
    verifier.sighting(sighting)
    rates.sighting(sighting)
  }
  const { findings, notes } = diagnose(analysis)
  expect(JSON.stringify({ findings, notes, rows: flowRows(analysis) })).not.toContain("undefined")
  const verdicts = verifier.end()
  expect(verdicts.icrcOk + verdicts.icrcBad.length + verdicts.notCheckable).toBe(verdicts.roce)
  expect(rates.result(observer.addresses).rows.reduce((sum, row) => sum + row.packets, 0)).toBe(packets.length)
  return packets.length
}

import { crc32 } from "@rdmakit/wire/crc"
import { Operation } from "@rdmakit/wire/infiniband"
import { describe, expect, it, test } from "vitest"
import { CaptureAnalysis, diagnose, flowRows, lineOf, Observer, Rates, Verifier } from "../src/index.ts"
import { captures, readPackets } from "./capture.ts"
import { captured, diagnosed, type Frame, framesOf, roce, send } from "./synthetic.ts"

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

describe("whatever a capture holds", () => {
  test.each(captures)("%s, spoiled, gives an answer", (name) => {
    const frames = framesOf(readPackets(name))
    for (let seed = 1; seed <= 12; seed++) {
      const packets = captured(spoiled(frames, seed * 7919))
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
    }
  })
})

describe("bounds", () => {
  it("a scan of 100,000 queue pairs is counted, not kept", () => {
    const analysis = new CaptureAnalysis(crc32)
    const [packet] = captured([send(0, 1)])
    const sighting = analysis.observer.observe(packet!)
    for (let qp = 0; qp < 100_000; qp++) {
      sighting.destinationQp = 16 + qp
      analysis.sighting(sighting)
    }
    expect(analysis.conversations.flows.length).toBe(1 << 15)
    expect(analysis.conversations.overflow).toBe(100_000 - (1 << 15))
    expect(diagnose(analysis).notes.join("\n")).toContain("67232 packets of further queue pairs are counted only")
  })

  it("a million requests without an answer are no burden", () => {
    const analysis = new CaptureAnalysis(crc32)
    const [packet] = captured([send(0, 1)])
    const sighting = analysis.observer.observe(packet!)
    for (let psn = 0; psn < 1_000_000; psn++) {
      sighting.psn = psn
      analysis.sighting(sighting)
    }
    expect(analysis.conversations.flows[0]!.requests.messages.outstanding.length).toBeLessThanOrEqual(16_384)
  })

  it("a queue pair that begins anew elsewhere has lost nothing", () => {
    const frames = [send(0, 10), send(1, 11), send(2, 9_000_000), send(3, 9_000_001)]
    expect(diagnosed(captured(frames)).findings).toEqual([])
  })

  it("a READ of unknown MTU is no gap", () => {
    const reth = { virtualAddress: 0n, remoteKey: 1, dmaBytes: 1 << 20 }
    const frames = [roce({ timeNs: 0, psn: 5, operation: Operation.ReadRequest, headers: { reth } }), send(1, 5 + 256)]
    const analysis = new CaptureAnalysis(crc32)
    for (const packet of captured(frames)) analysis.packet(packet)
    expect(flowRows(analysis)[0]).toMatchObject({ gaps: 0, messages: 2 })
  })
})

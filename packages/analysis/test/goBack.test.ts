import { describe, expect, it } from "vitest"
import { flowRows, Observer, Rates } from "../src/index.ts"
import { analysed, captured, diagnosed, kindsOf, send } from "./synthetic.ts"

// Acknowledgements go another way, and every identification is 0: a simulation's captures of a network of several paths.
describe("a requester that goes back, its answers not in the capture, without identifications", () => {
  const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const sent = (...psns: ReadonlyArray<number>) => captured(psns.map((psn, index) => send(index * 100, psn)))

  it("before the point of the loss", () => {
    const frames = sent(...upTo(0, 140), ...upTo(100, 300), ...upTo(260, 320))
    expect(kindsOf(diagnosed(frames))).toEqual(["repeats"])
    expect(diagnosed(frames).findings[0]!.text).toMatch(/^sent again 2 times, 82 packets in all; why cannot be known/)
    expect(flowRows(analysed(frames))[0]).toMatchObject({ copies: 0, late: 0, repeated: 82, repeatsUnknown: 2 })
  })

  it.each([1, 3])("behind it, where %i packets are lost", (lost) => {
    const next = 100 + lost
    const frames = sent(...upTo(0, 99), ...upTo(next, 140), ...upTo(100, 200))
    const { findings } = diagnosed(frames)
    expect(findings.map(({ kind }) => kind).toSorted()).toEqual(["loss", "repeats"])
    expect(findings.find(({ kind }) => kind === "repeats")!.frames).toEqual([141 - lost + 1])
    expect(flowRows(analysed(frames))[0]).toMatchObject({ gaps: 1, late: 0, copies: 0, repeated: 41 })
    const [observer, rates] = [new Observer(), new Rates()]
    for (const packet of frames) rates.sighting(observer.observe(packet))
    expect(rates.result(observer.addresses).rows.reduce((sum, row) => sum + row.repeated, 0)).toBe(41)
  })

  it("and packets that are overtaken, or there twice at once, are neither sent again nor a loss", () => {
    const overtaken = sent(...upTo(0, 9), 12, 10, 11, ...upTo(13, 30))
    expect(kindsOf(diagnosed(overtaken))).toEqual(["reordering"])
    const twice = sent(...upTo(0, 200).flatMap((psn) => (psn % 20 === 10 ? [psn, psn] : [psn])))
    expect(kindsOf(diagnosed(twice))).toEqual(["duplicates"])
  })

  it("and two capture points, whose packets come among each other, are no repeats in the long run", () => {
    const first = upTo(0, 999).map((psn) => send(psn * 100, psn))
    const both = [...first, ...first.map(({ timeNs, octets }) => ({ timeNs: timeNs + 530, octets }))]
    const frames = captured(both.toSorted((a, b) => a.timeNs - b.timeNs))
    expect(diagnosed(frames).notes.join("\n")).toContain("is there twice")
  })
})

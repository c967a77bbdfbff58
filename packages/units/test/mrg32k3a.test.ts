import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Mrg32k3a, StreamSequence } from "../src/index.ts"
import { advance } from "../src/Mrg32k3a.ts"

const M1 = 4294967087n
const M2 = 4294944443n

/** One step of both components with big integers, straight from the recurrence (L'Ecuyer 1999, §3). */
const step = (s: ReadonlyArray<bigint>): ReadonlyArray<bigint> => {
  const [x0, x1, x2, y0, y1, y2] = s as [bigint, bigint, bigint, bigint, bigint, bigint]
  const x = (1403580n * x1 - 810728n * x0) % M1
  const y = (527612n * y2 - 1370589n * y0) % M2
  return [x1, x2, x < 0n ? x + M1 : x, y1, y2, y < 0n ? y + M2 : y]
}

const moved = (state: ReadonlyArray<number>, count: number, power: number): ReadonlyArray<number> => {
  const words = Float64Array.from(state)
  advance(words, count, power)
  return [...words]
}

const ones = [1, 1, 1, 1, 1, 1]
const default_ = [12345, 12345, 12345, 12345, 12345, 12345]

// Numbers printed by the authors' test programs (L'Ecuyer, RngStreams, test2RngStream.res), as far as they apply.
describe("the published values", () => {
  it("of the first stream", () => {
    const generator = new Mrg32k3a(12345)
    expect([
      generator.uniform(),
      generator.uniform(),
      generator.uniform(),
      generator.uniform(),
      generator.uniform(),
    ]).toEqual([0.12701112204657714, 0.3185275653967945, 0.3091860155832701, 0.8258468629271136, 0.2216299157820229])
    for (let n = 5; n < 35; n++) generator.uniform()
    expect(generator.uniform()).toBeCloseTo(0.07941673614985, 14)
  })

  it("of stream starts", () => {
    expect(moved(default_, 1, 127)).toEqual([3692455944, 1366884236, 2968912127, 335948734, 4161675175, 475798818])
    expect(moved(default_, 2, 127)).toEqual([1015873554, 1310354410, 2249465273, 994084013, 2912484720, 3876682925])
    expect(moved(ones, 1, 127)).toEqual([2662865579, 741857976, 4206142246, 3352832365, 2519202871, 655500294])
    expect(moved(ones, 2, 127)).toEqual([3784663252, 802042081, 160569404, 3391851556, 2150317468, 54240022])
    expect(moved(ones, 3, 127)).toEqual([3276123839, 3170955788, 1470482105, 884064067, 1017894425, 16401881])
    expect(moved(default_, 35, 0)).toEqual([1040577685, 3747037609, 277208355, 1712706441, 627445683, 2408037141])
  })

  it("of the third stream and its fourth substream", () => {
    const first = new Mrg32k3a(12345, 2)
    const fourth = new Mrg32k3a(12345, 2, 4)
    for (const value of [0.7285097861965, 0.9655872822837, 0.9961841304801, 0.1149884161813, 0.9731454191297]) {
      expect(first.uniform()).toBeCloseTo(value, 12)
    }
    for (const value of [0.1734545396358, 0.03286351608942, 0.2643169129682, 0.3059403602117, 0.5476303035177]) {
      expect(fourth.uniform()).toBeCloseTo(value, 12)
    }
    // The program had drawn one number before it summed a hundred.
    const third = new Mrg32k3a(12345, 2)
    third.uniform()
    let sum = 0
    for (let n = 0; n < 100; n++) sum += third.uniform()
    expect(sum).toBeCloseTo(53.98590159232, 10)
  })
})

describe("Mrg32k3a", () => {
  it("follows the recurrence", () => {
    let state: ReadonlyArray<bigint> = ones.map(BigInt)
    const generator = new Mrg32k3a(1)
    for (let n = 0; n < 20_000; n++) {
      state = step(state)
      const difference = state[2]! - state[5]!
      const expected = Number(difference > 0n ? difference : difference + M1) * (1 / 4294967088)
      if (generator.uniform() !== expected) expect.fail(`draw ${n}`)
    }
  })

  it("jumps where stepping would lead", () => {
    const word = fc.integer({ min: 1, max: 4294944442 })
    const states = fc.array(word, { minLength: 6, maxLength: 6 })
    fc.assert(
      fc.property(states, fc.nat({ max: 300 }), fc.nat({ max: 3 }), (start, count, power) => {
        let state: ReadonlyArray<bigint> = start.map(BigInt)
        for (let n = 0; n < count * 2 ** power; n++) state = step(state)
        expect(moved(start, count, power)).toEqual(state.map(Number))
      }),
    )
  })

  it("refuses what is no seed or stream", () => {
    for (const seed of [0, -1, 1.5, 4294944443, Number.NaN]) expect(() => new Mrg32k3a(seed)).toThrow(RangeError)
    expect(() => new Mrg32k3a(1, -1)).toThrow(RangeError)
    expect(() => new StreamSequence(1, 0, 0.5)).toThrow(RangeError)
  })
})

describe("StreamSequence", () => {
  it("gives the first number of each stream in turn", () => {
    const first = 6 * 376 + 2
    const sequence = new StreamSequence(1, first, 1)
    for (let k = 0; k < 2000; k++) expect(sequence.next()).toBe(new Mrg32k3a(1, first + k, 1).uniform())
    expect(sequence.stream).toBe(first + 2000)
    sequence.skip(1_000_000)
    expect(sequence.next()).toBe(new Mrg32k3a(1, first + 1_002_000, 1).uniform())
  })
})

it("numbers the streams that ns-3 is asked for from 2^63 on", () => {
  // 2^10 times 2^53 streams of 2^127 steps are 2^190 steps: as many jumps of 2^180 as make up 2^10.
  const state = new Float64Array(6).fill(1)
  for (let jump = 0; jump < 1024; jump++) advance(state, 1, 127 + 53)
  advance(state, 50, 127)
  advance(state, 1, 76)
  const next = step([...state].map(BigInt))
  const difference = next[2]! - next[5]!
  const expected = Number(difference > 0n ? difference : difference + M1) / 4294967088
  expect(Mrg32k3a.assigned(1, 50, 1).uniform()).toBeCloseTo(expected, 15)
})

import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { aliStorage2019, CdfError, formatCdf, parseCdf, SizeDistribution } from "../src/index.ts"

/** AliStorage2019.txt of the public generator. */
const published =
  "0 0\n4000 22.93\n8000 69.21\n16000 80.61\n32000 90.47\n64000 93.53\n128000 96.77\n256000 97.53\n2000000 100\n"

const faultOf = (text: string | Uint8Array): CdfError => {
  try {
    parseCdf(text, "sizes.txt")
  } catch (error) {
    if (error instanceof CdfError) return error
    throw error
  }
  throw new Error("accepted")
}

describe("a file of sizes", () => {
  it("is read and written as the generator has it", () => {
    expect(parseCdf(published, "AliStorage2019.txt")).toEqual(aliStorage2019.points)
    expect(formatCdf(aliStorage2019.points)).toBe(published)
  })

  it("may have other white space, blank lines, a byte order mark, exponents", () => {
    const points = [
      [0, 0],
      [1500, 12.5],
      [2000, 100],
    ]
    const texts = ["0 0\r\n1500 12.5\r\n2000 100", "\uFEFF\n 0\t0\n\n1.5e3   12.50 \n2000. 1e2\n\n"]
    for (const text of texts) {
      expect(parseCdf(text, "f")).toEqual(points)
      expect(parseCdf(new TextEncoder().encode(text), "f")).toEqual(points)
    }
  })

  it.each<[string, string | Uint8Array, string]>([
    ["nothing", "", "sizes.txt:1:1: point: found nothing, expected two points or more; the file ends here"],
    ["one point", "0 0\n", "sizes.txt:2:1: point: found nothing, expected two points or more"],
    ["a word", "0 0\nten 100\n", 'sizes.txt:2:1: size: found "ten", expected two numbers'],
    ["a second word", "0 0\n10 all\n", 'sizes.txt:2:4: percentage: found "all", expected a percentage'],
    ["a comment", "# sizes\n0 0\n1 100\n", 'sizes.txt:1:1: size: found "#", expected .*; these files have no comments'],
    ["commas", "0,0\n1,100\n", 'sizes.txt:1:1: size: found "0,0", expected .*; the two are separated by a space'],
    ["infinity", "0 0\ninf 100\n", 'sizes.txt:2:1: size: found "inf"'],
    ["half a point", "0 0\n100\n", "sizes.txt:2:4: percentage: found nothing, expected two numbers"],
    ["three columns", "0 0 0\n", 'sizes.txt:1:5: point: found "0", expected .* no more; some simulators have three'],
    ["a negative size", "-1 0\n5 100\n", 'sizes.txt:1:1: size: found "-1", expected a size of at least 0 bytes'],
    ["a size beyond all", "0 0\n1e300 100\n", 'sizes.txt:2:1: size: found "1e300"'],
    [
      "a beginning above 0",
      "4000 22.93\n8000 100\n",
      'sizes.txt:1:6: percentage: found "22.93", expected 0 percent at',
    ],
    ["sizes that descend", "0 0\n20 50\n10 100\n", 'sizes.txt:3:1: size: found "10", expected a size of at least 20'],
    ["shares that descend", "0 0\n9 50\n99 40\n", 'sizes.txt:3:4: percentage: found "40", expected .* at least 50'],
    ["more than all", "0 0\n9 100.5\n", 'sizes.txt:2:3: percentage: found "100.5", expected a percentage 0..100'],
    ["the same twice", "0 0\n9 50\n9 50\n99 100\n", "sizes.txt:3:1: size: .*expected another point"],
    ["no end", "0 0\n10 50\n20 99.9\n\n", 'sizes.txt:3:4: percentage: found "99.9", expected 100 percent at the last'],
    ["shares of 1", "0 0\n10 0.5\n20 1\n", "sizes.txt:3:4: .*these look like shares of 1: multiply them by 100"],
    [
      "sizes of 0",
      "0 0\n0 100\n",
      'sizes.txt:2:1: size: found "0", expected a size of at least 1 byte; a smaller size',
    ],
    ["a share of 0", "0 0\n0 50\n9 100\n", 'sizes.txt:2:1: size: found "0", expected a size of at least 1 byte'],
    ["less than a byte", "0 0\n0.5 50\n9 100\n", 'sizes.txt:2:1: size: found "0.5", expected .*at least 1 byte'],
    ["octets", Uint8Array.of(0x1f, 0x8b, 0x08, 0, 0xff), "sizes.txt:1:1: size: .*this looks like a binary file"],
  ])("%s", (_, text, pattern) => {
    const { message } = faultOf(text)
    expect(message).toMatch(new RegExp(`^${pattern}`))
    expect(message).not.toMatch(/\p{Control}/u)
  })

  it("counts characters in its columns", () => {
    expect(faultOf("0 0\n\u{1F4A9}\u{1F4A9} x\n")).toMatchObject({ line: 2, column: 1 })
    expect(faultOf("0 0\n5 \u{1F4A9} x\n")).toMatchObject({ line: 2, column: 3, field: "percentage" })
    expect(faultOf("0 0\n5 6 \u{1F4A9}\n")).toMatchObject({ line: 2, column: 5, field: "point" })
  })

  it("rubbish is a fault, not a crash", () => {
    const lines = fc.array(fc.array(fc.oneof(fc.string(), fc.double(), fc.nat(100)), { maxLength: 3 }), {
      maxLength: 6,
    })
    const text = fc.oneof(
      fc.string(),
      lines.map((rows) => rows.map((row) => row.join(" ")).join("\n")),
    )
    fc.assert(
      fc.property(text, (content) => {
        try {
          new SizeDistribution(parseCdf(content, "f"))
        } catch (error) {
          expect(error).toBeInstanceOf(CdfError)
        }
      }),
    )
  })

  it("what is written is read back", () => {
    const steps = fc.array(fc.tuple(fc.nat(1e6), fc.nat(1000)), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(steps, (moves) => {
        const total = moves.reduce((sum, [, weight]) => sum + weight, 0)
        fc.pre(total > 0)
        let bytes = 0
        let weight = 0
        const points: Array<readonly [number, number]> = [[0, 0]]
        for (const [more, part] of moves) {
          bytes += more + 1
          weight += part
          points.push([bytes, (100 * weight) / total])
        }
        expect(parseCdf(formatCdf(points), "f")).toEqual(points)
      }),
    )
  })
})

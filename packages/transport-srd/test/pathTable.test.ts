import { describe, expect, it } from "vitest"
import { type SrdOptions, srdConfig } from "../src/index.ts"
import { PathTable } from "../src/PathTable.ts"
import { Records } from "../src/Records.ts"
import { fixedWindow } from "./connection.ts"

const US = 1e6

const tableOf = (options: Partial<SrdOptions> = {}, seed = 1): PathTable =>
  new PathTable(srdConfig({ controller: fixedWindow(1e6), ...options }), new Records(), seed, 0)

/** Sends packet `number` and hears of it. @returns the path, and whether it was given up */
const roundTrip = (table: PathTable, number: number, rttOf: (path: number) => number) => {
  const path = table.next()
  table.sent(path, number)
  return { path, left: table.acknowledged(path, table.draw(path), rttOf(path)) }
}

describe("paths of a context", () => {
  it("are opened one for each packet, up to 64, and then taken in turn", () => {
    const table = tableOf({ renewAfterPackets: 1000 })
    const taken = Array.from({ length: 200 }, () => table.next())
    expect(taken).toEqual(Array.from({ length: 200 }, (_, i) => i % 64))
    expect(table.count).toBe(64)
    const ports = Array.from({ length: 64 }, (_, path) => table.entropy(path))
    expect(new Set(ports).size).toBeGreaterThan(60)
    expect(ports.every((port) => port >= 1024 && port <= 65_535)).toBe(true)
  })

  it("have ports that follow from the seed, and others under another", () => {
    const ports = (seed: number): Array<number> => {
      const table = tableOf({}, seed)
      return Array.from({ length: 64 }, () => table.entropy(table.next()))
    }
    expect(ports(1)).toEqual(ports(1))
    expect(ports(1).filter((port, path) => port === ports(2)[path]).length).toBeLessThan(3)
  })

  it("spread over 16 ways evenly: of 16,384 draws each way has its sixteenth, within 15 %", () => {
    const table = tableOf({ renewAfterPackets: 1 })
    const ways = new Float64Array(16)
    for (let number = 0; number < 16_384; number++) {
      const path = table.next()
      ways[table.entropy(path) % 16]!++
      table.sent(path, number)
    }
    // Four standard deviations of a count of 1,024.
    for (const count of ways) expect(Math.abs(count - 1024)).toBeLessThan(128)
  })

  it("change their port after so many packets", () => {
    const table = tableOf({ paths: 2, renewAfterPackets: 3 })
    const draws: Array<number> = []
    for (let number = 0; number < 12; number++) {
      const path = table.next()
      draws.push(table.draw(path))
      table.sent(path, number)
    }
    expect(draws).toEqual([1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4])
    expect([table.overloaded, table.dead]).toEqual([0, 0])
  })

  it("are left when they are slower than the mean by the factor, on the second sample", () => {
    const table = tableOf({ paths: 8, renewAfterPackets: 1000 })
    const left: Array<number> = []
    for (let number = 0; number < 16; number++) {
      const { path, left: isLeft } = roundTrip(table, number, (path) => (path === 3 ? 40 : 20) * US)
      if (isLeft) left.push(path)
    }
    expect(left).toEqual([3])
    expect(table.overloaded).toBe(1)
    // Nothing is known of what took its place, and nobody else's mean is spoiled.
    expect([table.draw(3), table.rttPs(3), table.meanRttPs]).toEqual([9, 0, 20 * US])
  })

  it("are not left when all become slow together, apart from those that are told of first", () => {
    const table = tableOf({ paths: 64, renewAfterPackets: 1000 })
    const left: Array<number> = []
    for (let number = 0; number < 640; number++) {
      // Four turns of 20 µs, six of up to 400, which come within one.
      const rise = Math.min(1, Math.max(0, (number - 256) / 64))
      if (roundTrip(table, number, (path) => (20 + 380 * rise + (path % 8)) * US).left) left.push(number)
    }
    // Those of the rise: all that come later are like the others again.
    expect(left.length).toBeLessThanOrEqual(64)
    expect(left.every((number) => number > 256 && number < 448)).toBe(true)
    expect(table.meanRttPs).toBeGreaterThan(390 * US)
  })

  it("are dead after two losses in a row, at once where nothing ever came through; an acknowledgement forgives", () => {
    const table = tableOf({ paths: 4, renewAfterPackets: 1000 })
    for (let number = 0; number < 3; number++) roundTrip(table, number, () => 20 * US)
    const untried = table.next()
    expect(table.lost(untried, table.draw(untried))).toBe(true)
    expect(table.lost(0, table.draw(0))).toBe(false)
    table.acknowledged(0, table.draw(0), 20 * US)
    expect(table.lost(0, table.draw(0))).toBe(false)
    expect(table.lost(0, table.draw(0))).toBe(true)
    expect(table.dead).toBe(2)
  })

  it("are not judged by what was sent before their port changed", () => {
    const table = tableOf({ paths: 4, renewAfterPackets: 1000 })
    for (let number = 0; number < 4; number++) roundTrip(table, number, () => 20 * US)
    const before = table.draw(1)
    table.lost(1, before)
    table.lost(1, before)
    expect(table.draw(1)).not.toBe(before)
    expect(table.lost(1, before)).toBe(false)
    expect(table.acknowledged(1, before, 900 * US)).toBe(false)
    expect([table.rttPs(1), table.dead]).toEqual([0, 1])
  })

  it("for what was lost: another, and one that is known to be alive", () => {
    const table = tableOf({ paths: 8, renewAfterPackets: 1000 })
    for (let number = 0; number < 8; number++) {
      const path = table.next()
      table.sent(path, number)
      if (path % 2 === 0) table.acknowledged(path, table.draw(path), 20 * US)
    }
    table.lost(4, table.draw(4))
    const taken = Array.from({ length: 6 }, () => table.other(2))
    expect(taken).toEqual([0, 6, 0, 6, 0, 6])
    // With one path alone it is another port of it.
    const single = tableOf({ paths: 1 })
    const path = single.next()
    const draw = single.draw(path)
    single.sent(path, 0)
    expect(single.other(path)).toBe(path)
    expect(single.draw(path)).not.toBe(draw)
  })

  it("are forgotten, and their records serve the next context", () => {
    const records = new Records()
    const config = srdConfig({ controller: fixedWindow(1e6) })
    for (let context = 0; context < 1000; context++) {
      const table = new PathTable(config, records, 1, context)
      for (let number = 0; number < 64; number++) table.next()
      table.release()
      expect([table.count, table.meanRttPs]).toEqual([0, 0])
    }
    // 1,000 contexts of 64 paths at 32 bytes would take 2 MB.
    expect(records.words.byteLength).toBeLessThanOrEqual(32 * 1024)
  })
})

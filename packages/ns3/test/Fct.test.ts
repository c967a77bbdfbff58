import { slowdown } from "@rdmakit/metrics"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  baseRttNs,
  formatFct,
  formatFctLine,
  isNodeIp,
  linkIp,
  nodeIp,
  nodeOfIp,
  parseFct,
  standaloneFctNs,
} from "../src/index.ts"
import { messageOf } from "./faults.ts"
import { octetsOf, textOf } from "./testdata.ts"

const outputs = [
  ["tiny/hpcc.fct.txt", 1],
  ["incast16/dcqcn.fct.txt", 16],
  ["pfcdemo/timely.fct.txt", 16],
  ["fat320-fbhdp/hpcc.fct.txt.gz", 7981],
  ["fat320-fbhdp/dcqcn.fct.txt.gz", 7981],
] as const

describe("the simulator's completion times", () => {
  test.each(outputs)("%s: %i flows, written back octet for octet", (path, count) => {
    const fcts = parseFct(octetsOf(path), path)
    expect(fcts.count).toBe(count)
    expect(fcts.form).toBe("ip")
    expect(formatFct(fcts)).toBe(textOf(path))
  })

  test("node ids in place of addresses, as ConWeave's fork writes them", () => {
    const text = "0 1 10000 100 5000 2000000000 4536 4579\n300 0 10001 100 1 2000000001 1 2\n"
    const fcts = parseFct(text, "f")
    expect(fcts.form).toBe("node")
    expect([...fcts.src]).toEqual([0, 300])
    expect(formatFct(fcts)).toBe(text)
    expect(formatFct(fcts, "ip").split("\n")[1]).toBe("0b012c01 0b000001 10001 100 1 2000000001 1 2")
  })

  test.each([
    ["0b000001 1 1 1 1 1 1 1", '1:10: destination host: found "1", expected eight hexadecimal digits'],
    ["0c000001 0b000101 1 1 1 1 1 1", '1:1: source host: found "0c000001", expected an address 0bxxxx01'],
    [
      "1 2 1 1 1 1 1 1\n0b000001",
      '2:1: source host: found "0b000001", expected a whole number 0..65535; the first line',
    ],
    ["0b000001 0b000101 10000 100 5000 2000000000 45", "1:47: standalone fct: found nothing, expected a whole number"],
    ["0b000001 0b000101 70000", '1:19: sport: found "70000", expected a whole number 0..65535'],
  ])("%j", (text, message) => {
    expect(messageOf(() => parseFct(text, "f"))).toContain(`f:${message}`)
  })
})

describe("the time a flow takes alone", () => {
  const path = [
    { delayNs: 1000, rateBps: 100e9 },
    { delayNs: 1000, rateBps: 100e9 },
  ]

  test("is the simulator's", () => {
    expect(baseRttNs(path)).toBe(4160)
    expect(standaloneFctNs(4160, 5000, 100e9)).toBe(4579)
    const fcts = parseFct(octetsOf("incast16/hpcc.fct.txt"), "f")
    for (let i = 0; i < fcts.count; i++) {
      expect(standaloneFctNs(4160, fcts.sizeBytes[i]!, 100e9)).toBe(fcts.standaloneFctNs[i])
    }
  })

  test("on fat320 too: only the two path lengths of a fat tree appear", () => {
    const fcts = parseFct(octetsOf("fat320-fbhdp/hpcc.fct.txt.gz"), "f")
    const rtts = new Set<number>()
    for (let i = 0; i < fcts.count; i++) {
      rtts.add(fcts.standaloneFctNs[i]! - standaloneFctNs(0, fcts.sizeBytes[i]!, 100e9))
    }
    const between = { delayNs: 1000, rateBps: 400e9 }
    const [edge] = path
    const rttOf = (hops: number) => baseRttNs([edge!, ...Array.from({ length: hops }, () => between), edge!])
    expect([...rtts].sort((a, b) => a - b)).toEqual([rttOf(0), rttOf(2), rttOf(4)])
  })

  test("empty and huge flows take what they should", () => {
    expect(standaloneFctNs(4160, 0, 100e9)).toBe(4160)
    const bytes = 8n * 1024n ** 3n
    const octets = bytes + ((bytes + 999n) / 1000n) * 48n
    expect(standaloneFctNs(0, Number(bytes), 100e9)).toBe(Number((octets * 8_000_000_000n) / 100_000_000_000n))
  })

  test("a slowdown is at least one", () => {
    expect([slowdown(4536, 4579), slowdown(9158, 4579), slowdown(0, 0)]).toEqual([1, 2, 1])
  })
})

test("addresses name nodes, and links", () => {
  expect([nodeIp(0), nodeIp(1), nodeIp(256), nodeIp(65535)]).toEqual([0x0b000001, 0x0b000101, 0x0b010001, 0x0bffff01])
  expect(linkIp(7, 1)).toBe(0x0a010802)
  expect(linkIp(254, 0)).toBe(0x0a020101)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 65535 }), (node) => {
      expect(nodeOfIp(nodeIp(node))).toBe(node)
      expect(isNodeIp(nodeIp(node))).toBe(true)
      expect(isNodeIp(nodeIp(node) + 1)).toBe(false)
    }),
  )
})

test("format, then parse: the same flows", () => {
  const node = fc.integer({ min: 0, max: 65535 })
  const whole = fc.maxSafeNat()
  const line = fc.tuple(node, node, node, node, whole, whole, whole, whole)
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), fc.constantFrom("ip" as const, "node" as const), (lines, form) => {
      const fcts = parseFct(lines.map((each) => formatFctLine(...each)).join(""), "f")
      const { form: _, ...again } = parseFct(formatFct(fcts, form), "f")
      expect(fcts).toMatchObject(again)
      expect(fcts.count).toBe(lines.length)
    }),
    { numRuns: 50 },
  )
})

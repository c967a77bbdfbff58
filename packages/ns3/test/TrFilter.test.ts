import { describe, expect, test } from "vitest"
import { formatRecord, parseTrFilter, readTr } from "../src/index.ts"
import { messageOf } from "./faults.ts"
import { octetsOf } from "./testdata.ts"

const octets = octetsOf("tiny/hpcc.tr")

const linesOf = (expression: string): ReadonlyArray<string> => {
  const filter = parseTrFilter(expression)
  const lines: Array<string> = []
  readTr(octets, "t", (record) => {
    if (filter(record)) lines.push(formatRecord(record))
  })
  return lines
}
const countOf = (expression: string): number => linesOf(expression).length

describe("fields", () => {
  test("one of each comparison", () => {
    expect(countOf("node=2")).toBe(30)
    expect(countOf("node!=2")).toBe(25)
    expect(countOf("time < 2000001087")).toBe(5)
    expect(countOf("time<=2000001087")).toBe(8)
    expect(countOf("time>2000004449")).toBe(1)
    expect(countOf(" time >= 2000004449 ")).toBe(2)
    expect(countOf("l3Prot=0xfc&event=0&nodeType=0&ecn=0&intf=1&qidx=0&qlen=0")).toBe(5)
    expect(countOf("data.seq=1000&l3Prot=17")).toBe(5)
    expect(countOf("sip=0x0b000101&size=88")).toBe(30)
  })

  test("a field is an offset, whatever the packet: kept from the original", () => {
    expect(countOf("data.sport=100")).toBe(countOf("ack.sport=100"))
    expect(countOf("data.sport=100")).toBe(30)
  })
})

describe("shorthands", () => {
  test("flow, rflow and biflow", () => {
    expect(countOf("flow=0x0b000001,0x0b000101,10000,100")).toBe(25)
    expect(countOf("rflow=0x0b000001,0x0b000101,10000,100")).toBe(30)
    expect(countOf("biflow=0x0b000001,184549633,10000,100")).toBe(55)
    expect(countOf("flow=0x0b000101,0x0b000001,100,10000")).toBe(30)
    expect(countOf("flow=0x0b000001,0x0b000101,10000,101")).toBe(0)
  })

  test("queue", () => {
    expect(linesOf("queue=2,2,3")).toEqual(linesOf("node=2&intf=2&qidx=3"))
    expect(countOf("queue=2,2,3")).toBe(10)
  })
})

describe("operators", () => {
  const both = (left: string, right: string) => countOf(`(${left})&(${right})`)

  test("neither binds tighter: everything to the right is the right side", () => {
    expect(countOf("node=0&node=1|node=2")).toBe(both("node=0", "node=1|node=2"))
    expect(countOf("node=0&node=1|node=2")).toBe(0)
    expect(countOf("(node=0&node=1)|node=2")).toBe(30)
    expect(countOf("node=2|node=0&node=1")).toBe(30)
    expect(countOf("(node=2|node=0)&node=1")).toBe(0)
    expect(countOf("node=0|node=1|node=2")).toBe(55)
    expect(countOf(" ( ( node = 0 ) ) | ( node = 1 )")).toBe(25)
  })
})

describe("errors point at the column", () => {
  test.each([
    ["", '1:1: field: found nothing, expected a field or "("'],
    ["nod=1", '1:1: field: found "nod", expected one of time node'],
    ["nod=1", "; did you mean node?"],
    ["node 1", '1:6: operator: found "1", expected = != < <= > or >='],
    ["node==1", '1:6: node: found "=", expected a whole number 0..65535, decimal or 0x…'],
    ["node=65536", '1:6: node: found "65536", expected a whole number 0..65535'],
    ["intf=256", '1:6: intf: found "256", expected a whole number 0..255'],
    [
      "sip=0b000101",
      '1:5: sip: found "0b000101", expected a whole number 0..4294967295, decimal or 0x…; did you mean 0x',
    ],
    ["node=010", '1:6: node: found "010"'],
    ["node=010", "the original reads a leading zero as octal: leave it out"],
    ["node=1&", '1:8: field: found nothing, expected a field or "("'],
    ["node=1 node=2", '1:8: operator: found "node", expected "&", "|" or the end'],
    ["(node=1", '1:8: filter: found nothing, expected the ")" for the "(" at column 1'],
    ["node=1)", '1:7: filter: found ")", expected "&", "|" or the end; this ")" closes nothing'],
    ["()", '1:2: field: found ")", expected a field or "("'],
    ["flow>1,2,3,4", '1:5: operator: found ">", expected "=" after flow'],
    ["flow=1,2,3", '1:11: flow: found nothing, expected "," and the dport: flow=sip,dip,sport,dport'],
    ["queue=1,2,256", '1:11: queue qidx: found "256", expected a whole number 0..255'],
    ["node=1&&node=2", '1:8: field: found "&", expected a field or "("'],
    ["(".repeat(300), "1:258: filter: found"],
  ])("%j", (expression, message) => {
    expect(messageOf(() => parseTrFilter(expression))).toContain(message)
  })

  test("long chains are fine", () => {
    expect(countOf(Array.from({ length: 2000 }, () => "node=0").join("|"))).toBe(countOf("node=0"))
  })
})

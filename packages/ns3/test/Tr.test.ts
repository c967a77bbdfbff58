import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  compareTr,
  encodeTrHeader,
  formatRecord,
  parseTopology,
  readTr,
  TrComparer,
  type TrHeader,
  TrReader,
  type TrRecord,
  TrWriter,
  trHeaderOf,
  trProtocols,
} from "../src/index.ts"
import { messageOf } from "./faults.ts"
import { octetsOf, textOf } from "./testdata.ts"

const traces = ["hpcc", "dcqcn", "timely"].map((name) => `tiny/${name}.tr`)
const HEADER_OCTETS = 52

const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const octets = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    octets.set(chunk, at)
    at += chunk.length
  }
  return octets
}

/** A trace written from the fields of another. */
const rewritten = (octets: Uint8Array): Uint8Array => {
  const chunks: Array<Uint8Array> = []
  let writer: TrWriter | undefined
  const reader = new TrReader("a")
  const write = (r: TrRecord): void => {
    writer ??= new TrWriter(reader.header!, (chunk) => chunks.push(chunk))
    if (r.l3Prot === trProtocols.data) {
      writer.data(
        ...([r.time, r.node, r.intf, r.qidx, r.qlen, r.sip, r.dip, r.size, r.event, r.ecn, r.nodeType] as const),
        ...([r.sport, r.dport, r.dataSeq, r.dataTs, r.dataPg, r.payload] as const),
      )
    } else {
      writer.ack(
        ...([r.time, r.node, r.intf, r.qidx, r.qlen, r.sip, r.dip, r.size, r.event, r.ecn, r.nodeType] as const),
        ...([r.sport, r.dport, r.ackFlags, r.ackPg, r.ackSeq, r.ackTs, r.l3Prot === trProtocols.nack] as const),
      )
    }
  }
  reader.push(octets, write)
  reader.end()
  writer!.flush()
  return joined(chunks)
}

describe("the simulator's traces", () => {
  test.each(["hpcc", "timely"])("%s prints as its reader prints it", (name) => {
    const lines: Array<string> = []
    readTr(octetsOf(`tiny/${name}.tr`), name, (record) => lines.push(formatRecord(record)))
    expect(`${lines.join("\n")}\n`).toBe(textOf(`tiny/${name}.tr.txt`))
  })

  test.each(traces)("%s: the header is that of its topology", (path) => {
    const octets = octetsOf(path)
    const header = readTr(octets, path, () => {})
    const expected = trHeaderOf(parseTopology(textOf("tiny/topology.txt"), "t"), 52000)
    expect(header).toEqual(expected)
    expect(encodeTrHeader(expected)).toEqual(octets.slice(0, HEADER_OCTETS))
  })

  test.each(traces)("%s: written again it differs in garbage only", (path) => {
    const octets = octetsOf(path)
    const again = rewritten(octets)
    expect(again.length).toBe(octets.length)
    expect(again).not.toEqual(octets)
    expect(compareTr(octets, again)).toEqual({
      same: true,
      header: [],
      countA: 55,
      countB: 55,
      identical: 55,
      differing: 0,
      first: undefined,
    })
    // Which octets are garbage, seen in the data: these and no others differ.
    for (let at = HEADER_OCTETS; at < octets.length; at++) {
      if (octets[at] === again[at]) continue
      const record = at - ((at - HEADER_OCTETS) % 56)
      const garbage = octets[record + 26] === trProtocols.data ? [30, 31, 52, 53, 54, 55] : [30, 31, 44, 45, 46, 47]
      expect(garbage).toContain(at - record)
    }
  })

  test("chunks of any size give the same records", () => {
    const octets = octetsOf("tiny/hpcc.tr")
    const whole: Array<string> = []
    readTr(octets, "t", (record) => whole.push(formatRecord(record)))
    for (const size of [1, 7, 56, 57, 1000]) {
      const reader = new TrReader("t")
      const lines: Array<string> = []
      for (let at = 0; at < octets.length; at += size) {
        reader.push(octets.subarray(at, at + size), (record, index) => {
          expect(index).toBe(lines.length)
          lines.push(formatRecord(record))
        })
      }
      expect(reader.end().windowBytes).toBe(52000)
      expect(lines).toEqual(whole)
    }
  })
})

describe("what is no trace is refused with its offset", () => {
  const damaged = (at: number, value: number) => {
    const octets = octetsOf("tiny/hpcc.tr").slice()
    octets[at] = value
    return () => readTr(octets, "x.tr", () => {})
  }
  const cut = (length: number) => () => readTr(octetsOf("tiny/hpcc.tr").subarray(0, length), "x.tr", () => {})

  test.each([
    [
      damaged(52 + 56 + 26, 0x12),
      'x.tr@134: record 1 l3Prot: found "0x12", expected 0x0, 0x6, 0x11 or 0xfc..0xff; the',
    ],
    [damaged(52 + 27, 4), 'x.tr@79: record 0 event: found "4", expected 0..3'],
    [damaged(52 + 29, 2), 'x.tr@81: record 0 nodeType: found "2", expected 0 or 1'],
    [damaged(52 + 56 + 3, 0), 'x.tr@108: record 1 time: found "'],
    [damaged(52 + 56 + 7, 0xff), 'x.tr@108: record 1 time: found "'],
    [damaged(6, 0), 'x.tr@4: port: found "node 2 interface 0 at 100000000000 bits/s", expected an interface from 1'],
    [damaged(0, 99), "x.tr@"],
    [cut(52 + 56 + 10), 'x.tr@108: record 1: found "10 octets", expected 56 octets; the file was cut off'],
    [cut(20), 'x.tr@15: header: found "5 octets", expected 11 octets; the file was cut off'],
    [cut(0), "x.tr@0: header: found nothing, expected 4 octets; the file was cut off"],
  ])("%#", (read, message) => {
    expect(messageOf(read)).toContain(message)
  })

  test("a trace without records is one", () => {
    expect(readTr(octetsOf("tiny/hpcc.tr").subarray(0, HEADER_OCTETS), "t", () => {}).ports.length).toBe(4)
  })
})

describe("comparing", () => {
  test("the first record that differs is told field by field", () => {
    const a = octetsOf("tiny/hpcc.tr")
    const b = octetsOf("tiny/dcqcn.tr")
    const comparison = compareTr(a, b)
    expect(comparison).toMatchObject({ same: false, header: [], countA: 55, countB: 55, identical: 0, differing: 55 })
    expect(comparison.first).toEqual({
      index: 0,
      fields: [{ field: "size", a: 1090, b: 1048 }],
      a: "2000000000 n:0 1:3 0 Dequ ecn:0 0b000001 0b000101 10000 100 U 0 0 3 1090(1000)",
      b: "2000000000 n:0 1:3 0 Dequ ecn:0 0b000001 0b000101 10000 100 U 0 0 3 1048(1000)",
    })
  })

  test("missing records and headers in another order", () => {
    const a = octetsOf("tiny/hpcc.tr")
    const rest = "2000004536 n:0 1:0 0 Recv ecn:0 0b000101 0b000001 100 10000 A 0x00 3 5000 0 88"
    expect(compareTr(a, a.subarray(0, a.length - 56))).toMatchObject({ same: false, identical: 54, countB: 54, rest })
    expect(compareTr(a.subarray(0, a.length - 56), a)).toMatchObject({ same: false, identical: 54, countA: 54, rest })
    const { ports } = readTr(a, "a", () => {})
    const withHeader = (header: TrHeader) => joined([encodeTrHeader(header), a.subarray(HEADER_OCTETS)])
    expect(compareTr(a, withHeader({ ports: ports.toReversed(), windowBytes: 52000 })).same).toBe(true)
    const other = [{ node: 7, intf: 1, bps: 1 }, ...ports.slice(1)]
    expect(compareTr(a, withHeader({ ports: other, windowBytes: 1 })).header).toEqual([
      "window: 52000 and 1 bytes",
      "port 2.1: 100000000000 and no bits/s",
      "port 7.1: no and 1 bits/s",
    ])
  })

  test("chunks of any size, from either side first, give the same comparison", () => {
    const a = octetsOf("tiny/hpcc.tr")
    const b = a.slice(0, a.length - 5 * 56)
    b[HEADER_OCTETS + 20 * 56 + 12] = 1
    const whole = compareTr(a, b)
    expect(whole).toMatchObject({ countA: 55, countB: 50, identical: 49, differing: 1, first: { index: 20 } })
    const turns = fc.array(fc.record({ side: fc.constantFrom("a", "b"), size: fc.integer({ min: 1, max: 900 }) }))
    fc.assert(
      fc.property(turns, (steps) => {
        const comparer = new TrComparer("a", "b")
        const traces = { a, b }
        const at = { a: 0, b: 0 }
        for (const { side, size } of [
          ...steps,
          { side: "b", size: a.length },
          { side: "a", size: a.length },
        ] as const) {
          comparer.push(side, traces[side].subarray(at[side], at[side] + size))
          at[side] += size
        }
        expect(comparer.end()).toEqual(whole)
      }),
    )
  })
})

describe("writing", () => {
  const header = { ports: [], windowBytes: 1 }

  test("every kind of record is read back and printed", () => {
    const chunks: Array<Uint8Array> = []
    const writer = new TrWriter(header, (chunk) => chunks.push(chunk))
    writer.pfc(2000006292, 17, 8, 0, 0, 0x0a010802, 0xffffffff, 43, 1, 0, 1, 5, 0, 3)
    writer.ack(2 ** 52, 1, 1, 0, 0, 1, 2, 60, 3, 3, 0, 100, 10000, 1, 3, 0xffffffff, 2 ** 52, true)
    writer.cnp(2 ** 52, 1, 1, 0, 7, 1, 2, 60, 1, 0, 0, 10000, 3, 2, 65537)
    writer.qp(2 ** 52, 1, 1, 3, 0x0b000001, 0x0b000101, 2, 0, 10000, 100)
    writer.flush()
    const lines: Array<string> = []
    readTr(joined(chunks), "t", (record) => lines.push(formatRecord(record)))
    expect(lines).toEqual([
      "2000006292 n:17 8:0 0 Enqu ecn:0 0a010802 ffffffff P 5 0 3 43",
      "4503599627370496 n:1 1:0 0 Drop ecn:3 00000001 00000002 100 10000 N 0x01 3 4294967295 4503599627370496 60",
      "4503599627370496 n:1 1:0 7 Enqu ecn:0 00000001 00000002 C 10000 3 2 65537 60",
      "4503599627370496 n:1 1:3 Dequ 0b000001 0b000101 10000 100",
    ])
  })

  test("long traces leave in chunks that stay as they were", () => {
    const chunks: Array<Uint8Array> = []
    const writer = new TrWriter(header, (chunk) => chunks.push(chunk))
    for (let time = 0; time < 5000; time++) writer.qp(time, 1, 1, 3, 1, 2, 2, 0, 3, 4)
    writer.flush()
    writer.flush()
    expect(chunks.length).toBeGreaterThan(4)
    expect(writer.count).toBe(5000)
    let last = -1
    readTr(joined(chunks), "t", (record, index) => {
      expect(record.time).toBe(index)
      last = index
    })
    expect(last).toBe(4999)
  })

  test("write, then read: the same fields", () => {
    const u8 = fc.integer({ min: 0, max: 0xff })
    const u16 = fc.integer({ min: 0, max: 0xffff })
    const u32 = fc.integer({ min: 0, max: 0xffffffff })
    const event = fc.integer({ min: 0, max: 3 })
    const bit = fc.integer({ min: 0, max: 1 })
    const packet = fc.tuple(fc.maxSafeNat(), u16, u8, u8, u32, u32, u32, u16, event, u8, bit)
    const data = fc.tuple(u16, u16, u32, fc.maxSafeNat(), u16, u16)
    fc.assert(
      fc.property(packet, data, (head, tail) => {
        const chunks: Array<Uint8Array> = []
        const writer = new TrWriter(header, (chunk) => chunks.push(chunk))
        writer.data(...head, ...tail)
        writer.flush()
        readTr(joined(chunks), "t", (r) => {
          const fields = [r.time, r.node, r.intf, r.qidx, r.qlen, r.sip, r.dip, r.size, r.event, r.ecn, r.nodeType]
          expect(fields).toEqual(head)
          expect([r.sport, r.dport, r.dataSeq, r.dataTs, r.dataPg, r.payload]).toEqual(tail)
        })
      }),
    )
  })
})

import { chainCaptures, compareTimes, mergeCaptures, readCapture, rotatedSet } from "@rdmakit/pcap"
import { describe, expect, test } from "vitest"
import {
  block,
  captureOf,
  enhancedPacket,
  interfaceBlock,
  join,
  option,
  order,
  packetsOf,
  pcapHeader,
  pcapPacket,
  recordsOf,
  sectionHeader,
} from "./octets.ts"

const o = order(true)
const data = Uint8Array.of(1)

/** A capture with packets at these times, in nanoseconds, kept in the resolution of 2^-bits or 10^-digits. */
const capture = (code: number, ...ticks: ReadonlyArray<bigint>): Uint8Array =>
  join(
    sectionHeader(o),
    interfaceBlock(o, 0, option(o, 9, Uint8Array.of(code))),
    ...ticks.map((each) => enhancedPacket(o, 0, each, data)),
  )

const merged = async (...files: ReadonlyArray<Uint8Array>): Promise<Array<string>> => {
  const out: Array<string> = []
  for await (const { source, record } of mergeCaptures(files.map((file) => readCapture([file])))) {
    out.push(record.kind === "packet" ? `${source}:${record.timeNs ?? "none"}` : `${source}:${record.kind}`)
  }
  return out
}

describe("merging", () => {
  test("goes by time, whatever the resolution; of equal times the first capture comes first", async () => {
    const seconds = capture(0, 1n, 2n, 2n)
    const halves = capture(0x81, 1n, 2n, 5n)
    const pcap = join(pcapHeader(o, 0xa1b23c4d), pcapPacket(o, 2, 0, data), pcapPacket(o, 2, 500000001, data))
    expect((await merged(seconds, halves, pcap)).filter((each) => /\d$/.test(each))).toEqual([
      "1:500000000",
      "0:1000000000",
      "1:1000000000",
      "0:2000000000",
      "0:2000000000",
      "2:2000000000",
      "1:2500000000",
      "2:2500000001",
    ])
  })

  test("headers come first, and what has no time goes with the packet before it", async () => {
    const simple = join(
      capture(0, 5n),
      block(o, 3, o.u32(1), Uint8Array.of(1, 0, 0, 0)),
      enhancedPacket(o, 0, 6n, data),
    )
    expect(await merged(simple, capture(0, 4n, 5n))).toEqual([
      "0:section",
      "0:interface",
      "1:section",
      "1:interface",
      "1:4000000000",
      "0:5000000000",
      "0:none",
      "1:5000000000",
      "0:6000000000",
    ])
  })

  test("many captures", async () => {
    const files = Array.from({ length: 37 }, (_, index) =>
      capture(9, ...Array.from({ length: 20 }, (_, packet) => BigInt(packet * 100 + ((index * 31) % 97)))),
    )
    const times = (await merged(...files)).filter((each) => /\d$/.test(each)).map((each) => Number(each.split(":")[1]))
    expect(times).toHaveLength(37 * 20)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test("an error in one capture is its own, and the others are closed", async () => {
    let closed = false
    async function* open() {
      try {
        yield* readCapture([capture(0, 1n, 2n, 3n)])
      } finally {
        closed = true
      }
    }
    const cut = readCapture([capture(0, 1n, 2n).subarray(0, 90)], { file: "cut" })
    const read = async (): Promise<void> => {
      for await (const _ of mergeCaptures([open(), cut]));
    }
    await expect(read()).rejects.toMatchObject({ reason: "truncated", file: "cut" })
    expect(closed).toBe(true)
  })

  test("a capture split in two and merged is in the order of the whole", async () => {
    const octets = captureOf("lossy_rc_send_v4")
    const packets = packetsOf(recordsOf(octets))
    const parts = [0, 1].map((side) =>
      join(
        octets.subarray(0, 24),
        ...packets
          .filter(({ frame }) => frame % 2 === side)
          .map(({ offset, capturedOctets }) => octets.subarray(offset, offset + 16 + capturedOctets)),
      ),
    )
    const times = (await merged(...parts)).filter((each) => /\d$/.test(each)).map((each) => BigInt(each.split(":")[1]!))
    expect(times).toEqual(packets.map(({ timeNs }) => timeNs).toSorted((a, b) => (a! < b! ? -1 : 1)))
  })

  test("chaining keeps the files in their order", async () => {
    const out: Array<number> = []
    for await (const { source, record } of chainCaptures([
      readCapture([capture(0, 9n)]),
      readCapture([capture(0, 1n)]),
    ])) {
      if (record.kind === "packet") out.push(source)
    }
    expect(out).toEqual([0, 1])
  })
})

test("times are compared exactly", () => {
  const [a] = packetsOf(recordsOf(capture(0x80 | 40, (1n << 60n) + 1n)))
  const [b] = packetsOf(recordsOf(capture(12, ((1n << 60n) * 10n ** 12n) >> 40n)))
  expect(compareTimes(a!, b!)).toBe(1)
  expect(compareTimes(b!, a!)).toBe(-1)
  expect(compareTimes(a!, a!)).toBe(0)
  // A fraction of a second and more: 1 s + 1,500,000 us is after 2 s.
  const [odd, two] = packetsOf(
    recordsOf(join(pcapHeader(o, 0xa1b2c3d4), pcapPacket(o, 1, 1_500_000, data), pcapPacket(o, 2, 0, data))),
  )
  expect(compareTimes(odd!, two!)).toBe(1)
})

describe("rotated sets", () => {
  test.each([
    [
      "dumpcap",
      "x_00002_20260101000001.pcapng",
      ["x_00001_20260101000000.pcapng", "x_00002_20260101000001.pcapng", "x_00010_20260101000009.pcapng.gz"],
      ["y_00001_20260101000000.pcapng", "x.pcapng"],
    ],
    ["tcpdump -C", "t.pcap", ["t.pcap", "t.pcap1", "t.pcap2", "t.pcap10"], ["t.pcapng", "tt.pcap1", "t.pcap.txt"]],
    ["tcpdump -C -W", "t.pcap01", ["t.pcap00", "t.pcap01", "t.pcap02.zst"], ["t.log00"]],
    ["one file", "notes", ["notes"], ["notes1"]],
  ])("of %s", (_, name, members, others) => {
    expect(rotatedSet(name, [...others, ...members.toReversed()])).toEqual(members)
  })
})

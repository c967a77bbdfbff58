import { expect, test } from "vitest"
import { figures } from "../claims/index.ts"
import { evaluate, tallyOf } from "../src/Evaluation.ts"
import { runFigures } from "../src/Jobs.ts"
import { besidePayload, packetsOf, wireFormats } from "../src/Octets.ts"
import { claimsPage } from "../src/Page.ts"
import { claimsJson } from "../src/tables.ts"

const FULL = 1 << 16

test.each(wireFormats)("%s: packets carry the message, whole", (format) => {
  for (const [bytes, mtu] of [
    [0, 1500],
    [1, 1500],
    [1024, 1500],
    [1441, 1500],
    [FULL, 1500],
    [FULL, 4200],
    [FULL + 3, 9000],
  ] as const) {
    const packets = packetsOf(format, bytes, mtu)
    const carried = packets.flat().reduce((sum, { name, octets }) => sum + (name === "payload" ? octets : 0), 0)
    expect(carried, `${bytes} in ${mtu}`).toBe(bytes)
    for (const parts of packets) {
      const frame = parts.filter(({ name }) => name !== "preamble" && name !== "gap")
      const octets = frame.reduce((sum, each) => sum + each.octets, 0)
      // Beside the link's own header and CRC an Ethernet frame has at most its MTU.
      if (format !== "infiniband") expect(octets - 18).toBeLessThanOrEqual(mtu)
      if (format !== "infiniband") expect(octets).toBeGreaterThanOrEqual(64)
      expect(parts.every((each) => each.octets > 0 && each.name !== "raw")).toBe(true)
    }
  }
})

test("a full segment of iWARP leaves no octet of TCP's unused but what alignment takes", () => {
  for (const [mtu, payload] of [
    [1500, 1440],
    [1499, 1436],
    [9000, 8940],
  ] as const) {
    const [first] = packetsOf("iwarp", FULL, mtu)
    expect(first!.find(({ name }) => name === "payload")!.octets).toBe(payload)
  }
})

test("beside a payload of 1 KiB RoCEv2 has 98 octets on the line, RETH and preamble included", () => {
  expect(besidePayload(packetsOf("rocev2", 1024, 1500), "line")).toBe(98)
  expect(besidePayload(packetsOf("rocev2", 2048, 1500), "line")).toBe(98 + 82)
  expect(besidePayload(packetsOf("rocev2", 2048, 1500), "frame")).toBe(98 + 82 - 40)
  // Padding to four octets.
  expect(besidePayload(packetsOf("rocev2", 1021, 1500), "frame")).toBe(78 + 3)
})

test("the figures hold, and are in the page and in its data", async () => {
  const own = figures.filter(({ octets }) => octets !== undefined)
  const measured = await runFigures(own, { scale: "quick", workers: 0, worker: new URL("file:///none") })
  const evaluated = evaluate(
    own.map((figure) => ({ figure, claims: figure.claims })),
    measured,
    "quick",
  )
  const tally = tallyOf(evaluated)
  expect(tally).toMatchObject({ numbers: 10, within: 9, shapeOnly: 1, pairs: 40, reversed: 0 })
  const page = claimsPage(evaluated, tally, "quick")
  expect(page).toContain('aria-label="A WRITE of 64 bytes: InfiniBand 106 octets, RoCEv1 174 octets, RoCEv2 162 octets')
  expect(page).toContain('aria-label="Octets that are no payload, by message size"')
  const [figure] = claimsJson(evaluated, tally, "quick").figures
  const { formats } = figure as unknown as { readonly formats: ReadonlyArray<{ readonly overheadBySize: unknown }> }
  expect(formats).toHaveLength(4)
  expect(formats[2]!.overheadBySize).toContainEqual({ messageBytes: 1024, share: 98 / (98 + 1024) })
})

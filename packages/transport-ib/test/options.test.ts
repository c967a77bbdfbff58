import { Ecn } from "@rdmakit/packet"
import { NEVER } from "@rdmakit/protocol"
import { serializationPs } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { ns3Framing, type RcOptions, RcOptionsError, rcConfig, rocev2Framing } from "../src/index.ts"
import { connection, fixedController } from "./connection.ts"

const controller = fixedController({})

describe("options of a reliable connection", () => {
  it("have defaults", () => {
    expect(rcConfig({ controller })).toEqual({
      mtuBytes: 1024,
      framing: rocev2Framing("none", 5),
      controller,
      telemetry: false,
      ackEvery: 1,
      nakIntervalPs: NEVER,
      ackDuplicates: true,
      recovery: "go-back-n",
      reorderPackets: 2048,
      ackTimeoutHighPs: 320e6,
      ackTimeoutFewPackets: 3,
      ackTimeoutPs: 67_108_864_000,
      retryCount: 7,
      ecn: Ecn.NotCapable,
      pacePs: serializationPs,
      repace: true,
      rateBound: true,
    })
  })

  it("follow what the controller needs", () => {
    const hpcc = rcConfig({ controller: fixedController({ needs: ["int"] }) })
    expect([hpcc.telemetry, hpcc.framing, hpcc.ecn]).toEqual([true, rocev2Framing("int", 5), Ecn.NotCapable])
    for (const need of ["ecn", "cnp"] as const) {
      expect(rcConfig({ controller: fixedController({ needs: [need] }) }).ecn).toBe(Ecn.Capable0)
    }
    expect(
      rcConfig({ controller: fixedController({ needs: ["int", "ecn"] }), telemetry: false, ecn: 0 }),
    ).toMatchObject({
      telemetry: false,
      ecn: 0,
    })
  })

  it.each<readonly [keyof RcOptions, number]>([
    ["mtuBytes", 0],
    ["mtuBytes", 1000.5],
    ["mtuBytes", Number.NaN],
    ["ackEvery", 0],
    ["ns3AckBytes", -1],
    ["ns3AckChunkBytes", 0.5],
    ["nakIntervalPs", -1],
    ["nakIntervalPs", Number.NaN],
    ["ackTimeoutPs", 0],
    ["ackTimeoutPs", Number.NaN],
    ["retryCount", -1],
    ["ecn", 4],
    ["bdpPackets", 0],
    ["bdpPackets", 2049],
    ["reorderPackets", 0],
    ["reorderPackets", 2 ** 20 + 1],
    ["ackTimeoutHighPs", 0],
    ["ackTimeoutFewPackets", -1],
    ["restartBytes", 4096],
  ])("refuse %s %d", (option, value) => {
    const make = () => rcConfig({ controller, [option]: value })
    expect(make).toThrow(RcOptionsError)
    expect(make).toThrow(expect.objectContaining({ _tag: "RcOptionsError", option, value }))
  })

  it.each([0, 1000, 1536])("refuse to begin again in parts of %d bytes, which are no whole packets", (restartBytes) => {
    expect(() => rcConfig({ controller, recovery: "go-back-0", restartBytes })).toThrow(/a multiple of mtuBytes, 1024/)
    expect(rcConfig({ controller, recovery: "go-back-0", restartBytes: 2048 })).toMatchObject({ restartBytes: 2048 })
  })

  it.each([-1, 0.5, Number.NaN, Infinity, 2 ** 53])("refuse a message of %d bytes", (writeBytes) => {
    const { requester } = connection()
    expect(() => requester.command(0, { message: 0, writeBytes })).toThrow(RcOptionsError)
    expect([requester.hasData, requester.pollEvent()]).toEqual([false, undefined])
  })
})

describe("framings", () => {
  // facts of the model, by its packets on the wire.
  it.each([
    ["int", 1090, 88],
    ["stamp", 1056, 60],
    ["none", 1048, 60],
  ] as const)("of the ns-3 model with %s: a full packet is %d bytes, an acknowledgement %d", (kind, data, ack) => {
    const { dataBytes, telemetryBytes, ackBytes, pfcBytes, leastBytes } = ns3Framing(kind)
    expect([1000 + dataBytes + telemetryBytes, ackBytes, pfcBytes, leastBytes]).toEqual([data, ack, 43, 0])
  })

  it("of RoCEv2 count every octet a link is busy with", () => {
    const { dataBytes, telemetryBytes, ackBytes, cnpBytes, pfcBytes, leastBytes } = rocev2Framing("int", 5)
    expect([dataBytes, telemetryBytes, ackBytes, cnpBytes, pfcBytes, leastBytes]).toEqual([82, 42, 128, 98, 84, 84])
    expect(rocev2Framing("stamp", 5)).toMatchObject({ telemetryBytes: 0, ackBytes: 86 })
  })
})

import { Opcode } from "@rdmakit/packet"
import { DDP_TAGGED_BYTES } from "@rdmakit/wire/ddp"
import { ETHERNET_BYTES } from "@rdmakit/wire/ethernet"
import { IPV4_BYTES } from "@rdmakit/wire/ipv4"
import { fpduBytes } from "@rdmakit/wire/mpa"
import { TCP_BYTES } from "@rdmakit/wire/tcp"
import { UDP_BYTES } from "@rdmakit/wire/udp"
import { VXLAN_BYTES as VXLAN_HEADER } from "@rdmakit/wire/vxlan"
import { describe, expect, it } from "vitest"
import { type ErdmaOptions, erdmaFlows } from "../src/index.ts"
import { connect, fixedWindow } from "./connection.ts"

const FCS = 4
const PREAMBLE_AND_GAP = 20
const TIME_STAMPS = 12

/** A frame of eRDMA as the headers add up, by the sizes that the codecs of the wire have. */
const frameBytes = (payload: number, overlay: boolean): number => {
  const ip = IPV4_BYTES + TCP_BYTES + TIME_STAMPS + fpduBytes(DDP_TAGGED_BYTES + payload)
  const tunnel = overlay ? ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + VXLAN_HEADER : 0
  return PREAMBLE_AND_GAP + tunnel + ETHERNET_BYTES + ip + FCS
}

/** The data packets of messages of these sizes: payload and bytes on the wire of each. */
const packetsOf = (sizes: ReadonlyArray<number>, options: Partial<ErdmaOptions>) => {
  const { pair } = connect({ options: { ...options, controller: fixedWindow(1e6) } })
  sizes.forEach((writeBytes, message) => {
    pair.command(0, { message, writeBytes })
  })
  pair.run()
  return pair.sent.filter(({ opcode }) => opcode < Opcode.Acknowledge)
}

describe("what a packet takes on the wire", () => {
  it.each([
    ["vxlan", 8550],
    ["vxlan", 1550],
    ["none", 1500],
  ] as const)(
    "overlay %s over an MTU of %i: the FPDU, padded, and every header around it",
    (overlay, underlayMtuBytes) => {
      const sent = packetsOf([100_000, 1001, 1002, 1003, 200], { overlay, underlayMtuBytes })
      for (const { payloadBytes, wireBytes } of sent)
        expect(wireBytes).toBe(frameBytes(payloadBytes, overlay === "vxlan"))
      const largest = Math.max(...sent.map(({ wireBytes }) => wireBytes))
      // The outer frame is the MTU below, its Ethernet header and FCS, preamble and gap: to a padding of three.
      const most = underlayMtuBytes + ETHERNET_BYTES + FCS + PREAMBLE_AND_GAP
      expect(largest).toBeLessThanOrEqual(most)
      expect(largest).toBeGreaterThan(most - 4)
    },
  )

  it("leaves a tenant with 8,500 bytes 8,428 of payload, and one with 1,500 1,428", () => {
    const mtu = (options: Partial<ErdmaOptions>) => erdmaFlows({ controller: fixedWindow(1), ...options }).mtuBytes
    expect(mtu({})).toBe(8428)
    expect(mtu({ underlayMtuBytes: 1550 })).toBe(1428)
    expect(mtu({ underlayMtuBytes: 1500 })).toBe(1376)
    expect(mtu({ underlayMtuBytes: 1500, overlay: "none" })).toBe(1428)
  })

  it("makes room for telemetry where the controller needs it, in acknowledgements too", () => {
    const controller = { ...fixedWindow(1), needs: ["int" as const] }
    const plain = erdmaFlows({ controller: fixedWindow(1) })
    const telling = erdmaFlows({ controller })
    expect([plain.telemetry, telling.telemetry]).toEqual([false, true])
    expect(telling.mtuBytes).toBe(plain.mtuBytes - 44)
    expect(telling.framing.telemetryBytes).toBe(42)
    expect(telling.framing.ackBytes).toBe(plain.framing.ackBytes + 42)
    expect(plain.framing.ackBytes).toBe(PREAMBLE_AND_GAP + 50 + ETHERNET_BYTES + 52 + FCS)
  })

  it("pads a small frame inside the tunnel to Ethernet's least", () => {
    const [small] = packetsOf([0], {})
    expect(small!.wireBytes).toBe(frameBytes(0, true))
    expect(packetsOf([0], { overlay: "none" })[0]!.wireBytes).toBeGreaterThanOrEqual(84)
  })
})

describe("options", () => {
  it.each([
    ["underlayMtuBytes", { underlayMtuBytes: 500 }],
    ["underlayMtuBytes", { underlayMtuBytes: 70_000 }],
    ["overlay", { overlay: "gre" as "vxlan" }],
    ["telemetryBytes", { telemetryBytes: -1 }],
  ])("refuses a wrong %s", (option, options) => {
    let error: unknown
    try {
      erdmaFlows({ controller: fixedWindow(1), ...options })
    } catch (caught) {
      error = caught
    }
    expect(error).toMatchObject({ _tag: "ErdmaError", option })
  })
})

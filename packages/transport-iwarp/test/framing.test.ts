import { EnginePair, fixedWindow, TestMemory } from "@rdmakit/conformance"
import { Opcode, PacketPool } from "@rdmakit/packet"
import type { FlowCommand, FlowEvent } from "@rdmakit/protocol"
import { WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type IwarpFlowOptions, iwarpFlows } from "../src/index.ts"
import { endsOf } from "./flows.ts"
import { bring, engineOf, remote, sge } from "./pair.ts"

/** Preamble and gap 20, Ethernet 14 and FCS 4, IPv4 20, TCP 20 with its time stamps 12. */
const AROUND_BYTES = 20 + 18 + 20 + 32

/** Octets of the FPDUs that a queue pair of the verbs makes of a WRITE. */
const fpdusOf = (bytes: number, segmentBytes: number): ReadonlyArray<number> => {
  const engine = engineOf(0, new TestMemory(1 << 18), { segmentBytes })
  bring(engine)
  engine.attach(0, { initiator: true, crc: true, markers: false, ready: false })
  const request = { id: 1, opcode: WrOpcode.RdmaWrite, sges: [sge(0, bytes)], signaled: true, ...remote(0) }
  engine.command(0, { type: "send", request })
  const made: Array<number> = []
  for (let octets = engine.pollOctets(0); octets !== undefined; octets = engine.pollOctets(0)) made.push(octets.length)
  return made
}

/** Octets on the wire of the data packets that a flow makes of a message. */
const packetsOf = (writeBytes: number, options: Partial<IwarpFlowOptions>): ReadonlyArray<number> => {
  const ends = endsOf(0, { ...options, controller: fixedWindow(1e6) })
  const pair = new EnginePair<FlowCommand, FlowEvent>({ pool: new PacketPool(), ends })
  pair.command(0, { message: 0, writeBytes })
  pair.run()
  return pair.sent.filter(({ opcode }) => opcode < Opcode.Acknowledge).map(({ wireBytes }) => wireBytes)
}

describe("what a flow's packets take on the wire", () => {
  it.each([576, 1500, 9000])(
    "IP packets of %i: the octets that a queue pair's engine makes, in TCP's headers",
    (ipMtuBytes) => {
      const { mtuBytes, framing } = iwarpFlows({ controller: fixedWindow(1), ipMtuBytes })
      for (const bytes of [0, 1, 2, 3, 4, 1001, mtuBytes, mtuBytes + 1, 100_000]) {
        const expected = fpdusOf(bytes, mtuBytes).map((octets) => octets + AROUND_BYTES)
        expect(packetsOf(bytes, { ipMtuBytes }), `${bytes} bytes`).toEqual(expected)
      }
      // A full packet is as long as the MTU and what is around IP's, to a padding of three.
      const full = mtuBytes + framing.dataBytes
      expect(full).toBeLessThanOrEqual(ipMtuBytes + 38)
      expect(full).toBeGreaterThan(ipMtuBytes + 38 - 4)
    },
  )

  it("leaves 1,428 bytes of Ethernet's 1,500, and 20 more than TCP has around them", () => {
    const { mtuBytes, framing } = iwarpFlows({ controller: fixedWindow(1) })
    expect([mtuBytes, framing.dataBytes, framing.ackBytes]).toEqual([1428, 90 + 20, 90])
  })

  it("makes room for telemetry where the controller needs it, in acknowledgements too", () => {
    const controller = { ...fixedWindow(1), needs: ["int" as const] }
    const [plain, telling] = [iwarpFlows({ controller: fixedWindow(1) }), iwarpFlows({ controller })]
    expect([plain.telemetry, telling.telemetry]).toEqual([false, true])
    expect(telling.framing.ackBytes).toBe(plain.framing.ackBytes + 42)
    expect(telling.mtuBytes).toBe(plain.mtuBytes - 44)
    expect(iwarpFlows({ controller, telemetryBytes: 0 }).mtuBytes).toBe(plain.mtuBytes)
  })
})

describe("options", () => {
  it.each([
    ["IwarpError", "ipMtuBytes", { ipMtuBytes: 500 }],
    ["IwarpError", "ipMtuBytes", { ipMtuBytes: 1500.5 }],
    ["IwarpError", "telemetryBytes", { telemetryBytes: 256 }],
    ["IwarpError", "controller", { controller: undefined }],
    ["TcpTransportError", "ackEvery", { ackEvery: 0 }],
  ])("%s of a wrong %s", (_tag, option, options) => {
    let error: unknown
    try {
      iwarpFlows({ controller: fixedWindow(1), ...(options as object) })
    } catch (caught) {
      error = caught
    }
    expect(error).toMatchObject({ _tag, option })
  })
})

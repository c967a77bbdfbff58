import fc from "fast-check"
import { emitUdp, parseUdp, UDP, type Udp } from "../../src/Udp.ts"
import { format } from "../format.ts"

const u16 = fc.integer({ min: 0, max: 0xffff })

const udp: fc.Arbitrary<Udp> = fc.record({
  sourcePort: u16,
  destinationPort: u16,
  payloadBytes: fc.integer({ min: 0, max: 65_527 }),
  checksum: u16,
})

export const formats = [
  format({ name: "udp", parse: parseUdp, emit: emitUdp, arbitrary: udp, layout: UDP, bytesMax: 8 }),
]

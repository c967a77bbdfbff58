import fc from "fast-check"
import { emitUdp, parseUdp, UDP } from "../../src/Udp.ts"
import { u16 } from "../arbitrary.ts"
import { format } from "../format.ts"

const payloadBytes = fc.integer({ min: 0, max: 65_527 })
const arbitrary = fc.record({ sourcePort: u16, destinationPort: u16, payloadBytes, checksum: u16 })

export const formats = [format({ name: "udp", parse: parseUdp, emit: emitUdp, arbitrary, layout: UDP, bytesMax: 8 })]

import type { Time } from "@rdmakit/units"
import { formatIpv4, formatIpv6 } from "@rdmakit/wire/address"
import { type ExtendedHeaders, opcodeOf, parseTransport } from "@rdmakit/wire/infiniband"
import { icrcOf, placeInEthernet, placeInIp, readIcrc } from "@rdmakit/wire/roce"
import { type Cable, Middleware } from "./Contract.ts"

const PS_PER_SECOND = 1e12

/** Seconds with nine decimals, of picoseconds. */
const seconds = (now: Time): string => {
  const ns = Math.floor(now / 1000)
  return `${Math.floor(now / PS_PER_SECOND)}.${String(ns % 1e9).padStart(9, "0")}`
}

const syndromeText = ({ aeth }: Partial<ExtendedHeaders>): string => {
  if (aeth === undefined) return ""
  const { syndrome, msn } = aeth
  if (syndrome.kind === "ack") return ` ack msn ${msn}`
  return syndrome.kind === "rnrNak" ? ` rnr ${syndrome.delayUs}us msn ${msn}` : ` nak ${syndrome.meaning} msn ${msn}`
}

const addressText = (octets: Uint8Array, header: number): string => {
  const v6 = octets[header]! >> 4 === 6
  const bytes = v6 ? 16 : 4
  const at = header + (v6 ? 8 : 12)
  const text = (from: number): string => {
    const address = octets.subarray(from, from + bytes)
    return v6 ? formatIpv6(address) : formatIpv4(new DataView(address.buffer, address.byteOffset).getUint32(0))
  }
  return `${text(at)} ${text(at + bytes)}`
}

/**
 * A packet in one line without its time: `10.0.0.1 10.0.0.2 Rc SendOnly psn 5 qp 0x11 256 bytes ackreq`, then what an
 * acknowledgement says, and `wrong icrc`. What is no RoCEv2 is told by its EtherType or IP protocol, and its length.
 */
export const describePacket = (octets: Uint8Array, start: number, end: number, layer: Cable["layer"]): string => {
  const packet = octets.subarray(start, end)
  const place = layer === "ethernet" ? placeInEthernet(packet) : placeInIp(packet)
  if (place === undefined || (place.carrier !== "ipv4" && place.carrier !== "ipv6")) return otherText(packet, layer)
  const parsed = parseTransport(packet, place.bth, place.icrc + 4)
  const addresses = addressText(packet, place.header)
  if (!parsed.ok) return `${addresses} malformed ${parsed.error.format}.${parsed.error.field} ${packet.length} bytes`
  const { bth, headers } = parsed.value
  const { service, operation } = opcodeOf(bth.opcode)!
  const bytes = parsed.payloadEnd - parsed.payloadStart
  const flags = `${bth.ackRequest ? " ackreq" : ""}${bth.solicited ? " solicited" : ""}${bth.becn ? " becn" : ""}`
  const right = icrcOf(packet, place) === readIcrc(packet, place.icrc)
  return `${addresses} ${service} ${operation} psn ${bth.psn} qp 0x${bth.destinationQp.toString(16)} ${bytes} bytes${flags}${syndromeText(headers)}${right ? "" : " wrong icrc"}`
}

const otherText = (packet: Uint8Array, layer: Cable["layer"]): string => {
  const at = layer === "ethernet" ? 12 : 0
  const type = `${(packet[at] ?? 0).toString(16).padStart(2, "0")}${(packet[at + 1] ?? 0).toString(16).padStart(2, "0")}`
  return `${layer === "ethernet" ? "type" : "first octets"} 0x${type} ${packet.length} bytes`
}

/** Tells each packet that passes a cable in one line: seconds, `>` out or `<` in, and what `describePacket` says. */
export class Tracer extends Middleware {
  private readonly write: (line: string) => void

  constructor(inner: Cable, write: (line: string) => void) {
    super(inner)
    this.write = write
  }

  protected override arrived(now: Time, octets: Uint8Array, start: number, end: number): void {
    this.write(`${seconds(now)} < ${describePacket(octets, start, end, this.layer)}`)
    super.arrived(now, octets, start, end)
  }

  override send(now: Time, octets: Uint8Array, start: number, end: number): boolean {
    this.write(`${seconds(now)} > ${describePacket(octets, start, end, this.layer)}`)
    return super.send(now, octets, start, end)
  }
}

import type { Bth } from "../Infiniband.ts"
import { BTH_BYTES, CNP, CNP_NATIVE, ICRC_BYTES, opcodeOf, parseBth, parseExtended, payloadLie } from "../Infiniband.ts"
import { MAD_PACKET_BYTES } from "../Mad.ts"
import { failed, type Parse } from "../Result.ts"
import { type Carrier, checkIcrc, type IcrcPlace, readIcrc } from "../roce/Icrc.ts"
import type { Decoder } from "./Decoder.ts"

/** What carries a transport; the carrier is undefined where no rule says what the ICRC covers. */
export interface Around {
  readonly carrier: Carrier | undefined
  readonly header: number
}

/** Management talks on queue pairs 0 (subnet management) and 1 (general services, connection management). */
const MANAGEMENT_QP_MAX = 1

/** Reads a BTH, its headers, the payload, padding and ICRC, which end at `end`. What is wrong leaves the ICRC readable. */
export const walkTransport = (decoder: Decoder, around: Around, start: number, end: number): void => {
  const { octets } = decoder
  if (end - start < BTH_BYTES + ICRC_BYTES) {
    const { error } = failed("length", "bth", "header", start, end - start, `${BTH_BYTES + ICRC_BYTES} octets at least`)
    decoder.raw(error, start, end)
    return
  }
  const icrc = end - ICRC_BYTES
  walkHeaders(decoder, around.carrier, start, icrc)
  const { carrier, header } = around
  const covers: IcrcPlace | undefined = carrier === undefined ? undefined : { carrier, header, bth: start, icrc }
  const whole = end <= octets.length
  decoder.nodes.push({
    format: "icrc",
    start: Math.min(icrc, octets.length),
    end: Math.min(end, octets.length),
    value: whole ? readIcrc(octets, icrc) : undefined,
    verdict: !whole ? "cut" : covers === undefined ? "unknown" : checkIcrc(octets, covers, decoder.crc),
    covers,
  })
}

/** A congestion notification has one code on RoCEv2 and another on native InfiniBand: the two are not equated. */
const parseOpcode = (octets: Uint8Array, start: number, end: number, carrier: Carrier | undefined): Parse<Bth> => {
  const outcome = parseBth(octets, start, end)
  const foreign = carrier === "local" || carrier === "global" ? CNP : CNP_NATIVE
  return outcome.ok && outcome.value.opcode === foreign ? failed("reserved", "bth", "opcode", start, foreign) : outcome
}

const walkHeaders = (decoder: Decoder, carrier: Carrier | undefined, start: number, icrc: number): void => {
  const { octets } = decoder
  const first = decoder.header("bth", parseOpcode(octets, start, icrc, carrier), start, icrc)
  if (first === undefined) return
  const { opcode: code, padBytes, destinationQp } = first.value
  const opcode = opcodeOf(code)!
  let at = first.payloadStart
  for (const name of opcode.headers) {
    const next = decoder.header(name, parseExtended(name, octets, at, icrc), at, icrc)
    if (next === undefined) return
    at = next.payloadStart
  }
  const payloadEnd = icrc - padBytes
  const lie = payloadLie(at, payloadEnd, opcode.payload, start + 1, padBytes)
  if (lie !== undefined) {
    decoder.raw(lie.error, at, icrc)
    return
  }
  if (destinationQp <= MANAGEMENT_QP_MAX && opcode.service === "Ud" && payloadEnd - at === MAD_PACKET_BYTES) {
    decoder.mad(at, payloadEnd)
  } else decoder.payload("transport", at, payloadEnd)
  decoder.padding("transport", payloadEnd, icrc)
}

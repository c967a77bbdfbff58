import type { Time } from "@rdmakit/protocol"
import { ERDMA_MPA_BYTES } from "@rdmakit/wire/erdma"
import { MpaHandshake } from "./MpaHandshake.ts"
import type { ErdmaParameters, MpaAgreement } from "./Parameters.ts"

const LENGTH_AT = 18

/**
 * MPA's opening frames of eRDMA where no stream of TCP is there for them: in the private data of a connection manager's
 * messages, in front of the program's own. The driver has them on a stream that its device then takes over.
 */
export class CarriedOpening {
  /** What both sides have agreed on, once they have. */
  agreement: MpaAgreement | undefined = undefined
  private readonly parameters: ErdmaParameters
  private handshake: MpaHandshake | undefined = undefined

  constructor(parameters: Omit<ErdmaParameters, "dialect">) {
    this.parameters = { dialect: "erdma", ...parameters }
  }

  /** The request's octets. @throws MpaError when there is too much private data */
  ask(now: Time, privateData: Uint8Array): Uint8Array {
    this.handshake = new MpaHandshake(now, { role: "initiator", parameters: this.parameters, privateData })
    return this.handshake.pollTransmit()!
  }

  /** A request came: its program's private data; undefined: it is none that can be agreed to. */
  take(now: Time, octets: Uint8Array): Uint8Array | undefined {
    this.handshake = new MpaHandshake(now, { role: "responder", parameters: this.parameters })
    this.handshake.handleOctets(now, frameOf(octets))
    const event = this.handshake.pollEvent()
    return event?.type === "request" ? event.privateData : undefined
  }

  /** The answer's octets, of a request that was taken. @throws MpaError when there is too much private data */
  accept(now: Time, privateData: Uint8Array): Uint8Array {
    const handshake = this.handshake!
    handshake.accept(now, privateData)
    this.settle()
    return handshake.pollTransmit()!
  }

  /** The answer came: its program's private data; undefined: it is none. */
  takeAnswer(now: Time, octets: Uint8Array): Uint8Array | undefined {
    this.handshake!.handleOctets(now, frameOf(octets))
    return this.settle()
  }

  private settle(): Uint8Array | undefined {
    const event = this.handshake!.pollEvent()
    if (event?.type !== "established") return undefined
    this.agreement = event.agreement
    return event.privateData
  }
}

/** Private data is filled up with zeros, which belong to nobody. */
const frameOf = (octets: Uint8Array): Uint8Array => {
  const privateBytes = octets.length < ERDMA_MPA_BYTES ? 0 : (octets[LENGTH_AT]! << 8) | octets[LENGTH_AT + 1]!
  return octets.subarray(0, ERDMA_MPA_BYTES + privateBytes)
}

import type { Framing } from "@rdmakit/protocol"
import { DDP_TAGGED_BYTES } from "@rdmakit/wire/ddp"
import { ETHERNET_BYTES } from "@rdmakit/wire/ethernet"
import { IPV4_BYTES } from "@rdmakit/wire/ipv4"
import { fpduBytes } from "@rdmakit/wire/mpa"
import { TCP_BYTES } from "@rdmakit/wire/tcp"

/** FPDUs are padded to a multiple of this, bytes (RFC 5044 §4.1). */
export const FPDU_ALIGNMENT = 4
/** A time stamp's option and its padding (RFC 7323 appendix A). */
const TIME_STAMP_BYTES = 12
const STREAM_BYTES = IPV4_BYTES + TCP_BYTES + TIME_STAMP_BYTES
/** Header and FCS, preamble and gap. */
const FRAME_BYTES = ETHERNET_BYTES + 4 + 20
const LEAST_FRAME_BYTES = 84
/** What a tagged FPDU without markers has beside its payload, where that is aligned; the field of its CRC is always there. */
const FPDU_OVERHEAD = fpduBytes(DDP_TAGGED_BYTES)

/**
 * iWARP's WRITEs on the wire: each TCP segment is one FPDU with a tagged header (RFC 5044 §5: aligned), without
 * markers; padding of the payload is not in here.
 *
 * @param telemetryBytes room for telemetry, in acknowledgements too. Default 0
 */
export const iwarpFraming = (telemetryBytes = 0): Framing => ({
  name: "iwarp",
  dataBytes: FRAME_BYTES + STREAM_BYTES + FPDU_OVERHEAD,
  telemetryBytes,
  leastBytes: LEAST_FRAME_BYTES,
  ackBytes: FRAME_BYTES + STREAM_BYTES + telemetryBytes,
  cnpBytes: FRAME_BYTES + STREAM_BYTES,
  pfcBytes: LEAST_FRAME_BYTES,
})

/** Payload of a full segment, bytes, where IP packets have at most `ipMtuBytes` and telemetry takes some of them. */
export const iwarpPayloadBytes = (ipMtuBytes: number, telemetryBytes = 0): number => {
  const room = ipMtuBytes - STREAM_BYTES - FPDU_OVERHEAD - telemetryBytes
  return room - (room % FPDU_ALIGNMENT)
}

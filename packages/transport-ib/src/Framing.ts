import type { Framing } from "@rdmakit/protocol"

/** Feedback that costs octets in each data packet. */
export type TelemetryKind = "none" | "stamp" | "int" | "pint"

/** Octets of a PINT digest: the simulator's header takes two, even where one would do. */
const PINT_BYTES = 2

/**
 * The framing of the public HPCC simulator: 14 L2 + 20 IPv4 + 8 UDP + 6 sequence header, no FCS, preamble or gap. INT
 * always takes its full 42 bytes and comes back whole in the acknowledgement; a time stamp takes 8, PINT 2.
 */
export const ns3Framing = (telemetry: TelemetryKind): Framing => {
  const telemetryBytes = { none: 0, stamp: 8, int: 42, pint: PINT_BYTES }[telemetry]
  return {
    name: "ns3",
    dataBytes: 48,
    telemetryBytes,
    leastBytes: 0,
    ackBytes: Math.max(60, 14 + 20 + 12 + telemetryBytes),
    cnpBytes: 60,
    pfcBytes: 43,
  }
}

/**
 * RoCEv2 over IPv4 as it is on the wire: 14 Ethernet + 20 IPv4 + 8 UDP + 12 BTH + 4 ICRC + 4 FCS, and 20 bytes of
 * preamble and gap. A RETH (16 bytes) leads only the first packet of a WRITE; this framing counts the middle packet's
 * size for all. INT takes HPCC's header: 2 bytes and 8 a hop (HPCC §4.1, Fig. 7); PINT takes 2.
 */
export const rocev2Framing = (telemetry: TelemetryKind, hops: number): Framing => {
  const telemetryBytes = { none: 0, stamp: 0, int: 2 + 8 * hops, pint: PINT_BYTES }[telemetry]
  const least = 64 + 20
  return {
    name: "rocev2",
    dataBytes: 82,
    telemetryBytes,
    leastBytes: least,
    ackBytes: Math.max(least, 82 + 4 + telemetryBytes),
    cnpBytes: Math.max(least, 82 + 16),
    pfcBytes: least,
  }
}

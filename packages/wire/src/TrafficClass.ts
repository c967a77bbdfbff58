import { uint } from "./Octets.ts"

/** The lower two bits of the traffic class (RFC 3168 §5). A switch only marks packets that are capable. */
export const Ecn = { NotCapable: 0, Capable1: 1, Capable0: 2, CongestionExperienced: 3 } as const

/** Differentiated services code point, 0 to 63 (RFC 2474). */
export const dscpOf = (trafficClass: number): number => trafficClass >> 2

export const ecnOf = (trafficClass: number): number => trafficClass & 3

/** The octet of IPv4's type of service, of IPv6's and GRH's traffic class. */
export const trafficClassOf = (dscp: number, ecn: number): number =>
  (uint(dscp, 6, "ip", "dscp") << 2) | uint(ecn, 2, "ip", "ecn")

import { emitArp } from "../Arp.ts"
import { emitCm } from "../Cm.ts"
import { emitEthernet } from "../Ethernet.ts"
import { emitErspan, emitGre } from "../Gre.ts"
import { emitIcmpEcho } from "../Icmp.ts"
import { type ExtendedHeader, type ExtendedHeaders, emitBth, emitExtended, emitGrh, emitLrh } from "../Infiniband.ts"
import { emitIpv4 } from "../Ipv4.ts"
import { emitIpv6, emitIpv6Extension } from "../Ipv6.ts"
import { emitErf, emitLinuxCooked, emitLinuxCooked2 } from "../Link.ts"
import { emitLldp } from "../Lldp.ts"
import { emitMad } from "../Mad.ts"
import { put32le } from "../Octets.ts"
import { emitPfc } from "../Pfc.ts"
import { putVcrc } from "../roce/Vcrc.ts"
import { emitTcp } from "../Tcp.ts"
import { emitUdp } from "../Udp.ts"
import { emitVxlan } from "../Vxlan.ts"
import type { Headers, Node } from "./Node.ts"

type Emitters = {
  readonly [F in Exclude<keyof Headers, keyof ExtendedHeaders>]: (
    value: Headers[F],
    octets: Uint8Array,
    start: number,
  ) => number
}

const emitters: Emitters = {
  erf: emitErf,
  linuxCooked: emitLinuxCooked,
  linuxCooked2: emitLinuxCooked2,
  ethernet: emitEthernet,
  arp: emitArp,
  pfc: emitPfc,
  lldp: emitLldp,
  ipv4: emitIpv4,
  ipv6: emitIpv6,
  ipv6Extension: emitIpv6Extension,
  udp: emitUdp,
  tcp: emitTcp,
  icmpEcho: emitIcmpEcho,
  vxlan: emitVxlan,
  gre: emitGre,
  erspan: emitErspan,
  lrh: emitLrh,
  grh: emitGrh,
  bth: emitBth,
  mad: emitMad,
  cm: emitCm,
}

/**
 * Writes a node to its place in `out`: a header without faults from its representation, everything else as the octets it
 * came from.
 */
export const emitNode = (node: Node, octets: Uint8Array, out: Uint8Array): void => {
  if ("faults" in node && node.faults.length === 0) {
    const { format, value } = node
    if (Object.hasOwn(emitters, format)) {
      const emit = emitters[format as keyof Emitters] as (value: unknown, octets: Uint8Array, start: number) => number
      emit(value, out, node.start)
    } else {
      const name = format as ExtendedHeader
      emitExtended(name, value as ExtendedHeaders[typeof name], out, node.start)
    }
  } else if ((node.format === "icrc" || node.format === "fcs") && node.value !== undefined)
    put32le(out, node.start, node.value)
  else if (node.format === "vcrc" && node.value !== undefined) putVcrc(out, node.start, node.value)
  else out.set(octets.subarray(node.start, node.end), node.start)
}

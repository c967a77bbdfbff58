import { checkFraming, type FlowAddress, type FlowTransport, type Framing, hasFields } from "@rdmakit/protocol"
import { murmur3 } from "@rdmakit/units"
import { check } from "./ErdmaError.ts"

/** What VXLAN puts in front of a frame, bytes: outer Ethernet 14, IPv4 20, UDP 8 and VXLAN 8 (RFC 7348 §5). */
export const VXLAN_BYTES = 50
/** UDP destination port of VXLAN (RFC 7348 §5). */
export const VXLAN_PORT = 4789
/** The dynamic ports, which RFC 7348 §5 wants the source port to be one of, and bits to spread flows by. */
const SOURCE_PORTS = 0xc000
const SOURCE_PORT_BITS = 0x3fff
const SUFFIX = "/vxlan"

/** A framing inside a VXLAN tunnel: every frame of the tenant's is 50 bytes longer in the network below. */
export const vxlanFraming = (inner: Framing): Framing => ({
  ...inner,
  name: inner.name + SUFFIX,
  dataBytes: inner.dataBytes + VXLAN_BYTES,
  leastBytes: inner.leastBytes + VXLAN_BYTES,
  ackBytes: inner.ackBytes + VXLAN_BYTES,
  cnpBytes: inner.cnpBytes + VXLAN_BYTES,
})

/**
 * The IP MTU that is left to a tenant, bytes, where the network below has one of `underlay`: outer IPv4, UDP, VXLAN and the
 * inner Ethernet header take 50.
 */
export const tenantMtuBytes = (underlay: number): number => underlay - VXLAN_BYTES

/**
 * UDP source port of the tunnel for what one end of a flow sends: a hash of the inner packet's addresses and ports, by which
 * switches spread the flows of a pair of hosts (RFC 7348 §5). The two directions have different ones.
 */
export const tunnelPort = ({ node, peer, udpPort, peerUdpPort }: FlowAddress): number =>
  SOURCE_PORTS | (murmur3(0, node, peer, (udpPort | (peerUdpPort << 16)) >>> 0) & SOURCE_PORT_BITS)

/**
 * The flows of a transport through VXLAN tunnels that begin and end at the hosts: switches see the tunnel's ports. The
 * transport is made with a framing of `vxlanFraming`.
 *
 * @throws ErdmaError when it is no transport, or its framing is another
 */
export const throughVxlan = (transport: FlowTransport): FlowTransport => {
  check("transport", transport, hasFields(transport), "a transport of flows, an object")
  const { framing, octets } = transport
  checkFraming(check, framing)
  const isTunnels = framing.name.endsWith(SUFFIX)
  check("framing", framing.name, isTunnels, "one made by vxlanFraming, which counts the tunnel's headers")
  return {
    ...transport,
    name: transport.name + SUFFIX,
    octets: octets?.protocol === "tcp" ? { ...octets, tunnel: "vxlan" } : undefined,
    open: (hops) => {
      const make = transport.open(hops)
      return (now, address) => make(now, { ...address, udpPort: tunnelPort(address), peerUdpPort: VXLAN_PORT })
    },
  }
}

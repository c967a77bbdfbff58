/*
 * Which addresses stand for what. A node's IPv4 address is the one that the HPCC simulator gives it (third.cc), so that
 * captures, its traces and its own files name hosts alike.
 */

/** The two ends of the link that a packet is on: the nodes whose addresses its Ethernet header has. */
export interface Link {
  readonly from: number
  readonly to: number
}

/** A node's number has 16 bits in a packet. */
const NODES = 1 << 16
/** 11.0.0.1 of node 0; the node's number is in the two octets in the middle. */
const FIRST_IPV4 = 0x0b00_0001
/** A locally administered address, 02:00:00:00:00:00; the node's number is in the last two octets. */
const FIRST_MAC = 0x0200_0000_0000

/** 10.0.0.1 and 02:00:00:01:00:00: what a tenant of an overlay calls node 0. */
const FIRST_TENANT_IPV4 = 0x0a00_0001
const FIRST_TENANT_MAC = 0x0200_0001_0000

/** Queue pairs 0 and 1 are for management (IBTA 1.7 §3.5.4); these start where adapters' own commonly do. */
const FIRST_QP = 0x100
/** Endpoints that have a queue-pair number to themselves: 2^24 less the first. Those beyond begin again. */
export const ENDPOINTS_MAX = (1 << 24) - FIRST_QP

/** 11.h.l.1 of the node's number, h its upper and l its lower octet. @param node 0 to 65,535 */
export const ipv4OfNode = (node: number): number => FIRST_IPV4 + (node << 8)

/** The node of an address; undefined when it is none's. */
export const nodeOfIpv4 = (address: number): number | undefined => {
  const node = (address - FIRST_IPV4) / 256
  return Number.isInteger(node) && node >= 0 && node < NODES ? node : undefined
}

/** 02:00:00:00:h:l of the node's number. All ports of a node have the one address. @param node 0 to 65,535 */
export const macOfNode = (node: number): number => FIRST_MAC + node

/** The node of an address; undefined when it is none's. */
export const nodeOfMac = (mac: number): number | undefined => {
  const node = mac - FIRST_MAC
  return node >= 0 && node < NODES ? node : undefined
}

/** 10.h.l.1: the node's address inside a tunnel. */
export const tenantIpv4OfNode = (node: number): number => FIRST_TENANT_IPV4 + (node << 8)

/** 02:00:00:01:h:l: the node's address inside a tunnel. */
export const tenantMacOfNode = (node: number): number => FIRST_TENANT_MAC + node

/**
 * What a flow's data go to, as RDMA names it: address 2^32·(flow + 1), key 256·(flow + 1) + 1, as far as 32 bits go.
 */
export const memoryOfFlow = (flow: number): { readonly address: bigint; readonly key: number } => ({
  address: BigInt(flow + 1) << 32n,
  key: (((flow + 1) << 8) | 1) >>> 0,
})

/**
 * The queue pair of an endpoint: 0x100 for endpoint 0, and so on. Endpoint 2·flow sends the flow's data, 2·flow + 1 takes
 * them; a packet's `flow` is the endpoint that sent it, and its destination queue pair that of the other.
 */
export const qpOfEndpoint = (endpoint: number): number => FIRST_QP + (endpoint % ENDPOINTS_MAX)

/** The endpoint of a queue pair below {@link ENDPOINTS_MAX}; undefined for 0 to 0xff. */
export const endpointOfQp = (qp: number): number | undefined => (qp < FIRST_QP ? undefined : qp - FIRST_QP)

/*
 * Which addresses stand for what. A node's IPv4 address is the one that the HPCC simulator gives it (third.cc), so that
 * captures, its traces and its own files name hosts alike.
 */

/** A node's number has 16 bits in a packet. */
const NODES = 1 << 16
/** 11.0.0.1 of node 0; the node's number is in the two octets in the middle. */
const FIRST_IPV4 = 0x0b00_0001
/** A locally administered address, 02:00:00:00:00:00; the node's number is in the last two octets. */
const FIRST_MAC = 0x0200_0000_0000

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

/**
 * The queue pair of an endpoint: 0x100 for endpoint 0, and so on. Endpoint 2·flow sends the flow's data, 2·flow + 1 takes
 * them; a packet's `flow` is the endpoint that sent it, and its destination queue pair that of the other.
 */
export const qpOfEndpoint = (endpoint: number): number => FIRST_QP + (endpoint % ENDPOINTS_MAX)

/** The endpoint of a queue pair below {@link ENDPOINTS_MAX}; undefined for 0 to 0xff. */
export const endpointOfQp = (qp: number): number | undefined => (qp < FIRST_QP ? undefined : qp - FIRST_QP)

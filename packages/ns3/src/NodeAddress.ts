const HOST_NET = 0x0b000001
const LINK_NET = 0x0a000000
const LINKS_PER_NET = 254

/** The address of a host, 11.x.y.1 as a number: 0x0b000001 + x·2¹⁶ + y·2⁸ for node 256x + y, 0..65535. */
export const nodeIp = (node: number): number => HOST_NET + (node >>> 8) * 0x10000 + (node & 0xff) * 0x100

/** The node of an address: its middle 16 bits. */
export const nodeOfIp = (ip: number): number => (ip >>> 8) & 0xffff

/** Whether `ip` is the address of some host. */
export const isNodeIp = (ip: number): boolean => (ip & 0xff0000ff) >>> 0 === HOST_NET

/**
 * The address that a switch's port sends PFC frames from: 10.x.y.1 at the first end of link `link` (from 0, in file
 * order), 10.x.y.2 at the second.
 */
export const linkIp = (link: number, end: 0 | 1): number =>
  LINK_NET + (Math.floor(link / LINKS_PER_NET) + 1) * 0x10000 + ((link % LINKS_PER_NET) + 1) * 0x100 + 1 + end

import { EmitError } from "../Octets.ts"

/** What a path may carry in one packet, in octets (IBTA 1.7 §9.4.3): the codes 1 to 5. */
export const PATH_MTUS = [256, 512, 1024, 2048, 4096] as const
export type PathMtu = (typeof PATH_MTUS)[number]

/**
 * What Linux keeps free in a frame for the longest headers: GRH, UDP, BTH, XRCETH, AtomicETH, ICRC.
 */
const HEADERS_BYTES = 40 + 8 + 12 + 4 + 28 + 4

/** The octets of an MTU code; undefined when it is reserved. */
export const mtuOfCode = (code: number): PathMtu | undefined => PATH_MTUS[code - 1]

export const codeOfMtu = (bytes: number): number => {
  const code = PATH_MTUS.indexOf(bytes as PathMtu) + 1
  if (code === 0) throw new EmitError("roce", "mtu", bytes, PATH_MTUS.join(", "))
  return code
}

/** The largest path MTU in an Ethernet MTU, as Linux chooses it; undefined below 352. 1,500 gives 1,024 and 4,200 4,096. */
export const pathMtuOf = (ethernetMtuBytes: number): PathMtu | undefined =>
  PATH_MTUS.findLast((bytes) => bytes + HEADERS_BYTES <= ethernetMtuBytes)

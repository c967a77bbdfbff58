/** What a host keeps for an all-to-all, and how long one takes there: reckoned, not simulated. */
export interface Growth {
  /** Contexts that the NIC keeps of its queue pairs and peers, each of so many bytes. */
  readonly contexts: (hosts: number, processes: number) => number
  readonly contextBytes: number
  /** Queue pairs of a host, and what the rings of each take of its memory. */
  readonly queuePairs: (hosts: number, processes: number) => number
  readonly ringBytes: number
  /** A message with its headers on the wire, bytes. */
  readonly wireBytes: number
  /** How long a context takes that the NIC's cache has not, ps, and how many a NIC fetches at a time. */
  readonly missPs: number
}

/** What all have in common. */
export interface GrowthSetting {
  readonly processes: number
  readonly cacheBytes: number
  /** Contexts that a NIC fetches at a time. */
  readonly fetches: number
  /** Least time between messages of a NIC whose contexts are there, ps. */
  readonly messagePs: number
  readonly rateBps: number
  readonly rttPs: number
}

/** Bytes that a host keeps: contexts and rings. */
export const memoryBytes = ({ processes }: GrowthSetting, system: Growth, hosts: number): number =>
  system.contexts(hosts, processes) * system.contextBytes + system.queuePairs(hosts, processes) * system.ringBytes

/**
 * Time of an all-to-all in which every process sends a message to every process of another host, ps: a round trip, and what
 * takes longer of wire and NIC. Messages take their contexts in no order: as large a share misses as has no room.
 */
export const completionPs = (setting: GrowthSetting, system: Growth, hosts: number): number => {
  const { processes, cacheBytes, fetches, messagePs, rateBps, rttPs } = setting
  const messages = (hosts - 1) * processes * processes
  const missing = 1 - Math.min(1, cacheBytes / (system.contexts(hosts, processes) * system.contextBytes))
  const wirePs = (system.wireBytes * 8e12) / rateBps
  return rttPs + messages * Math.max(wirePs, messagePs + (missing * system.missPs) / fetches)
}

/** Most hosts whose contexts all have room in the NIC's cache. */
export const hostsCached = (setting: GrowthSetting, system: Growth): number => {
  let [least, most] = [1, 2 ** 30]
  while (most - least > 1) {
    const middle = Math.floor((least + most) / 2)
    if (system.contexts(middle, setting.processes) * system.contextBytes <= setting.cacheBytes) least = middle
    else most = middle
  }
  return least
}

import { CollectiveError } from "./CollectiveError.ts"

export type Collective = "allReduce" | "allGather" | "reduceScatter" | "allToAll"

/**
 * What the algorithm bandwidth is multiplied with to be one that compares to links, whatever the number of ranks
 * (nccl-tests, doc/PERFORMANCE.md): 2(n − 1)/n for all-reduce, (n − 1)/n for the others. One rank moves nothing: 0.
 *
 * @throws CollectiveError for a count of ranks below 1
 */
export const busFactor = (collective: Collective, ranks: number): number => {
  if (!Number.isSafeInteger(ranks) || ranks < 1) throw new CollectiveError(`${ranks} ranks, expected 1 at least`)
  return ((collective === "allReduce" ? 2 : 1) * (ranks - 1)) / ranks
}

export interface CollectiveBandwidth {
  /** Bytes over time, bit/s: what a program waits for. */
  readonly algorithmBps: number
  /**
   * The same times {@link busFactor}, bit/s. It counts what ranks give each other, over whatever: on two hosts of many
   * ranks with a NIC each, nearly half of an all-to-all passes no NIC, and this is up to twice a NIC's rate.
   */
  readonly busBps: number
}

/**
 * Bandwidths as nccl-tests computes them. `bytes` is what its tables call size: of all-gather and reduce-scatter the
 * buffer that has the parts of all ranks, of all-to-all what one rank sends to all, itself among them.
 *
 * @param seconds above 0
 */
export const collectiveBandwidth = (
  collective: Collective,
  ranks: number,
  bytes: number,
  seconds: number,
): CollectiveBandwidth => {
  if (!(seconds > 0)) throw new CollectiveError(`${seconds} seconds, expected more than 0`)
  const algorithmBps = (8 * bytes) / seconds
  return { algorithmBps, busBps: algorithmBps * busFactor(collective, ranks) }
}

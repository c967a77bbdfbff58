/**
 * Sizes of flows measured in real clusters, with the points that the public traffic generator of HPCC's simulator has
 * for them (alibaba-edu/High-Precision-Congestion-Control, traffic_gen).
 */
import { SizeDistribution } from "./SizeDistribution.ts"

/**
 * A web search cluster (Alizadeh et al., "Data Center TCP", SIGCOMM 2010, §2.2), one of the two loads of HPCC §5.1;
 * the generator's WebSearch_distribution.txt. Mean 1,711,250 B.
 */
export const webSearch = new SizeDistribution([
  [0, 0],
  [10_000, 15],
  [20_000, 20],
  [30_000, 30],
  [50_000, 40],
  [80_000, 53],
  [200_000, 60],
  [1_000_000, 70],
  [2_000_000, 80],
  [5_000_000, 90],
  [10_000_000, 97],
  [30_000_000, 100],
])

/**
 * Facebook's Hadoop cluster (Roy et al., "Inside the Social Network's (Datacenter) Network", SIGCOMM 2015), the other
 * load of HPCC §5.1; the generator's FbHdp_distribution.txt. Mean 120,420.75 B.
 */
export const fbHadoop = new SizeDistribution([
  [0, 0],
  [100, 1],
  [200, 2],
  [300, 5],
  [350, 15],
  [400, 20],
  [500, 30],
  [600, 40],
  [700, 50],
  [1000, 60],
  [2000, 67],
  [7000, 70],
  [30_000, 72],
  [50_000, 82],
  [80_000, 87],
  [120_000, 90],
  [300_000, 95],
  [1_000_000, 97.5],
  [2_000_000, 99],
  [10_000_000, 100],
])

/** Alibaba's storage, 2019; the generator's AliStorage2019.txt, which names no publication. Mean 40,869.8 B. */
export const aliStorage2019 = new SizeDistribution([
  [0, 0],
  [4000, 22.93],
  [8000, 69.21],
  [16_000, 80.61],
  [32_000, 90.47],
  [64_000, 93.53],
  [128_000, 96.77],
  [256_000, 97.53],
  [2_000_000, 100],
])

/** The distributions by the names that files and command lines give them. */
export const sizeDistributions: ReadonlyMap<string, SizeDistribution> = new Map([
  ["WebSearch", webSearch],
  ["FB_Hadoop", fbHadoop],
  ["AliStorage2019", aliStorage2019],
])

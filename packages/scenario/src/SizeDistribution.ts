/** A flow size, and the share of flows up to it in percent. */
export type SizePoint = readonly [bytes: number, percent: number]

/** Sizes of flows, given by points of their cumulative distribution; between two points all sizes are equally likely. */
export class SizeDistribution {
  /** Bytes of the mean flow. */
  readonly meanBytes: number
  private readonly points: ReadonlyArray<SizePoint>

  /** @param points ascending in both, from 0 percent to 100 */
  constructor(points: ReadonlyArray<SizePoint>) {
    this.points = points
    let mean = 0
    for (let i = 1; i < points.length; i++) {
      const [bytes, percent] = points[i]!
      const [bytesBefore, percentBefore] = points[i - 1]!
      mean += ((bytes + bytesBefore) / 2) * ((percent - percentBefore) / 100)
    }
    this.meanBytes = mean
  }

  /**
   * The size below which a share of the flows lies, whole bytes, at least one.
   *
   * @param share 0 to 1
   */
  bytesAt(share: number): number {
    const percent = share * 100
    const { points } = this
    let i = 1
    while (i < points.length - 1 && points[i]![1] < percent) i++
    const [bytes, percentAt] = points[i]!
    const [bytesBefore, percentBefore] = points[i - 1]!
    const part = (percent - percentBefore) / (percentAt - percentBefore)
    return Math.max(1, Math.round(bytesBefore + (bytes - bytesBefore) * part))
  }
}

/** Facebook's Hadoop cluster (Roy et al. 2015), as the public traffic generator of HPCC's simulator has it. */
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

import type { PathInfo } from "@rdmakit/protocol"
import { defaults, type SwiftOptions } from "./SwiftOptions.ts"

/** Bits in a byte times ps in a second. */
const BIT_PS = 8e12

/** The constants of all flows with the same options and the same path. */
export class SwiftLaw {
  readonly lineRateBps: number
  readonly packetBytes: number
  readonly baseRttPs: number
  readonly additiveIncreasePackets: number
  readonly beta: number
  /** 1 − max_mdf: what a decrease leaves of a window at least. */
  readonly leastFactor: number
  readonly minWindowPackets: number
  readonly maxWindowPackets: number
  readonly initialWindowPackets: number
  readonly resetAfter: number
  readonly endpointTargetPs: number
  /** Switches on the path, where acknowledgements do not tell. */
  readonly hops: number

  private readonly baseTargetPs: number
  private readonly hopScalePs: number
  private readonly rangePs: number
  /** α and β of the flow-based scaling. */
  private readonly scalingPs: number
  private readonly offsetPs: number

  constructor(options: SwiftOptions, path: PathInfo) {
    const { lineRateBps, baseRttPs, mtuBytes } = path
    this.lineRateBps = lineRateBps
    this.packetBytes = mtuBytes
    this.baseRttPs = baseRttPs
    this.baseTargetPs = options.baseTargetPs ?? Math.max(defaults.baseTargetPs, 2 * baseRttPs)
    this.hopScalePs = options.hopScalePs ?? this.baseTargetPs / defaults.hopsInBaseTarget
    this.hops = options.hops ?? 0
    this.rangePs = options.flowScalingRangePs ?? defaults.flowScalingBaseTargets * this.baseTargetPs
    const most = 1 / Math.sqrt(options.flowScalingMinPackets ?? defaults.flowScalingMinPackets)
    const least = 1 / Math.sqrt(options.flowScalingMaxPackets ?? defaults.flowScalingMaxPackets)
    this.scalingPs = this.rangePs / (most - least)
    this.offsetPs = -this.scalingPs * least
    this.additiveIncreasePackets = options.additiveIncreasePackets ?? defaults.additiveIncreasePackets
    this.beta = options.beta ?? defaults.beta
    this.leastFactor = 1 - (options.maxMdf ?? defaults.maxMdf)
    this.endpointTargetPs = options.endpointTargetPs ?? defaults.endpointTargetPs
    this.resetAfter = options.resetAfter ?? defaults.resetAfter
    const packetPs = (mtuBytes * BIT_PS) / lineRateBps
    const product = (path.windowBytes > 0 ? path.windowBytes : (lineRateBps * baseRttPs) / BIT_PS) / mtuBytes
    this.minWindowPackets = Math.min(options.minWindowPackets ?? defaults.minWindowPackets, product)
    const largestTargetPs = this.baseTargetPs + this.hops * this.hopScalePs + this.rangePs
    this.maxWindowPackets = options.maxWindowPackets ?? Math.max(1, product, largestTargetPs / packetPs)
    this.initialWindowPackets = options.initialWindowPackets ?? product
  }

  /**
   * The target of the fabric delay (Swift §3.5): base_target + #hops · ħ + max(0, min(α / √cwnd + β, fs_range)), where
   * α = fs_range / (1/√fs_min_cwnd − 1/√fs_max_cwnd) and β = −α / √fs_max_cwnd.
   *
   * @param windowPackets the fabric window @param hops switches on the path
   * @returns ps
   */
  targetPs(windowPackets: number, hops: number): number {
    const scaled = this.scalingPs / Math.sqrt(windowPackets) + this.offsetPs
    const flow = scaled > this.rangePs ? this.rangePs : scaled > 0 ? scaled : 0
    return this.baseTargetPs + hops * this.hopScalePs + flow
  }
}

import { type TcpOptions, tcp } from "@rdmakit/cc-cubic"
import { type DcqcnOptions, dcqcn, dcqcnPresets } from "@rdmakit/cc-dcqcn"
import { type DctcpOptions, dctcp, dctcpPresets, simulationThresholdBytes } from "@rdmakit/cc-dctcp"
import { type HpccFamilyOptions, hpccFamily } from "@rdmakit/cc-erdma"
import { type HpccOptions, type HpccPintOptions, hpcc, hpccPint, hpccPintPresets, hpccPresets } from "@rdmakit/cc-hpcc"
import { type SrdControlOptions, srd } from "@rdmakit/cc-srd"
import { type SwiftOptions, swift, swiftPresets } from "@rdmakit/cc-swift"
import { type TimelyOptions, timely, timelyPresets } from "@rdmakit/cc-timely"
import type { EcnRule } from "@rdmakit/fabric"
import type { ControllerFactory } from "@rdmakit/protocol"

/**
 * What the value of an option is: one of the words of a list, or any word; quantities are numbers in the unit of the
 * option's name, or texts with a unit.
 */
export type OptionKind = "number" | "boolean" | "word" | "rate" | "size" | "time" | ReadonlyArray<string>

/** A congestion controller that scenarios know by name. */
export interface NamedController {
  /** Settings by name; each names its variant. */
  readonly presets: Readonly<Record<string, { readonly variant: string }>>
  /** The preset of a scenario that names neither a preset nor a variant. */
  readonly preset: string
  /** Variants, each with its options. */
  readonly variants: Readonly<Record<string, Readonly<Record<string, OptionKind>>>>
  /** Marking that suits it, by a link's rate, where the scenario gives none for it. Default: the fabric's. */
  readonly marking?: (linkRateBps: number) => EcnRule
  /** @throws OptionError of `protocol`, for an option out of its range */
  readonly make: (options: Readonly<Record<string, unknown>>) => ControllerFactory
}

const windows = ["none", "fixed", "variable"] as const
const reactions = ["both", "per-ack", "per-rtt"] as const

const timelyBase = {
  alpha: "number",
  beta: "number",
  lowThresholdPs: "time",
  highThresholdPs: "time",
  minRttPs: "time",
  window: windows,
  additiveIncreaseBps: "rate",
  minRateBps: "rate",
} as const

const dcqcnBase = {
  window: windows,
  notification: ["echo", "cnp"],
  cnpIntervalPs: "time",
  order: ["cut-first", "alpha-first"],
} as const

const tcpBase = {
  initialWindowBytes: "size",
  maxWindowBytes: "size",
  leastTimeoutPs: "time",
  hyStart: "boolean",
  beta: "number",
} as const

/** One of TCP's: CUBIC or NewReno. */
const tcpController = (
  variant: TcpOptions["variant"],
  own: Readonly<Record<string, OptionKind>> = {},
): NamedController => ({
  presets: { [variant]: { variant } },
  preset: variant,
  variants: { [variant]: { ...tcpBase, ...own } },
  make: (options) => tcp(options as unknown as TcpOptions),
})

/** One of eRDMA's HPCCs without telemetry. */
const familyController = (
  variant: HpccFamilyOptions["variant"],
  own: Readonly<Record<string, OptionKind>>,
): NamedController => ({
  presets: { [variant]: { variant } },
  preset: variant,
  variants: { [variant]: { target: "number", additiveIncreaseBytes: "size", minWindowBytes: "size", ...own } },
  make: (options) => hpccFamily(options as unknown as HpccFamilyOptions),
})

/** DCTCP wants a step: everything above K. */
const dctcpMarking = (linkRateBps: number): EcnRule => {
  const thresholdBytes = simulationThresholdBytes(linkRateBps)
  return { kminBytes: thresholdBytes, kmaxBytes: thresholdBytes, pmax: 1 }
}

/** The controllers that scenarios know. A user's own is one more entry in a copy of this map. */
export const controllers: ReadonlyMap<string, NamedController> = new Map<string, NamedController>([
  ["cubic", tcpController("cubic", { c: "number", fastConvergence: "boolean" })],
  ["newreno", tcpController("newreno")],
  [
    "dcqcn",
    {
      presets: dcqcnPresets,
      preset: "simulation",
      variants: {
        paper: {
          ...dcqcnBase,
          gain: "number",
          initialAlpha: "number",
          alphaTimerPs: "time",
          increaseTimerPs: "time",
          byteCounterBytes: "size",
          fastRecoverySteps: "number",
          additiveIncreaseBps: "rate",
          hyperIncreaseBps: "rate",
          minRateBps: "rate",
        },
        vendor: {
          ...dcqcnBase,
          dceTcpG: "number",
          dceTcpRttPs: "time",
          initialAlphaValue: "number",
          rateToSetOnFirstCnpBps: "rate",
          firstCnpRateFactor: "number",
          rateReduceMonitorPeriodPs: "time",
          rpgMinDecFac: "number",
          rpgGd: "number",
          rpgMinRateBps: "rate",
          rpgMaxRateBps: "rate",
          rpgTimeResetPs: "time",
          rpgByteResetBytes: "size",
          rpgThreshold: "number",
          rpgAiRateBps: "rate",
          rpgHaiRateBps: "rate",
          clampTgtRate: "boolean",
          clampTgtRateAfterTimeInc: "boolean",
        },
        ns3: {
          ...dcqcnBase,
          ewmaGain: "number",
          alphaResumeIntervalPs: "time",
          rateDecreaseIntervalPs: "time",
          rpTimerPs: "time",
          fastRecoveryTimes: "number",
          clampTargetRate: "boolean",
          rateOnFirstCnp: "number",
          additiveIncreaseBps: "rate",
          hyperIncreaseBps: "rate",
          minRateBps: "rate",
        },
      },
      make: (options) => dcqcn(options as unknown as DcqcnOptions),
    },
  ],
  [
    "dctcp",
    {
      presets: dctcpPresets,
      preset: "simulation",
      variants: {
        paper: {
          g: "number",
          additiveIncreaseBytes: "size",
          minWindowBytes: "size",
          maxWindowBytes: "size",
          start: ["line-rate", "slow-start"],
          initialWindowBytes: "size",
          leastTimeoutPs: "time",
          pacing: "boolean",
        },
        ns3: { g: "number", additiveIncreaseBps: "rate", minRateBps: "rate", window: windows },
      },
      marking: dctcpMarking,
      make: (options) => dctcp(options as unknown as DctcpOptions),
    },
  ],
  [
    "hpcc",
    {
      presets: hpccPresets,
      preset: "simulation",
      variants: {
        paper: {
          eta: "number",
          maxStage: "number",
          additiveIncreaseBytes: "size",
          minWindowBytes: "size",
          reaction: reactions,
        },
        ns3: {
          eta: "number",
          maxStage: "number",
          additiveIncreaseBps: "rate",
          minRateBps: "rate",
          reaction: reactions,
          multiRate: "boolean",
          sampleFeedback: "boolean",
          varWin: "boolean",
        },
      },
      make: (options) => hpcc(options as unknown as HpccOptions),
    },
  ],
  [
    "hpcc-pint",
    {
      presets: hpccPintPresets,
      preset: "paper",
      variants: {
        paper: {
          eta: "number",
          maxStage: "number",
          additiveIncreaseBytes: "size",
          minWindowBytes: "size",
          reaction: reactions,
          logBase: "number",
          probability: "number",
        },
        ns3: {
          eta: "number",
          maxStage: "number",
          additiveIncreaseBps: "rate",
          minRateBps: "rate",
          varWin: "boolean",
          logBase: "number",
          probability: "number",
        },
      },
      make: (options) => hpccPint(options as unknown as HpccPintOptions),
    },
  ],
  [
    "swift",
    {
      presets: swiftPresets,
      preset: "testbed",
      variants: {
        paper: {
          baseTargetPs: "time",
          hopScalePs: "time",
          hops: "number",
          flowScalingRangePs: "time",
          flowScalingMinPackets: "number",
          flowScalingMaxPackets: "number",
          additiveIncreasePackets: "number",
          beta: "number",
          maxMdf: "number",
          minWindowPackets: "number",
          maxWindowPackets: "number",
          initialWindowPackets: "number",
          resetAfter: "number",
        },
      },
      make: (options) => swift(options as unknown as SwiftOptions),
    },
  ],
  [
    "timely",
    {
      presets: timelyPresets,
      preset: "simulation",
      variants: {
        paper: {
          ...timelyBase,
          segmentBytes: "size",
          hyperAfter: "number",
          hyperFactor: "number",
          leastFactor: "number",
        },
        ns3: { ...timelyBase, hyperIncreaseBps: "rate" },
        patched: { ...timelyBase, law: ["patched", "gradient"] },
      },
      make: (options) => timely(options as unknown as TimelyOptions),
    },
  ],
  ["hpcc-rtt", familyController("rtt", { slackPs: "time" })],
  ["hpcc-ecn", familyController("ecn", { markedUtilisation: "number" })],
  [
    "srd",
    {
      presets: { model: { variant: "model" } },
      preset: "model",
      variants: {
        model: {
          targetShare: "number",
          beta: "number",
          increaseShare: "number",
          fastAfterRounds: "number",
          keepsUp: "number",
          initialShare: "number",
          mostShare: "number",
          leastPackets: "number",
        },
      },
      make: ({ variant: _, ...options }) => srd(options as SrdControlOptions),
    },
  ],
])

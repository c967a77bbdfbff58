import { checkLineRate, hasFields, optionChecks } from "@rdmakit/protocol"
import {
  type DcqcnNs3Options,
  type DcqcnOptions,
  DcqcnOptionsError,
  type DcqcnPaperOptions,
  type DcqcnVendorOptions,
} from "./DcqcnOptions.ts"

const { check, checkInteger, checkAtLeast, checkAbove, checkWithin, checkShare, checkBoolean, checkWord } =
  optionChecks(DcqcnOptionsError)

/** A nanosecond: a timer that fires at the moment it is set would hold time still, and one that fires more often nearly. */
const PERIOD_MIN_PS = 1000

const checkPeriod = (option: string, value: number | undefined): void =>
  check(
    option,
    value,
    value === undefined || (Number.isFinite(value) && value >= PERIOD_MIN_PS),
    `a finite time of at least ${PERIOD_MIN_PS} ps`,
  )

/** Throws `DcqcnOptionsError` at the first option that is out of its range. */
export const checkOptions = (options: DcqcnOptions): void => {
  check("options", options, hasFields(options), "an object")
  const { variant } = options
  check("variant", variant, ["paper", "vendor", "ns3"].includes(variant), "paper, vendor or ns3")
  checkWord("window", options.window, ["none", "fixed", "variable"])
  checkWord("notification", options.notification, ["echo", "cnp"])
  checkWord("order", options.order, ["cut-first", "alpha-first"])
  checkAtLeast("cnpIntervalPs", options.cnpIntervalPs, 0)
  if (options.variant === "ns3") checkNs3(options)
  else if (options.variant === "paper") checkPaper(options)
  else checkVendor(options)
}

const checkPaper = (options: DcqcnPaperOptions): void => {
  checkShare("gain", options.gain)
  checkWithin("initialAlpha", options.initialAlpha, 0, 1)
  checkPeriod("alphaTimerPs", options.alphaTimerPs)
  checkPeriod("increaseTimerPs", options.increaseTimerPs)
  checkAtLeast("byteCounterBytes", options.byteCounterBytes, 0)
  checkInteger("fastRecoverySteps", options.fastRecoverySteps, 0)
  checkAtLeast("additiveIncreaseBps", options.additiveIncreaseBps, 0)
  checkAtLeast("hyperIncreaseBps", options.hyperIncreaseBps, 0)
  checkAbove("minRateBps", options.minRateBps, 0)
}

const checkVendor = (options: DcqcnVendorOptions): void => {
  const { rpgGd = 11 } = options
  checkWithin("dceTcpG", options.dceTcpG, 0, 1023)
  checkPeriod("dceTcpRttPs", options.dceTcpRttPs)
  checkWithin("initialAlphaValue", options.initialAlphaValue, 0, 1024)
  checkAtLeast("rateToSetOnFirstCnpBps", options.rateToSetOnFirstCnpBps, 0)
  checkShare("firstCnpRateFactor", options.firstCnpRateFactor)
  checkPeriod("rateReduceMonitorPeriodPs", options.rateReduceMonitorPeriodPs)
  checkWithin("rpgMinDecFac", options.rpgMinDecFac, 0, 100)
  check("rpgGd", rpgGd, rpgGd === 10 || rpgGd === 11, "10 or 11")
  checkAbove("rpgMinRateBps", options.rpgMinRateBps, 0)
  checkAtLeast("rpgMaxRateBps", options.rpgMaxRateBps, 0)
  checkPeriod("rpgTimeResetPs", options.rpgTimeResetPs)
  checkAtLeast("rpgByteResetBytes", options.rpgByteResetBytes, 0)
  checkInteger("rpgThreshold", options.rpgThreshold, 0)
  checkAtLeast("rpgAiRateBps", options.rpgAiRateBps, 0)
  checkAtLeast("rpgHaiRateBps", options.rpgHaiRateBps, 0)
  checkBoolean("clampTgtRate", options.clampTgtRate)
  checkBoolean("clampTgtRateAfterTimeInc", options.clampTgtRateAfterTimeInc)
}

const checkNs3 = (options: DcqcnNs3Options): void => {
  checkWithin("ewmaGain", options.ewmaGain, 0, 1)
  checkPeriod("alphaResumeIntervalPs", options.alphaResumeIntervalPs)
  checkPeriod("rateDecreaseIntervalPs", options.rateDecreaseIntervalPs)
  checkPeriod("rpTimerPs", options.rpTimerPs)
  checkInteger("fastRecoveryTimes", options.fastRecoveryTimes, 0)
  checkBoolean("clampTargetRate", options.clampTargetRate)
  checkWithin("rateOnFirstCnp", options.rateOnFirstCnp, 0, 1)
  checkInteger("additiveIncreaseBps", options.additiveIncreaseBps, 0)
  checkInteger("hyperIncreaseBps", options.hyperIncreaseBps, 0)
  checkInteger("minRateBps", options.minRateBps, 1)
}

/** Throws `DcqcnOptionsError` when the path has no line rate. */
export const checkPath = (lineRateBps: number): void => checkLineRate(check, lineRateBps)

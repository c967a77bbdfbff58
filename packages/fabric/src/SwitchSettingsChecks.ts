/** What the settings of switches have to be; sizes that a switch's buffer is handed are looked at there. */
import { hasFields } from "@rdmakit/protocol"
import { balancerNames } from "./LoadBalancers.ts"
import type { EcnRule, SwitchSettings } from "./NativeSwitch.ts"
import { check, checkBoolean } from "./NetworkOptionError.ts"

/** The largest buffer of a switch, bytes. */
export const BUFFER_BYTES_MAX = 2 ** 31 - 1

/** @throws NetworkOptionError */
export const checkSwitchSettings = (settings: SwitchSettings): void => {
  check("switch settings", settings, hasFields(settings), "an object of settings")
  const { bufferBytes = 1, lossless, ecn, ecnRules, loadBalancer = "ecmp", flowletGapPs = 1 } = settings
  const isSize = Number.isSafeInteger(bufferBytes) && bufferBytes >= 0 && bufferBytes <= BUFFER_BYTES_MAX
  check("bufferBytes", bufferBytes, isSize, "a whole number of bytes, below 2 GiB")
  checkBoolean("lossless", lossless)
  checkBoolean("ecn", ecn)
  const isBalancer = typeof loadBalancer === "function" || balancerNames.includes(loadBalancer)
  check("loadBalancer", loadBalancer, isBalancer, `${balancerNames.join(", ")} or a function that makes one`)
  check("flowletGapPs", flowletGapPs, isNumber(flowletGapPs) && flowletGapPs > 0, "a time above 0, ps")
  if (ecnRules === undefined) return
  check("ecnRules", ecnRules, ecnRules instanceof Map, "a Map of rates, bit/s, to rules")
  for (const [rate, rule] of ecnRules) checkRule(`ecnRules of ${String(rate)} bit/s`, rule)
}

/** Infinity is one: nothing is marked, or no gap ends a flowlet. */
const isNumber = (value: unknown): boolean => typeof value === "number"

const checkRule = (option: string, rule: EcnRule): void => {
  check(option, rule, hasFields(rule), "a rule, { kminBytes, kmaxBytes, pmax }")
  const { kminBytes, kmaxBytes, pmax } = rule
  check(`${option}: kminBytes`, kminBytes, isNumber(kminBytes) && kminBytes >= 0, "a number of bytes, at least 0")
  const isAbove = isNumber(kmaxBytes) && kmaxBytes >= kminBytes
  check(`${option}: kmaxBytes`, kmaxBytes, isAbove, `a number of bytes, at least kminBytes, ${kminBytes}`)
  check(`${option}: pmax`, pmax, Number.isFinite(pmax) && pmax >= 0 && pmax <= 1, "a number, 0 to 1")
}

import { hasFields, OptionError, optionChecks } from "@rdmakit/protocol"
import type { SharedBufferOptions } from "./SharedBuffer.ts"

/** An option, or a field of one, that no switch can work with. */
export class SwitchOptionError extends OptionError {
  readonly _tag = "SwitchOptionError"
  override readonly name = "SwitchOptionError"

  constructor(option: string, value: unknown, expected: string) {
    super("switch", option, value, expected)
  }
}

export const { check } = optionChecks(SwitchOptionError)

const checkBytes = (option: string, value: number | undefined, below: number, expected: string): void => {
  const legal = value === undefined || (Number.isSafeInteger(value) && value >= 0 && value < below)
  check(option, value, legal, expected)
}

/** Bytes that a port holds are counted in 32 bits with a sign; the ns-3 model has buffers of nearly 4 GiB. */
const HELD_BELOW = 2 ** 31
const BUFFER_BELOW = 2 ** 32
const SHIFT_MAX = 31

/** @throws SwitchOptionError */
export const checkBuffer = (options: SharedBufferOptions): void => {
  check("bufferBytes", options.bufferBytes, options.bufferBytes !== undefined, "a whole number of bytes")
  checkBytes("bufferBytes", options.bufferBytes, BUFFER_BELOW, "a whole number of bytes, below 4 GiB")
  for (const option of ["reserveBytes", "resumeOffsetBytes"] as const)
    checkBytes(option, options[option], HELD_BELOW, "a whole number of bytes, at least 0 and below 2 GiB")
  check("lossless", options.lossless, typeof options.lossless === "boolean", "true or false")
  checkShift("egressShift", options.egressShift ?? 0)
  for (const { headroomBytes, thresholdShift } of options.ports) {
    // What is too large for the buffer is told as that.
    checkBytes("headroomBytes", headroomBytes, Number.POSITIVE_INFINITY, "a whole number of bytes, at least 0")
    checkShift("thresholdShift", thresholdShift)
  }
}

const checkShift = (option: string, value: number): void =>
  check(option, value, Number.isInteger(value) && value >= 0 && value <= SHIFT_MAX, `a whole number, 0 to ${SHIFT_MAX}`)

/** @throws SwitchOptionError */
export const checkThreshold = (threshold: unknown): void => {
  const expected = "{ alpha }, a finite number above 0, or { bytes }, at least 1"
  check("threshold", threshold, hasFields(threshold) && ("alpha" in threshold || "bytes" in threshold), expected)
  const { alpha, bytes } = threshold as { readonly alpha?: number; readonly bytes?: number }
  if ("alpha" in (threshold as object))
    check("threshold.alpha", alpha, Number.isFinite(alpha) && Number(alpha) > 0, "a finite number above 0")
  else check("threshold.bytes", bytes, typeof bytes === "number" && bytes >= 1, "a number of bytes, at least 1")
}

/** @throws SwitchOptionError */
export const checkBalancer = (balancer: unknown): void => {
  const legal = hasFields(balancer) && typeof (balancer as { readonly pick?: unknown }).pick === "function"
  check("balancer", balancer, legal, "a load balancer, an object with pick")
}

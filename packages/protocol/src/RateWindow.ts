import { mulDivFloor } from "@rdmakit/units"
import type { PathInfo } from "./Controller.ts"

/**
 * The window of a controller that sets a rate (HAS_WIN and VAR_WIN of the HPCC simulator): none, that of the line rate
 * whatever the rate, or one that follows the rate.
 */
export type RateWindow = "none" | "fixed" | "variable"

/** The window a flow starts with, bytes; Infinity when there is none. */
export const startWindow = (window: RateWindow = "none", path: PathInfo): number =>
  window === "none" || !(path.windowBytes > 0) ? Infinity : Math.max(1, Math.trunc(path.windowBytes))

/** The variable window at a rate, whole bytes, at least 1. @param windowBytes that of the line rate */
export const windowAt = (windowBytes: number, rateBps: number, lineRateBps: number): number =>
  Math.max(1, mulDivFloor(windowBytes, Math.trunc(rateBps), Math.trunc(lineRateBps)))

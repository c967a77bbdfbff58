import type { PathInfo } from "@rdmakit/protocol"
import { mulDivFloor } from "@rdmakit/units"
import type { DctcpWindow } from "./DctcpOptions.ts"

/** The window a flow starts with, bytes; Infinity when there is none. */
export const startWindow = (window: DctcpWindow = "none", path: PathInfo): number =>
  window === "none" || !(path.windowBytes > 0) ? Infinity : Math.max(1, Math.trunc(path.windowBytes))

/** The variable window at a rate, whole bytes. */
export const windowAt = (windowBytes: number, rateBps: number, lineRateBps: number): number =>
  Math.max(1, mulDivFloor(windowBytes, Math.trunc(rateBps), Math.trunc(lineRateBps)))

import { type CountingEnd, fixedWindow, flowEnds } from "@rdmakit/conformance"
import type { PathInfo } from "@rdmakit/protocol"
import { type IwarpFlowOptions, iwarpFlows } from "../src/index.ts"

/** 10 Gb/s and 20 µs there and back. */
export const path: PathInfo = {
  lineRateBps: 10e9,
  baseRttPs: 20e6,
  windowBytes: 25_000,
  mtuBytes: 1428,
  timeModulusPs: Infinity,
  bytesModulus: Infinity,
  flow: 0,
  seed: 0,
}

/** The two ends of a connection. */
export const endsOf = (now: number, options: Partial<IwarpFlowOptions> = {}, seed = 0) =>
  flowEnds(iwarpFlows({ controller: fixedWindow(30_000), ...options }), now, { ...path, seed }) as readonly [
    CountingEnd,
    CountingEnd,
  ]

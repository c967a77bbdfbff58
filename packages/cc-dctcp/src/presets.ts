import type { DctcpNs3Options, DctcpPaperOptions } from "./DctcpOptions.ts"

/** Published settings, by name. */
export const dctcpPresets = {
  /** DCTCP §4 and RFC 8257, begun with the bandwidth-delay product as RDMA does. */
  paper: { variant: "paper", g: 1 / 16, start: "line-rate" },
  /** The same as a TCP stack starts it: ten packets and a slow start. */
  tcp: { variant: "paper", g: 1 / 16, start: "slow-start" },
  /** HPCC's comparisons: run.py's `dctcp`, whose 615 Mb/s are one packet in 13 µs, with a window that follows the rate. */
  simulation: {
    variant: "ns3",
    g: 0.0625,
    additiveIncreaseBps: 615e6,
    minRateBps: 1e9,
    window: "variable",
  },
} as const satisfies Readonly<Record<string, DctcpPaperOptions | DctcpNs3Options>>

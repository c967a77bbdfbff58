import type { ScenarioPart, System } from "../src/Claim.ts"

/**
 * A tenth of HPCC's fabric, for short runs: 32 hosts, eight racks, as much up from a rack as down to it. Racks are small, so
 * that few flows stay in one, as in the fabric; links above are 2 µs long, so that the longest base RTT is the fabric's
 * own 12 µs, though with two switches less.
 */
export const tenthOfFabric: ScenarioPart = {
  builder: "leaf-spine",
  leaves: 8,
  spines: 1,
  hostsPerLeaf: 4,
  link: { rate: "100Gbps", delay: "1us" },
  fabric: { rate: "400Gbps", delay: "2us" },
}
/** What a run on it has less than the source. */
export const TENTH = "32 of 320 hosts"

/** The systems that HPCC's simulations compare, as its repository sets them up (run.py). */
export const hpcc: System = { name: "HPCC", scenario: { controller: { name: "hpcc", preset: "simulation" } } }
export const dcqcn: System = { name: "DCQCN", scenario: { controller: { name: "dcqcn", preset: "simulation" } } }
export const dcqcnWindow: System = {
  name: "DCQCN+win",
  scenario: { controller: { name: "dcqcn", preset: "simulation+w" } },
}
export const timely: System = { name: "TIMELY", scenario: { controller: { name: "timely", preset: "simulation" } } }
export const timelyWindow: System = {
  name: "TIMELY+win",
  scenario: { controller: { name: "timely", preset: "simulation+w" } },
}
export const dctcp: System = { name: "DCTCP", scenario: { controller: { name: "dctcp", preset: "simulation" } } }

/** Jumbo frames of 9,001 bytes, as in the clouds that SRD is of, less IPv4, TCP and time stamps. */
const TCP_SEGMENT = "8949B"
/**
 * Its other defaults are Linux's: CUBIC, ten segments, RACK-TLP. Connections that are established know a round trip, and a
 * host takes up to the time of a segment at 100 Gb/s before each: flows that share a queue do not fall into step.
 */
const overTcp = (leastTimeout: string): ScenarioPart => ({
  transport: {
    name: "tcp",
    options: {
      mtuBytes: TCP_SEGMENT,
      leastTimeoutPs: leastTimeout,
      initialTimeoutPs: leastTimeout,
      processingPs: "720ns",
    },
  },
})
export const srd: System = { name: "SRD", scenario: { transport: { name: "srd" } } }
export const tcp: System = { name: "TCP", scenario: overTcp("200ms") }
export const tcpQuicker: System = { name: "TCP, 50 ms", scenario: overTcp("50ms") }

/** Issue 30 of its repository. */
export const OTHERS =
  "others who ran the authors' simulator also report DCQCN and TIMELY slower than the paper has them"

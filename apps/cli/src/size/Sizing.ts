/** Headroom, thresholds and marks for a switch, by published rules. Sizes in bytes, times in ps, rates in bit/s. */
import { ecnRule, headroomBytes } from "@rdmakit/fabric"
import { ns3HeadroomBytes } from "@rdmakit/scenario"
import { mulDivFloor } from "@rdmakit/units"

/** A switch with ports of one kind. */
export interface SwitchShape {
  readonly rateBps: number
  /** Of a cable, one way. */
  readonly delayPs: number
  /** The largest frame, with its headers. */
  readonly frameBytes: number
  /** How long a sender goes on after a pause has come. */
  readonly responsePs: number
  readonly ports: number
  /** Priorities with PFC. */
  readonly priorities: number
  readonly bufferBytes: number
  /** Outside the shared pool, for each port and priority. */
  readonly reserveBytes: number
  /** Base RTT of the flows that share a queue. */
  readonly rttPs: number
}

export interface Marking {
  readonly kminBytes: number
  readonly kmaxBytes: number
  readonly pmax: number
}

/** A PFC frame (IEEE 802.1Qbb): the least of Ethernet. */
const PFC_BYTES = 64
/** The alphas of commercial switches: powers of 2. */
const ALPHAS = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8]
/** DCQCN §4: the dynamic threshold of its switches. */
const BETA = 8

const bytesIn = (timePs: number, rateBps: number): number => mulDivFloor(timePs, Math.ceil(rateBps), 8e12)

/** What an ingress port keeps for each lossless priority. */
export const headroomOf = ({ rateBps, delayPs, frameBytes, responsePs }: SwitchShape) => {
  const ruleBytes = headroomBytes(rateBps, delayPs, frameBytes) + bytesIn(responsePs, rateBps)
  return {
    /** 2 · delay · rate + 2 frames + response. */
    ruleBytes,
    /** And the frame whose arrival brings the pause about, and the pause's own length. */
    losslessBytes: ruleBytes + frameBytes + PFC_BYTES,
    /** 3 · delay · rate, each rounded down as the HPCC simulator does. */
    simulatorBytes: ns3HeadroomBytes(rateBps, delayPs),
  }
}

/**
 * The bounds of DCQCN §4 (SIGCOMM 2015) for a Kmin that marks before a pause is due, whichever ingress ports the bytes
 * of an egress queue came by. With 12 MB, 32 ports, 8 priorities and 22.4 KB of headroom: 24.47 KB and 21.7 KB.
 *
 * @param keptBytes of each port and priority, outside what is shared: headroom, and the reserve where there is one
 */
export const dcqcnBounds = (
  { bufferBytes, ports, priorities }: Pick<SwitchShape, "bufferBytes" | "ports" | "priorities">,
  keptBytes: number,
) => {
  const queues = ports * priorities
  const shared = bufferBytes - queues * keptBytes
  return {
    /** A static pause threshold at most this high cannot overflow: (B − p·n·kept) / (p·n). */
    staticPauseBytes: Math.floor(shared / queues),
    /** Kmin below it marks first, with static thresholds: a queue's bytes may have come by all ports. */
    staticKminBytes: Math.floor(shared / queues / ports),
    /** The same with dynamic ones: β·(B − p·n·kept) / (p·n·(β + 1)), β = 8. */
    dynamicKminBytes: Math.floor((BETA * shared) / (queues * (BETA + 1))),
  }
}

/** What a dynamic threshold leaves to one queue alone, and to each of `queues`: α·S / (1 + n·α) (Choudhury and Hahne 1998). */
export const alphaShares = (poolBytes: number, queues: number) =>
  ALPHAS.map((alpha) => ({
    alpha,
    aloneBytes: Math.floor((alpha * poolBytes) / (1 + alpha)),
    eachBytes: Math.floor((alpha * poolBytes) / (1 + queues * alpha)),
  }))

/** Everything about a switch. `poolBytes` below 1: its buffer is too small. */
export const sizing = (shape: SwitchShape) => {
  const { rateBps, ports, priorities, bufferBytes, reserveBytes, frameBytes, rttPs } = shape
  const headroom = headroomOf(shape)
  const queues = ports * priorities
  const allHeadroomBytes = queues * headroom.losslessBytes
  const allReserveBytes = queues * reserveBytes
  const bounds = dcqcnBounds(shape, headroom.losslessBytes + reserveBytes)
  const paper = (bytes: number): number => Math.round((bytes * rateBps) / 40e9)
  const dctcpBytes = Math.round((30e3 * rateBps) / 10e9)
  return {
    headroom,
    allHeadroomBytes,
    allReserveBytes,
    poolBytes: bufferBytes - allHeadroomBytes - allReserveBytes,
    neededBytes: allHeadroomBytes + allReserveBytes + frameBytes,
    alphas: alphaShares(bufferBytes - allHeadroomBytes - allReserveBytes, queues),
    dcqcn: {
      bounds,
      /** 5 KB, 200 KB and 1 % at 40 Gb/s (DCQCN §5). */
      paper: { kminBytes: paper(5e3), kmaxBytes: paper(200e3), pmax: 0.01 } as Marking,
      /** 100 KB, 400 KB and 20 % at 25 Gb/s (HPCC §5.1). */
      hpcc: ecnRule(rateBps) as Marking,
    },
    dctcp: {
      /** K > C · RTT / 7 (DCTCP §3.4). */
      leastBytes: Math.floor(bytesIn(rttPs, rateBps) / 7) + 1,
      /** 30 KB at 10 Gb/s (HPCC §5.1); a step, so Kmin = Kmax. */
      hpcc: { kminBytes: dctcpBytes, kmaxBytes: dctcpBytes, pmax: 1 } as Marking,
    },
  }
}

export type Sizing = ReturnType<typeof sizing>

/** What does not go together. */
export const sizingWarnings = (shape: SwitchShape, { headroom, dcqcn, dctcp }: Sizing): ReadonlyArray<string> => {
  const warnings: Array<string> = []
  if (headroom.simulatorBytes < headroom.ruleBytes) {
    const frame = headroom.simulatorBytes < shape.frameBytes ? ", not even a frame" : ""
    warnings.push(
      `3 · delay · rate, the HPCC simulator's headroom, is ${headroom.simulatorBytes} B here${frame}: it loses packets on cables this short`,
    )
  }
  const bound = dcqcn.bounds.dynamicKminBytes
  for (const [name, { kminBytes }] of [
    ["DCQCN's paper", dcqcn.paper],
    ["HPCC's for DCQCN", dcqcn.hpcc],
    ["HPCC's for DCTCP", dctcp.hpcc],
  ] as const) {
    if (kminBytes >= bound) {
      warnings.push(
        `Kmin of ${name}, ${kminBytes} B, is not below ${bound} B: with all ports congested pauses may come before marks`,
      )
    }
  }
  if (dctcp.hpcc.kminBytes < dctcp.leastBytes) {
    warnings.push(`DCTCP loses throughput below K = ${dctcp.leastBytes} B at this round trip`)
  }
  return warnings
}

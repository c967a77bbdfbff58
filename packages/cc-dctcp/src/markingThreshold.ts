import { DctcpOptionsError } from "./DctcpOptions.ts"

/**
 * K by the paper's rule, C · RTT / 7: with marks from there on, flows that rise and fall together do not leave the link
 * idle (DCTCP §3.4, eq. 13). A switch marks every packet that finds or leaves more than K behind: kmin = kmax = K.
 *
 * @param linkRateBps C, rate of the link, bit/s. Above 0.
 * @param rttPs RTT of an empty network, ps. Above 0.
 * @returns bytes, not rounded. Throws `DctcpOptionsError` when an argument is out of its range.
 */
export const markingThresholdBytes = (linkRateBps: number, rttPs: number): number => {
  if (!(linkRateBps > 0 && linkRateBps < Infinity)) throw new DctcpOptionsError("linkRateBps", linkRateBps, "above 0")
  if (!(rttPs > 0 && rttPs < Infinity)) throw new DctcpOptionsError("rttPs", rttPs, "above 0")
  return (linkRateBps * rttPs) / 8e12 / 7
}

/** K of HPCC's comparisons, 30 KB at 10 Gb/s in proportion to the link's rate (HPCC §5.1; run.py), whole bytes. */
export const simulationThresholdBytes = (linkRateBps: number): number => {
  if (!(linkRateBps > 0 && linkRateBps < Infinity)) throw new DctcpOptionsError("linkRateBps", linkRateBps, "above 0")
  return Math.round((30e3 * linkRateBps) / 10e9)
}

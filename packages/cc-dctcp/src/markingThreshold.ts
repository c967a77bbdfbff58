import { DctcpOptionsError } from "./DctcpOptions.ts"

const checkPositive = (option: string, value: number): void => {
  if (!(Number.isFinite(value) && value > 0)) throw new DctcpOptionsError(option, value, "a finite number above 0")
}

/**
 * K by the paper's rule, C · RTT / 7: with marks from there on, flows that rise and fall together do not leave the link
 * idle (DCTCP §3.4, eq. 13). A switch marks every packet that finds or leaves more than K behind: kmin = kmax = K.
 *
 * @param linkRateBps C, rate of the link, bit/s. Above 0.
 * @param rttPs RTT of an empty network, ps. Above 0.
 * @returns bytes, not rounded. Throws `DctcpOptionsError` when an argument is out of its range.
 */
export const markingThresholdBytes = (linkRateBps: number, rttPs: number): number => {
  checkPositive("linkRateBps", linkRateBps)
  checkPositive("rttPs", rttPs)
  return (linkRateBps * rttPs) / 8e12 / 7
}

/** K of HPCC's comparisons, 30 KB at 10 Gb/s in proportion to the link's rate (HPCC §5.1; run.py), whole bytes. */
export const simulationThresholdBytes = (linkRateBps: number): number => {
  checkPositive("linkRateBps", linkRateBps)
  return Math.round((30e3 * linkRateBps) / 10e9)
}

import { HpccOptionsError } from "./HpccOptions.ts"

/**
 * W_AI by the paper's rule, W_init · (1 − η) / N: with up to N flows on a link, additive increase alone then builds no
 * queue (HPCC §3.3).
 *
 * @param windowBytes W_init, bytes: the line rate times the base RTT. Above 0.
 * @param eta η, above 0 and below 1.
 * @param flows N, how many flows are expected to share a link. At least 1.
 * @returns bytes, not rounded. Throws `HpccOptionsError` when an argument is out of its range.
 */
export const additiveIncreaseBytes = (windowBytes: number, eta: number, flows: number): number => {
  if (!(Number.isFinite(windowBytes) && windowBytes > 0))
    throw new HpccOptionsError("windowBytes", windowBytes, "a finite number above 0")
  if (!(Number.isFinite(eta) && eta > 0 && eta < 1)) throw new HpccOptionsError("eta", eta, "a number between 0 and 1")
  if (!(Number.isFinite(flows) && flows >= 1))
    throw new HpccOptionsError("flows", flows, "a finite number of at least 1")
  return (windowBytes * (1 - eta)) / flows
}

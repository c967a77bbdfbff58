import type { Ns3Config } from "@rdmakit/ns3"
import { Mrg32k3a } from "@rdmakit/units"

/** ns-3's RngSeed, and its RngRun where nothing else is asked for. */
export const RNG_SEED = 1
export const FIRST_RUN = 1

/** The stream that third.cc gives every error model. */
const STREAM = 50

/** Random variables that each error model uses up of those handed out in turn: its own, and the one put in its place. */
const VARIABLES = 2

/**
 * Whether a frame is lost, as the HPCC simulator decides it when a frame arrives, be it a PFC frame: one draw a frame from
 * MRG32k3a. Links with an error rate of their own have a model each, both ways together; all others share one, of
 * ERROR_RATE_PER_LINK. Every model draws the same numbers, for each is given stream 50. Undefined: nothing is ever lost.
 *
 * @param rates error rates of the topology's links, by link
 * @param seed runs after the simulator's first
 */
export const ns3Losses = (
  { errorRatePerLink }: Pick<Ns3Config, "errorRatePerLink">,
  rates: ReadonlyArray<number>,
  seed: number,
): ((port: number) => boolean) | undefined => {
  if (errorRatePerLink === 0 && rates.every((rate) => rate === 0)) return undefined
  const model = () => Mrg32k3a.assigned(RNG_SEED, STREAM, FIRST_RUN + seed)
  const shared = model()
  const models = rates.map((rate) => (rate > 0 ? model() : shared))
  const chances = rates.map((rate) => rate || errorRatePerLink)
  return (port) => {
    const rate = chances[port >> 1]!
    // No draw is below 0.
    return rate > 0 && models[port >> 1]!.uniform() < rate
  }
}

/** Random variables that the links' own error models use up before the run's first draw. */
export const ns3LossVariables = (rates: ReadonlyArray<number>): number =>
  VARIABLES * rates.filter((rate) => rate > 0).length

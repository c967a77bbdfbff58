import { transports } from "../src/Transports.ts"
import type { RandomCase } from "./randomNetwork.ts"

/** Switches on the longest way through a random network, or more. */
const HOPS = 16

/**
 * The same network and flows under one of the transports that scenarios know by name, with its own controller; what
 * loses packets and what slows them stays.
 */
export const carriedBy =
  (name: string) =>
  (random: RandomCase): RandomCase => {
    const { controller, loadBalancer, make } = transports.get(name)!
    const balancer = loadBalancer === undefined ? {} : { loadBalancer }
    return {
      ...random,
      options: { ...random.options, controller, makeTransport: (chosen) => make({}, chosen, HOPS) },
      switchSettings: { ...random.switchSettings, ...balancer },
    }
  }

export const carriers: ReadonlyArray<string> = [...transports.keys()]

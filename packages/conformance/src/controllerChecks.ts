import type { ControllerFactory, Time } from "@rdmakit/protocol"
import { fail } from "./ContractViolation.ts"
import { congestionChecks } from "./congestionChecks.ts"
import { extremeChecks } from "./extremeChecks.ts"

/** What a controller promises beyond the contract. The defaults suit most laws. */
export interface ControllerExpectations {
  /** Time within which it settles, at 10 Gb/s and a base RTT of 10 µs, ps. Default 20 ms. */
  readonly settlePs?: Time
  /** Least share of the link that a flow alone has once settled, 0 to 1. Default 0.8. */
  readonly utilisation?: number
  /** Least throughput of the slower of two flows, as a share of the faster one's, 0 to 1. Default 0.25. */
  readonly fairness?: number
  /** It reacts to congestion, by its `needs` or by losses. Default true; false for a fixed rate. */
  readonly reacts?: boolean
}

/** One test: throws when the controller fails it. */
export interface Check {
  readonly name: string
  readonly run: () => void
}

const FEEDBACK: ReadonlyArray<string> = ["rtt", "ecn", "cnp", "int", "pint"]

/**
 * What `controllerSuite` registers, for other test runners: run each, and count what throws. A broken promise of the
 * contract is a `ContractViolation`.
 */
export const controllerChecks = (
  factory: ControllerFactory,
  expectations: ControllerExpectations = {},
): ReadonlyArray<Check> => [
  {
    name: "has a name, and asks for feedback that exists",
    run: () => {
      if (!(factory.name.length > 0)) fail("the factory has no name")
      for (const need of factory.needs) if (!FEEDBACK.includes(need)) fail(`"${need}" is no kind of feedback`)
    },
  },
  ...extremeChecks(factory),
  ...congestionChecks(factory, {
    settlePs: expectations.settlePs ?? 20e9,
    utilisation: expectations.utilisation ?? 0.8,
    fairness: expectations.fairness ?? 0.25,
    reacts: expectations.reacts ?? true,
  }),
]

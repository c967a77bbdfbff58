import type { Ack, Controller, ControllerFactory, PathInfo, Time } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { aimd } from "../examples/aimd.ts"
import { ContractViolation, type ControllerExpectations, controllerChecks, controllerSuite } from "../src/index.ts"

controllerSuite(aimd)

/** A fixed rate, half the line's: the simplest controller there is, and what the broken ones are made of. */
class Half implements Controller {
  rate: number
  window = Infinity
  nextTimer: Time = Infinity
  constructor(path: PathInfo) {
    this.rate = path.lineRateBps / 2
  }
  onSent(_now: Time, _bytes: number): void {}
  onAck(_now: Time, _ack: Ack): boolean {
    return false
  }
  onCnp(_now: Time): boolean {
    return false
  }
  onLoss(_now: Time, _timeout: boolean): boolean {
    return false
  }
  onTimer(_now: Time): boolean {
    return false
  }
  metrics(): Readonly<Record<string, number>> {
    return {}
  }
}

controllerSuite(
  { name: "half the line rate", needs: [], make: (_now, path) => new Half(path) },
  { reacts: false, utilisation: 0.45 },
)

/** What the suite finds wrong, by name of the check. */
const faults = (factory: ControllerFactory, expectations?: ControllerExpectations): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const { name, run } of controllerChecks(factory, expectations)) {
    try {
      run()
    } catch (error) {
      expect(error).toBeInstanceOf(ContractViolation)
      found.set(name, (error as Error).message)
    }
  }
  return found
}

/** `Half` with something broken; what is left is not expected to do well in a network. */
const broken = (
  breakIt: (controller: Half, path: PathInfo) => void,
  needs: ControllerFactory["needs"] = [],
): ReadonlyMap<string, string> =>
  faults(
    {
      name: "broken",
      needs,
      make: (_now, path) => {
        const controller = new Half(path)
        breakIt(controller, path)
        return controller
      },
    },
    { reacts: false, utilisation: 0.1, settlePs: 0.5e9 },
  )

const messages = (found: ReadonlyMap<string, string>): string => [...found.values()].join("\n")

describe("the controller suite finds", () => {
  it("nothing wrong with a fixed rate that says it does not react", () => {
    expect(broken(() => {})).toEqual(new Map())
  })

  it.each<readonly [string, RegExp, (controller: Half, path: PathInfo) => void]>([
    ["a rate above the line's", /above the line rate/, (c, path) => (c.rate = path.lineRateBps * 1.01)],
    ["a rate of 0", /finite and positive/, (c) => (c.rate = 0)],
    ["a window of 0", /at least 1 byte/, (c) => (c.window = 0)],
    ["a window that is no number", /at least 1 byte/, (c) => (c.window = Number.NaN)],
    ["a timer in the past", /before now/, (c) => (c.nextTimer = -1)],
    ["metrics that are not finite", /metrics\(\)\.age is Infinity/, (c) => (c.metrics = () => ({ age: Infinity }))],
    ["an answer that is no boolean", /returned undefined/, (c) => (c.onAck = () => undefined as unknown as boolean)],
    [
      "a change it keeps quiet about",
      /returned false, yet it changed/,
      (c) => {
        c.onAck = () => {
          c.rate = Math.max(1, c.rate * 0.999)
          return false
        }
      },
    ],
    [
      "a division by the time between two stamps",
      /finite and positive/,
      (c, path) => {
        let last = 0
        c.onAck = (_now, ack) => {
          if (ack.hops === 0) return false
          const time = ack.telemetry[ack.telemetryAt]!
          c.rate = Math.min(path.lineRateBps, path.lineRateBps / ((time - last) / (time - last)))
          last = time
          return true
        }
      },
    ],
    [
      "an RTT that is taken for granted",
      /finite and positive/,
      (c, path) => {
        c.onAck = (_now, ack) => {
          c.rate = Math.min(path.lineRateBps, (path.lineRateBps * path.baseRttPs) / (ack.rttPs + 1))
          return true
        }
      },
    ],
    [
      "time that stands still",
      /time would stand still/,
      (c) => {
        c.onAck = (now) => {
          c.nextTimer = now + 1
          return false
        }
      },
    ],
  ])("%s", (_what, message, breakIt) => {
    expect(messages(broken(breakIt, ["int", "rtt"]))).toMatch(message)
  })

  it("flows that share what they should not", () => {
    const shared = { factor: 1 }
    const found = broken((controller, path) => {
      Object.defineProperty(controller, "rate", { get: () => (path.lineRateBps / 2) * shared.factor })
      controller.onLoss = () => {
        shared.factor = shared.factor * 0.99
        return true
      }
    })
    expect(found.get("keeps flows apart")).toMatch(/another flow/)
  })

  it("what differs from run to run", () => {
    let made = 0
    const found = broken((controller) => {
      controller.rate *= 1 - ++made * 1e-6
    })
    expect(found.get("the same input gives the same output")).toMatch(/different rates/)
  })

  it("feedback that does not exist", () => {
    expect(messages(broken(() => {}, ["delay" as "rtt"]))).toMatch(/"delay" is no kind of feedback/)
  })

  it("a controller that never reacts, never comes back, or starves its neighbour", () => {
    const line: ControllerFactory = {
      name: "line rate",
      needs: ["int"],
      make: (_now, path) => {
        const controller = new Half(path)
        controller.rate = path.lineRateBps
        return controller
      },
    }
    expect(messages(faults(line, { settlePs: 2e9 }))).toMatch(/four flows sent 400\.\d % of what the link carries/)

    const coward: ControllerFactory = {
      name: "coward",
      needs: ["ecn"],
      make: (_now, path) => {
        const controller = new Half(path)
        controller.rate = path.lineRateBps
        controller.onAck = (_at, ack) => {
          if (!ack.congestion) return false
          controller.rate = path.lineRateBps / 100
          return true
        }
        return controller
      },
    }
    expect(messages(faults(coward, { settlePs: 2e9 }))).toMatch(/after the others had gone, it used 1\.0 %/)

    let made = 0
    const unfair: ControllerFactory = {
      name: "unfair",
      needs: [],
      make: (_now, path) => {
        const controller = new Half(path)
        controller.rate = path.lineRateBps * (made++ % 2 === 0 ? 0.9 : 0.09)
        return controller
      },
    }
    expect(messages(faults(unfair, { settlePs: 2e9 }))).toMatch(/the slower of two flows had 10\.0 %/)
  })
})

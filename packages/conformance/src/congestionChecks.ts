import type { ControllerFactory } from "@rdmakit/protocol"
import { fail } from "./ContractViolation.ts"
import type { Check, ControllerExpectations } from "./controllerChecks.ts"
import { type DumbbellOptions, type DumbbellRun, dumbbell } from "./Dumbbell.ts"

const LINE_RATE_BPS = 10e9
/** Shallow enough to lose packets, deep enough for loss-based laws. */
const BUFFER_BYTES = 100_000
const SLICES = 40
const SENDERS = 4

/** Bytes the link carries in a time. */
const capacity = (timePs: number): number => (timePs * LINE_RATE_BPS) / 8e12

const sum = (values: Float64Array, from: number, to: number): number =>
  values.subarray(from, to).reduce((total, value) => total + value, 0)

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

/** What takes a network: how the controller fares alone, in congestion, after it, beside another, under loss. */
export const congestionChecks = (
  factory: ControllerFactory,
  { settlePs, utilisation, fairness, reacts }: Required<ControllerExpectations>,
): ReadonlyArray<Check> => {
  const blind = factory.needs.length === 0
  const run = (options: DumbbellOptions): DumbbellRun =>
    dumbbell(factory, { lineRateBps: LINE_RATE_BPS, slices: SLICES, ...options })

  const alone: Check = {
    name: `alone, keeps the link over ${percent(utilisation)} busy`,
    run: () => {
      const { delivered } = run({ flows: [{}], durationPs: settlePs })
      const share = sum(delivered[0]!, SLICES / 2, SLICES) / capacity(settlePs / 2)
      if (!(share >= utilisation)) fail(`alone on the link, it used ${percent(share)} of it`)
    },
  }

  const congested: Check = {
    name: "sends no more than the link carries when four share it, and takes it back when three have gone",
    run: () => {
      const flows = Array.from({ length: SENDERS }, (_, index) => (index === 0 ? {} : { stopPs: settlePs }))
      const buffer = blind ? { bufferBytes: BUFFER_BYTES } : {}
      const { sent, delivered } = run({ flows, durationPs: 3 * settlePs, ...buffer })
      const slicePs = (3 * settlePs) / SLICES
      const [from, to] = [Math.floor(SLICES / 6), Math.floor(SLICES / 3)]
      const load = sum(sent, from, to) / capacity((to - from) * slicePs)
      // A law that learns from losses has to send a little too much.
      const limit = blind ? 1.5 : 1.1
      if (!(load <= limit)) fail(`four flows sent ${percent(load)} of what the link carries, long after they began`)
      const last = SLICES / 8
      const share = sum(delivered[0]!, SLICES - last, SLICES) / capacity(last * slicePs)
      if (!(share >= utilisation)) fail(`after the others had gone, it used ${percent(share)} of the link`)
    },
  }

  const fair: Check = {
    name: `shares with a flow that joins: the slower has over ${percent(fairness)} of the faster`,
    run: () => {
      const { delivered } = run({ flows: [{}, { startPs: settlePs / 4 }], durationPs: 2 * settlePs })
      const [first, second] = delivered.map((each) => sum(each, (SLICES * 3) / 4, SLICES)) as [number, number]
      const ratio = Math.min(first, second) / Math.max(first, second)
      if (!(ratio >= fairness)) fail(`the slower of two flows had ${percent(ratio)} of the faster one's throughput`)
    },
  }

  const lossy: Check = {
    name: "gets through losses: every flow goes on",
    run: () => {
      // Not by a full buffer: a law that lives on something else cannot see that one.
      const { delivered, dropped } = run({ flows: [{}, {}], durationPs: settlePs, lossRate: 0.001 })
      if (!(dropped > 0)) fail("nothing was lost")
      delivered.forEach((each, flow) => {
        if (!(sum(each, SLICES / 2, SLICES) > 0)) fail(`flow ${flow} of two delivered nothing in the second half`)
      })
    },
  }

  const unwindowed: Check = {
    name: "works where the run gives no window",
    run: () => {
      const { delivered } = run({ flows: [{}], durationPs: settlePs, window: false })
      const share = sum(delivered[0]!, SLICES / 2, SLICES) / capacity(settlePs / 2)
      if (!(share >= utilisation)) fail(`alone and without a window, it used ${percent(share)} of the link`)
    },
  }

  const deterministic: Check = {
    name: "the same input gives the same output",
    run: () => {
      const options = { flows: [{}, {}, { startPs: settlePs / 20 }], durationPs: settlePs / 5 }
      const [first, second] = [run(options), run(options)]
      if (!(first.digest === second.digest)) fail("two runs of the same network set different rates or windows")
      for (const controller of first.controllers) controller.metrics()
    },
  }

  return reacts ? [alone, congested, fair, lossy, unwindowed, deterministic] : [alone, unwindowed, deterministic]
}

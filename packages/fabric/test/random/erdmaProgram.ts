import { tcp } from "@rdmakit/cc-cubic"
import { hpccFamily } from "@rdmakit/cc-erdma"
import { erdmaVerbs } from "@rdmakit/transport-erdma"
import { sharedBufferSwitches, VerbsNetwork } from "../../src/index.ts"
import { type LanePlan, type Plan, planOf, type Step, type StreamPlan } from "./Plan.ts"
import { runPlan, type SeedOutcome } from "./randomProgram.ts"

const controllers = [hpccFamily({ variant: "rtt" }), hpccFamily({ variant: "ecn" }), tcp({ variant: "cubic" })]

/** eRDMA has no ATOMIC_WRITE, and its READs have one element. */
const stepOf = (step: Step): Step => {
  const kind = step.kind === "atomicWrite" ? "add" : step.kind
  return kind === "read" || kind === "add" ? { ...step, kind, cuts: [step.bytes] } : step
}
const streamOf = (stream: StreamPlan): StreamPlan => ({ ...stream, steps: stream.steps.map(stepOf) })

/** Nor shared receive queues, nor another service than RC; how bad ends are told of is tested elsewhere. */
const laneOf = (lane: LanePlan): LanePlan => ({
  ...lane,
  type: "rc",
  shared: false,
  poison: undefined,
  there: streamOf(lane.there),
  back: streamOf(lane.back),
})

/** What of a seed's plan eRDMA has: its connections. */
export const erdmaPlanOf = (seed: number): Plan => {
  const plan = planOf(seed)
  return { ...plan, lanes: plan.lanes.map(laneOf), windows: [], datagrams: undefined }
}

/** Runs the program of a seed over eRDMA. Faults are ten times as many as for RC in every other seed. */
export const runErdmaSeed = (seed: number): SeedOutcome => {
  const given = erdmaPlanOf(seed)
  const worse = seed % 2 === 0 ? 10 : 1
  const plan = {
    ...given,
    impairments: given.impairments.map((each) => ({
      ...each,
      loss: worse * (each.loss ?? 0),
      corruption: worse * (each.corruption ?? 0),
      duplication: worse * (each.duplication ?? 0),
    })),
  }
  const controller = controllers[seed % controllers.length]!
  const network = new VerbsNetwork({
    graph: plan.graph,
    seed,
    kernel: plan.kernel,
    switches: sharedBufferSwitches({ bufferBytes: 1 << 20, lossless: plan.lossless }),
    controller,
    transport: erdmaVerbs({ controller }),
  })
  return runPlan(plan, network)
}

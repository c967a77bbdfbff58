import { parseConfig } from "@rdmakit/ns3"
import { Ns3Simulation, ns3FlowsOf, ns3TopologyOf, type RunOutcome } from "@rdmakit/scenario"
import { hostsOf, hpccFabric, Ports, Routes } from "@rdmakit/topology"
import { formatTime, MILLISECOND, SECOND, tryParseTime } from "@rdmakit/units"
import { fbHadoop, hostLoadBps, poissonFlows } from "@rdmakit/workload"
import { Effect, Option } from "effect"
import { costMeter, execute } from "./Execution.ts"
import { Exit, exitCodes, Refused } from "./Exit.ts"
import { counted, grouped, short } from "./Figures.ts"
import { Interrupts, signals } from "./Interrupts.ts"
import { paintOf } from "./Paint.ts"
import { print, Screen, tell } from "./Screen.ts"
import { sideBySideLines, slowdownJson } from "./SlowdownTable.ts"

const HOSTS = 320
const LOAD = 0.5
/** A tenth of a second of this fabric would take hours. */
const DURATION_PS_MAX = 100 * MILLISECOND
const SEED = 1

/** The simulator's own settings for each algorithm at 100 Gb/s (run.py of the HPCC repository). */
const settings = {
  hpcc: "CC_MODE 3 HAS_WIN 1 VAR_WIN 1 FAST_REACT 1 U_TARGET 0.95 INT_MULTI 4 RATE_AI 50Mb/s RATE_HAI 50Mb/s ACK_HIGH_PRIO 0",
  timely: "CC_MODE 7 HAS_WIN 0 VAR_WIN 0 FAST_REACT 0 INT_MULTI 1 RATE_AI 100Mb/s RATE_HAI 500Mb/s ACK_HIGH_PRIO 1",
} as const

const shared = `TOPOLOGY_FILE fabric FLOW_FILE flows FCT_OUTPUT_FILE fct MIN_RATE 1000Mb/s SIMULATOR_STOP_TIME 4.0 ENABLE_TRACE 0
PACKET_PAYLOAD_SIZE 1000 GLOBAL_T 1 RATE_BOUND 1 ENABLE_QCN 1 L2_CHUNK_SIZE 4000 L2_ACK_INTERVAL 1 BUFFER_SIZE 32
KMAX_MAP 2 100000000000 1600 400000000000 6400 KMIN_MAP 2 100000000000 400 400000000000 1600
PMAX_MAP 2 100000000000 0.20 400000000000 0.20 QLEN_MON_START 2000000000 QLEN_MON_END 2000000000`

export interface StartInput {
  /** Published claims afterwards, quick. */
  readonly claims: boolean
  /** Simulated time in which flows start: "100us". */
  readonly time: string
  readonly json: boolean
}

/** HPCC and TIMELY on the HPCC paper's fabric under Facebook's Hadoop flows, side by side. */
export const start = ({ time, claims: wanted, json }: StartInput) =>
  Effect.gen(function* () {
    if (wanted && json) {
      const hint = "rdmakit claims --json prints the claims"
      return yield* new Refused({ message: "--claims --json: found both, expected one of them", hint })
    }
    const durationPs = yield* durationOf(time)
    const { out } = yield* Screen
    const { bold } = paintOf(out)
    const cost = costMeter(false)
    const runs: Array<{ readonly name: string; readonly outcome: RunOutcome }> = []
    yield* tell(
      `${HOSTS} hosts, 100 Gb/s links to 20 racks, 400 Gb/s above; FB_Hadoop flows at ${LOAD * 100} % load for ${formatTime(durationPs)}`,
    )
    for (const [name, text] of Object.entries(settings)) {
      const outcome = yield* execute(simulationOf(text, durationPs))
      if (outcome.partial) return yield* new Exit({ code: signals[(yield* Interrupts).received()].code })
      runs.push({ name: name.toUpperCase(), outcome })
    }
    if (json) {
      const results = runs.map(({ name, outcome }) => ({
        name,
        ...figuresOf(outcome),
        slowdown: slowdownJson(outcome),
      }))
      yield* print(JSON.stringify({ hosts: HOSTS, load: LOAD, startSeconds: durationPs / SECOND, results, ...cost() }))
    } else {
      for (const line of sideBySideLines(runs, out.columns, bold)) yield* print(line)
      yield* print("")
      for (const { name, outcome } of runs) yield* print(`${name.padEnd(6)}  ${sentenceOf(outcome)}`)
      const { cpuSeconds } = cost()
      yield* print("")
      yield* print(`${cpuSeconds.toFixed(1)} s of CPU. Next: rdmakit run YOUR-CONFIG.txt, or rdmakit --help`)
    }
    if (wanted) {
      yield* print("")
      yield* print(bold("Published figures, measured (rdmakit claims has the numbers)"))
      const { claims } = yield* Effect.promise(() => import("./Claims.ts"))
      yield* claims(quickClaims)
    }
    if (runs.some(({ outcome }) => outcome.unfinished.length > 0)) return yield* new Exit({ code: exitCodes.notWell })
  })

const quickClaims = {
  ids: [],
  quick: true,
  full: false,
  out: "claims.results",
  jobs: Option.none<number>(),
  force: false,
  json: false,
  brief: true,
}

const durationOf = (text: string): Effect.Effect<number, Refused> => {
  const durationPs = tryParseTime(text)
  if (typeof durationPs !== "number") return Effect.fail(new Refused({ message: `--time: ${durationPs.message}` }))
  if (durationPs > 0 && durationPs <= DURATION_PS_MAX) return Effect.succeed(durationPs)
  const message = `--time: found "${text}", expected a time above 0, at most ${formatTime(DURATION_PS_MAX)}`
  return Effect.fail(new Refused({ message }))
}

const figuresOf = ({
  flowsTotal,
  flowsFinished,
  packetHops,
  pfcPauses,
  pfcPauseFraction,
  dropsByReason,
  digest,
}: RunOutcome) => ({
  flowsTotal,
  flowsFinished,
  packetHops,
  pfcPauses,
  pfcPauseFraction,
  dropsByReason,
  digest,
})

const sentenceOf = (outcome: RunOutcome): string => {
  const { flowsFinished, flowsTotal, packetHops, pfcPauses, pfcPauseFraction } = outcome
  const pauses =
    pfcPauses === 0 ? "no pause" : `${counted(pfcPauses, "pause")} (${(pfcPauseFraction * 100).toFixed(2)} % of time)`
  return `${grouped(flowsFinished)} of ${counted(flowsTotal, "flow")}, ${short(packetHops)} packet-hops, ${pauses}, digest ${outcome.digest}`
}

const simulationOf = (text: string, durationPs: number): Ns3Simulation => {
  const configFile = parseConfig(`${shared}\n${text}`, "start")
  const graph = hpccFabric()
  const ports = new Ports(graph)
  return new Ns3Simulation({
    name: "start",
    configFile,
    config: configFile.config,
    files: { topology: "", flows: "", trace: "" },
    topology: ns3TopologyOf(graph),
    graph,
    ports,
    routes: new Routes(graph, ports, { order: "breadth-first", parallel: "last" }),
    flows: ns3FlowsOf(
      poissonFlows({
        hosts: [...hostsOf(graph)],
        sizes: fbHadoop,
        payloadBps: hostLoadBps(LOAD, 100e9),
        startPs: 2e12,
        durationPs,
        seed: SEED,
      }),
    ),
    traceNodes: [],
    notes: [],
  })
}

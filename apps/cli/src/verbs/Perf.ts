import {
  addressLines,
  BANDWIDTH_HEADER,
  bandwidthLine,
  LATENCY_HEADER,
  type LatencyResult,
  latencyLine,
  perf as measure,
  type PerfReport,
  PerfSettingError,
  type PerfSettings,
  type PerfStart,
  type PerfTest,
  type PerftestResults,
  type PerfWatch,
  perfSettings,
  RESULT_LINE,
  type Role,
  testLines,
} from "@rdmakit/perftest"
import { openDevice } from "@rdmakit/verbs"
import { Effect, Option } from "effect"
import { print } from "../Screen.ts"
import { endingWell } from "./Ending.ts"
import { accepted, dialled, type EndsOutcome, flagsOf, runEnds } from "./Ends.ts"
import { type Show, withLiveLines } from "./LiveLines.ts"
import type { WorldInput } from "./World.ts"

export interface PerfInput extends WorldInput {
  readonly test: PerfTest
  readonly peer: Option.Option<string>
  readonly listen: boolean
  readonly size: Option.Option<number>
  readonly all: boolean
  readonly iterations: Option.Option<number>
  readonly queuePairs: Option.Option<number>
  readonly mtu: Option.Option<number>
  readonly bidirectional: boolean
  readonly connection: Option.Option<"rc" | "uc" | "ud">
  readonly txDepth: Option.Option<number>
  readonly moderation: Option.Option<number>
  readonly inline: Option.Option<number>
  readonly gidIndex: Option.Option<number>
  readonly poll: boolean
}

/** perftest's. */
const PORT = 18_515

export const perf = (input: PerfInput) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(input)
    const outcome = yield* withLiveLines((show) => measured(input, settings, input.json ? {} : watchOf(show, input)))
    yield* print(input.json ? JSON.stringify(jsonOf(outcome)) : RESULT_LINE)
  }).pipe(endingWell(input.json))

const measured = (input: PerfInput, settings: PerfSettings, watch: PerfWatch) =>
  runEnds({
    ...{ input, listen: input.listen, host: input.peer, port: PORT, peerArguments: peerArguments(input) },
    connection: { type: settings.connection, saidBy: "--connection" },
    polls: input.poll,
    client: (place) =>
      Effect.flatMap(dialled(place), (connection) =>
        Effect.flatMap(openDevice(), (device) => measure(device, connection, "client", settings, watch)),
      ),
    server: (port, listening, isAlone) =>
      Effect.flatMap(accepted(port, listening), (connection) =>
        Effect.flatMap(openDevice(), (device) => measure(device, connection, "server", settings, isAlone ? watch : {})),
      ),
  })

const watchOf = (show: Show, { on }: PerfInput): PerfWatch => ({
  connected: (start) => show(...startLines(start, Option.contains(on, "iwarp") ? "IW" : "IB")),
  result: (result) => show(lineOf(result)),
})

const settingsOf = (input: PerfInput): Effect.Effect<PerfSettings, PerfSettingError> =>
  Effect.try({
    try: () =>
      perfSettings({
        test: input.test,
        connection: Option.getOrUndefined(input.connection),
        bytes: Option.getOrUndefined(input.size),
        all: input.all,
        iterations: Option.getOrUndefined(input.iterations),
        queuePairs: Option.getOrUndefined(input.queuePairs),
        bidirectional: input.bidirectional,
        mtuBytes: Option.getOrUndefined(input.mtu),
        txDepth: Option.getOrUndefined(input.txDepth),
        moderation: Option.getOrUndefined(input.moderation),
        inlineBytes: Option.getOrUndefined(input.inline),
        gidIndex: Option.getOrUndefined(input.gidIndex),
      }),
    catch: (error) => {
      if (error instanceof PerfSettingError) return error
      throw error
    },
  })

/** Both sides are given the same settings, as perftest's are. */
const peerArguments = (input: PerfInput): ReadonlyArray<string> => [
  ...["perf", input.test],
  ...flagsOf({
    size: input.size,
    all: input.all,
    iters: input.iterations,
    qp: input.queuePairs,
    mtu: input.mtu,
    bidirectional: input.bidirectional,
    connection: input.connection,
    "tx-depth": input.txDepth,
    "cq-mod": input.moderation,
    inline: input.inline,
    "gid-index": input.gidIndex,
    poll: input.poll,
  }),
]

const isLatency = (result: PerftestResults | LatencyResult): result is LatencyResult => "minUs" in result

const lineOf = (result: PerftestResults | LatencyResult): string =>
  isLatency(result) ? latencyLine(result) : bandwidthLine(result)

const startLines = (start: PerfStart, transport: "IB" | "IW"): ReadonlyArray<string> => [
  ...testLines(start, transport),
  ...addressLines(start),
  RESULT_LINE,
  start.settings.kind === "lat" ? LATENCY_HEADER : BANDWIDTH_HEADER,
]

const resultsOf = ({ bandwidths, latencies }: PerfReport) => [
  ...bandwidths.map(({ bytes, iterations, peak, average, messageRate }) => ({
    ...{ bytes, iterations, peakMBps: peak, averageMBps: average, messageRateMpps: messageRate },
  })),
  ...latencies,
]

const jsonOf = (outcome: EndsOutcome<PerfReport>) => {
  const report = outcome.on === "fabric" ? outcome.client : outcome.value
  const { settings, mtuBytes } = report
  const { test, connection, queuePairs, bidirectional } = settings
  const role: Role = outcome.on === "fabric" ? "client" : outcome.role
  const common = { ok: true, test, on: outcome.on, role, connection, mtuBytes, queuePairs, bidirectional }
  const results = resultsOf(report)
  if (outcome.on !== "fabric") return { ...common, results }
  const { server, elapsedPs, digest } = outcome
  return { ...common, results, serverResults: resultsOf(server), elapsedPs, digest }
}

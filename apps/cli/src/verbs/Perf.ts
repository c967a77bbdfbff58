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
import { print, type Screen } from "../Screen.ts"
import { endingWell } from "./Ending.ts"
import { accepted, dialled, type EndsOutcome, flagsOf, runEnds } from "./Ends.ts"
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
}

/** perftest's. */
const PORT = 18_515

export const perf = (input: PerfInput) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(input)
    const screen = yield* Effect.context<Screen>()
    const watch: PerfWatch = input.json
      ? {}
      : {
          connected: (start) => Effect.provide(showStart(start), screen),
          result: (result) => Effect.provide(print(lineOf(result)), screen),
        }
    const outcome = yield* runEnds({
      ...{ input, listen: input.listen, host: input.peer, port: PORT, peerArguments: peerArguments(input) },
      client: (place, isLive) =>
        Effect.flatMap(dialled(place), (connection) =>
          Effect.flatMap(openDevice(), (device) =>
            measure(device, connection, "client", settings, isLive ? watch : {}),
          ),
        ),
      server: (port, listening, isLive) =>
        Effect.flatMap(accepted(port, listening), (connection) =>
          Effect.flatMap(openDevice(), (device) =>
            measure(device, connection, "server", settings, isLive ? watch : {}),
          ),
        ),
    })
    if (input.json) return yield* print(JSON.stringify(jsonOf(outcome)))
    if (outcome.on === "fabric") {
      const { client } = outcome
      yield* showStart(client)
      for (const result of [...client.bandwidths, ...client.latencies]) yield* print(lineOf(result))
    }
    yield* print(RESULT_LINE)
  }).pipe(endingWell(input.json))

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
  }),
]

const isLatency = (result: PerftestResults | LatencyResult): result is LatencyResult => "minUs" in result

const lineOf = (result: PerftestResults | LatencyResult): string =>
  isLatency(result) ? latencyLine(result) : bandwidthLine(result)

const showStart = (start: PerfStart): Effect.Effect<void, never, Screen> =>
  Effect.gen(function* () {
    const { settings } = start
    const lines = [
      ...testLines(start),
      ...addressLines(start),
      RESULT_LINE,
      settings.kind === "lat" ? LATENCY_HEADER : BANDWIDTH_HEADER,
    ]
    for (const line of lines) yield* print(line)
  })

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
  if (outcome.on === "softnic") return { ...common, results }
  const { server, elapsedPs, digest } = outcome
  return { ...common, results, serverResults: resultsOf(server), elapsedPs, digest }
}

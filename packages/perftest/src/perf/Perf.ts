import type { DeviceContext } from "@rdmakit/verbs"
import { Effect, type Scope } from "effect"
import { sumOf } from "../Bandwidth.ts"
import type { LatencyResult } from "../Latency.ts"
import { type OutOfBandConnection, type OutOfBandError, part, peerLeft } from "../outofband/OutOfBand.ts"
import type { PerftestKeys, PerftestResults } from "../outofband/PerftestMessages.ts"
import { PerftestSession, type Role } from "../outofband/PerftestSession.ts"
import { type ProgramError, posting } from "../ProgramError.ts"
import { completionsOf, PerfSettingError, type PerfSettings, sizesOf } from "../Settings.ts"
import { BandwidthRun, NOTHING } from "./BandwidthRun.ts"
import { LatencyRun } from "./LatencyRun.ts"
import { connectSide, makeSide, type PerfPeer, type PerfSide } from "./PerfSide.ts"

/** What one side of a measurement has to tell. */
export interface PerfReport {
  readonly role: Role
  readonly settings: PerfSettings
  readonly mtuBytes: number
  readonly gidIndex: number
  readonly mine: ReadonlyArray<PerftestKeys>
  readonly theirs: ReadonlyArray<PerftestKeys>
  /** One for each size; of a bidirectional test the sum of both sides. Empty for the server of READs and atomics. */
  readonly bandwidths: ReadonlyArray<PerftestResults>
  readonly latencies: ReadonlyArray<LatencyResult>
}

/** What a side knows when the queue pairs are connected. */
export type PerfStart = Omit<PerfReport, "bandwidths" | "latencies">

/** Who is told while a measurement goes on. */
export interface PerfWatch {
  /** Both sides know each other. */
  readonly connected?: (start: PerfStart) => Effect.Effect<void>
  /** One size is done. */
  readonly result?: (result: PerftestResults | LatencyResult) => Effect.Effect<void>
}

/**
 * One side of a measurement, over a connection to the other, which may be one of perftest 6.06's tools on Linux: the same
 * messages out of band, in the same turns, and the same requests.
 */
export const perf = (
  context: DeviceContext,
  connection: OutOfBandConnection,
  role: Role,
  settings: PerfSettings,
  watch: PerfWatch = {},
): Effect.Effect<PerfReport, ProgramError | PerfSettingError, Scope.Scope> =>
  Effect.gen(function* () {
    const session = new PerftestSession(connection, role)
    const { activeMtuBytes } = yield* context.port()
    const { mtuBytes = activeMtuBytes } = settings
    if (mtuBytes > activeMtuBytes) {
      const expected = `at most ${activeMtuBytes}, the port's`
      return yield* new PerfSettingError({ option: "mtuBytes", found: String(mtuBytes), expected })
    }
    const { gidIndex } = settings
    if (gidIndex !== undefined && !context.gids.some(({ index }) => index === gidIndex)) {
      const expected = `0..${context.gids.length - 1}`
      return yield* new PerfSettingError({ option: "gidIndex", found: String(gidIndex), expected })
    }
    const { maxCqe } = context.attributes.limits
    const completions = completionsOf(settings)
    const queuePairsMost = Math.floor(maxCqe / completions)
    if (settings.queuePairs > queuePairsMost) {
      const why = `each has up to ${completions} completions (--tx-depth, --iters), and ${maxCqe} fit`
      const expected = `at most ${queuePairsMost}: ${why}`
      return yield* new PerfSettingError({ option: "queuePairs", found: String(settings.queuePairs), expected })
    }
    const agreed = yield* session.introduce(mtuBytes)
    const sizes = yield* trying(() => sizesOf(settings, agreed.mtuBytes))
    const side = yield* makeSide(context, settings, agreed, sizes.at(-1)!)
    const mine = side.keys
    const theirs = yield* session.keys(mine)
    const peer = yield* connectSide(side, theirs)
    // After RTR they meet; SENDs do so before they tell their keys again, the others after (send_bw.c, write_bw.c).
    if (settings.verb === "send") yield* Effect.andThen(session.meet(mine), session.keys(mine))
    else yield* Effect.andThen(session.keys(mine), session.meet(mine))
    const start: PerfStart = { role, settings, mtuBytes: agreed.mtuBytes, gidIndex: side.gidIndex, mine, theirs }
    yield* watch.connected?.(start) ?? Effect.void
    const onResult = watch.result ?? (() => Effect.void)
    const test = { connection, side, peer, session, sizes, role, onResult }
    const bandwidths = settings.kind === "bw" ? yield* measureBandwidth(test) : []
    const latencies = settings.kind === "lat" ? yield* measureLatency(test) : []
    yield* part(connection)
    return { ...start, bandwidths, latencies }
  })

interface Test {
  readonly connection: OutOfBandConnection
  readonly side: PerfSide
  readonly peer: PerfPeer
  readonly session: PerftestSession
  readonly sizes: ReadonlyArray<number>
  readonly role: Role
  readonly onResult: NonNullable<PerfWatch["result"]>
}

/** A peer that has left may have been done, and its last acknowledgements are on their way. */
const GRACE_MS = 2000

/** What goes on ends when the peer has left: it would wait for requests that never come. */
const whileThere = <A, E>({ connection }: Test, run: Effect.Effect<A, E>): Effect.Effect<A, E | OutOfBandError> =>
  Effect.raceFirst(
    run,
    connection.ended.pipe(
      Effect.andThen(Effect.sleep(GRACE_MS)),
      Effect.andThen(Effect.suspend(() => Effect.fail(peerLeft()))),
    ),
  )

const measureBandwidth = (test: Test) =>
  Effect.gen(function* () {
    const { side, peer, session, sizes, role, onResult } = test
    const { verb, bidirectional, all } = side.settings
    const { keys } = side
    const isClient = role === "client"
    const isSend = verb === "send"
    const results: Array<PerftestResults> = []
    const tell = (result: PerftestResults) => {
      results.push(result)
      return onResult(result)
    }
    // WRITEs, READs and atomics in one direction: the server waits until all is done (write_bw.c).
    const isPassive = !isSend && !bidirectional && !isClient
    for (const bytes of isPassive ? [] : sizes) {
      const run = yield* posting(() => new BandwidthRun(side, peer, bytes, isClient))
      if (isSend || bidirectional) yield* session.meet(keys)
      const mine = yield* whileThere(test, run.run)
      if (!isSend && bidirectional && all) yield* session.meet(keys)
      if (bidirectional) yield* tell(sumOf(mine, yield* session.results(mine)))
      else yield* tell(mine)
      if (isSend && all) yield* session.meet(keys)
    }
    if (!isSend && !bidirectional) {
      yield* session.meet(keys)
      const theirs = yield* session.results(results.at(-1) ?? NOTHING)
      if (isPassive) yield* tell(theirs)
    }
    yield* session.close(keys)
    return results
  })

const measureLatency = (test: Test) =>
  Effect.gen(function* () {
    const { side, peer, session, sizes, role, onResult } = test
    const { verb } = side.settings
    const { keys } = side
    const results: Array<LatencyResult> = []
    // SENDs meet for every size, when their receives are posted; the others once.
    if (verb !== "send") yield* session.meet(keys)
    for (const bytes of sizes) {
      const run = yield* posting(() => new LatencyRun(side, peer, bytes, role === "client"))
      if (verb === "send") yield* session.meet(keys)
      const result = yield* whileThere(test, run.run)
      if (result === undefined) continue
      results.push(result)
      yield* onResult(result)
    }
    // The sides of write_lat just end.
    if (verb !== "write") yield* session.close(keys)
    return results
  })

const trying = <A>(compute: () => A): Effect.Effect<A, PerfSettingError> =>
  Effect.try({
    try: compute,
    catch: (error) => {
      if (error instanceof PerfSettingError) return error
      throw error
    },
  })

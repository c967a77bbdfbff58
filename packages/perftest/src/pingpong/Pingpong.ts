import type { Time } from "@rdmakit/protocol"
import type { DeviceContext } from "@rdmakit/verbs"
import { Effect, type Scope } from "effect"
import { type OutOfBandConnection, part } from "../outofband/OutOfBand.ts"
import type { Role } from "../outofband/PerftestSession.ts"
import type { PingpongDestination } from "../outofband/PingpongMessage.ts"
import { type ProgramError, posting } from "../ProgramError.ts"
import { exchangeAddresses } from "./addresses.ts"
import { type PingpongSettingError, type PingpongSettings, SRQ_ADDRESSES } from "./PingpongOptions.ts"
import { PingpongRun } from "./PingpongRun.ts"
import { makePingpongSide } from "./PingpongSide.ts"

/** What one side has to tell. */
export interface PingpongReport {
  readonly role: Role
  readonly settings: PingpongSettings
  readonly mine: ReadonlyArray<PingpongDestination>
  readonly theirs: ReadonlyArray<PingpongDestination>
  /** Both ways together. */
  readonly bytes: number
  readonly elapsedPs: Time
}

/** What is told before the first message: both sides' addresses. */
export type OnAddresses = (
  mine: ReadonlyArray<PingpongDestination>,
  theirs: ReadonlyArray<PingpongDestination>,
) => Effect.Effect<void>

/**
 * One side of a pingpong, over a connection to the other, which may be ibv_rc_pingpong, uc, ud or srq on Linux: the same
 * messages out of band, and the same requests. The server sends back what it receives.
 */
export const pingpong = (
  context: DeviceContext,
  connection: OutOfBandConnection,
  role: Role,
  settings: PingpongSettings,
  onAddresses: OnAddresses = () => Effect.void,
): Effect.Effect<PingpongReport, ProgramError | PingpongSettingError, Scope.Scope> =>
  Effect.gen(function* () {
    const { side, connect } = yield* makePingpongSide(context, settings)
    const count = settings.type === "srq" ? SRQ_ADDRESSES : 1
    let run: PingpongRun | undefined
    const theirs = yield* exchangeAddresses(connection, role, side.mine, count, (peers) =>
      Effect.gen(function* () {
        const ready = new PingpongRun(side, role, yield* connect(peers))
        // Receives are there before the peer hears of it.
        yield* posting(() => ready.postReceives())
        run = ready
      }),
    )
    yield* onAddresses(side.mine, theirs)
    const startPs = context.now
    yield* run!.run
    const elapsedPs = context.now - startPs
    yield* part(connection)
    return { role, settings, mine: side.mine, theirs, bytes: 2 * settings.bytes * settings.iterations, elapsedPs }
  })

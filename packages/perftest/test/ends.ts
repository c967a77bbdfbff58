import { NetworkLinks, onHost, type ProgramServices, simulateProgram, Topology } from "@rdmakit/fabric"
import { type DeviceContext, openDevice } from "@rdmakit/verbs"
import { Effect, Exit, type Scope } from "effect"
import {
  memoryOutOfBand,
  OutOfBand,
  type OutOfBandConnection,
  type PerfOptions,
  type PingpongOptions,
  perf,
  perfSettings,
  pingpong,
  pingpongSettings,
  type Role,
} from "../src/index.ts"

export const RATE_BPS = 100e9
export const DELAY_PS = 1e6
/** At 100 Gb/s. */
export const PS_PER_BYTE = 80

const link = { rateBps: RATE_BPS, delayPs: DELAY_PS, lossRate: 0 }
/** Two hosts at a switch. */
const star = {
  nodes: 3,
  isSwitch: Uint8Array.of(0, 0, 1),
  links: [
    { a: 0, b: 2, ...link },
    { a: 1, b: 2, ...link },
  ],
}

export interface RunOptions {
  readonly seed?: number
  /** Of what crosses the client's link, each way. */
  readonly faults?: { readonly loss?: number; readonly duplication?: number; readonly reordering?: number }
}

/** Both ends on hosts of their own, in virtual time. */
export const simulated = <A, B, E, F>(
  client: Effect.Effect<A, E, ProgramServices | OutOfBand | Scope.Scope>,
  server: Effect.Effect<B, F, ProgramServices | OutOfBand | Scope.Scope>,
  { seed = 1, faults }: RunOptions = {},
) => {
  const both = Effect.gen(function* () {
    const links = yield* NetworkLinks
    if (faults !== undefined) links.impair(0, faults)
    const [first, second] = yield* Effect.all([onHost(0)(client), onHost(1)(server)], { concurrency: "unbounded" })
    return { client: first, server: second }
  }).pipe(Effect.scoped, Effect.provide(memoryOutOfBand))
  return simulateProgram(both, { seed, until: 600e12 }).pipe(Effect.provideService(Topology, star))
}

/** The outcome of a program that succeeds. */
export const succeeds = <A, E>(program: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(program)

/** The error of one that does not. */
export const errorOf = <A, E extends { readonly message: string }>(
  program: Effect.Effect<A, E>,
): Promise<{ readonly message: string; readonly doThis?: string | undefined }> =>
  Effect.runPromise(Effect.flip(program))

/** The message of the error of one that does not. */
export const failureOf = async <A, E extends { readonly message: string }>(
  program: Effect.Effect<A, E>,
): Promise<string> => {
  const exit = await Effect.runPromiseExit(Effect.flip(program))
  return Exit.isSuccess(exit) ? exit.value.message : "it succeeded"
}

type OneEnd<A, E> = (
  device: DeviceContext,
  connection: OutOfBandConnection,
  role: Role,
) => Effect.Effect<A, E, Scope.Scope>

/** One end that finds the other out of band. */
export const end = <A, E>(role: Role, run: OneEnd<A, E>) =>
  Effect.gen(function* () {
    const { connect, listen } = yield* OutOfBand
    const connection =
      role === "client"
        ? yield* connect("server", 18_515)
        : yield* Effect.flatMap(listen(18_515), ({ accept }) => accept)
    const device = yield* openDevice()
    return yield* run(device, connection, role)
  })

/** A measurement between two hosts. */
export const measured = (options: PerfOptions, run: RunOptions = {}, server: PerfOptions = options) => {
  const side =
    (settings: PerfOptions): OneEnd<Effect.Success<ReturnType<typeof perf>>, Effect.Error<ReturnType<typeof perf>>> =>
    (device, connection, role) =>
      perf(device, connection, role, perfSettings(settings))
  return simulated(end("client", side(options)), end("server", side(server)), run)
}

/** A pingpong between two hosts. */
export const pingponged = (options: PingpongOptions, run: RunOptions = {}) => {
  const settings = pingpongSettings(options)
  const side = (role: Role) => end(role, (device, connection) => pingpong(device, connection, role, settings))
  return simulated(side("client"), side("server"), run)
}

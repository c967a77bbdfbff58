/** The ends of a program of verbs: both of them, or one. */
import {
  OutOfBand,
  type OutOfBandConnection,
  type OutOfBandError,
  type PingpongType,
  type Role,
} from "@rdmakit/perftest"
import { Effect, Option, type Scope } from "effect"
import { Refused } from "../Exit.ts"
import { type Screen, tell } from "../Screen.ts"
import { type EndServices, runOnFabric } from "./FabricWorld.ts"
import { runOnIwarp } from "./IwarpWorld.ts"
import { LISTENING } from "./PeerProcess.ts"
import { PEER_ADDRESS, runOnSoftnic, type SpawnedPeer, spawnPeer } from "./SoftnicWorld.ts"
import { addressOfHost, type Ends, type WantedWorld, type WorldInput, wantedWorld } from "./World.ts"

/** Where the other end is. */
export interface Place {
  /** For TCP. */
  readonly host: string
  /** For the connection manager. */
  readonly address: string
  readonly port: number
}

/** What one process does. */
export interface EndsPlan<A, E> {
  readonly input: WorldInput
  readonly listen: boolean
  readonly host: Option.Option<string>
  /** Default of --port. */
  readonly port: number
  /** The queue pairs' type, and what of the command line says so. Default: rc. */
  readonly connection?: { readonly type: PingpongType; readonly saidBy: string }
  /** Whether it polls for completions, in place of sleeping until one comes. */
  readonly polls?: boolean
  /** The command line of the other process, without the flags of its world. */
  readonly peerArguments: ReadonlyArray<string>
  /** `isLive`: real time passes, and what is found may be shown as it comes. */
  readonly client: (place: Place, isLive: boolean) => Effect.Effect<A, E, EndServices>
  /** @param listening to be run when clients may come */
  readonly server: (port: number, listening: Effect.Effect<void>, isLive: boolean) => Effect.Effect<A, E, EndServices>
}

export type EndsOutcome<A> =
  | {
      readonly on: "fabric"
      readonly client: A
      readonly server: A
      readonly elapsedPs: number
      readonly digest: string
    }
  | { readonly on: "softnic" | "iwarp"; readonly role: Role; readonly value: A }

const LOOPBACK = "127.0.0.1"

export const runEnds = <A, E>(plan: EndsPlan<A, E>) =>
  Effect.gen(function* () {
    const { input, listen, host } = plan
    if (listen && Option.isSome(host)) {
      return yield* new Refused({ message: `--listen: found it beside ${host.value}, expected one end` })
    }
    // To a socket no name is this host.
    if (Option.contains(host, "")) {
      return yield* new Refused({ message: 'the other end: found "", expected the name or address of its host' })
    }
    const ends: Ends = listen ? "server" : Option.isSome(host) ? "client" : "both"
    const port = Option.getOrElse(input.port, () => plan.port)
    const world: WantedWorld = yield* wantedWorld(input, ends)
    const { connection } = plan
    if (world.kind === "iwarp" && connection !== undefined && connection.type !== "rc") {
      const message = `${connection.saidBy}: found ${connection.type} with iwarp, expected rc`
      const hint = "iWARP has reliable connections, each with receives of its own; --on softnic has the others"
      return yield* new Refused({ message, hint })
    }
    if (plan.polls === true && world.kind !== "softnic") {
      return yield* new Refused({ message: `--poll: found it with ${world.kind}, expected softnic` })
    }
    if (world.kind === "fabric") {
      const place = { host: "", address: addressOfHost(world.hosts[1]), port }
      const { value, time, digest } = yield* runOnFabric(
        world,
        plan.client(place, false),
        plan.server(port, Effect.void, false),
      )
      return { on: "fabric", ...value, elapsedPs: time, digest } as EndsOutcome<A>
    }
    const run = (peer: SpawnedPeer | undefined, end: Effect.Effect<A, E, EndServices>) =>
      world.kind === "iwarp"
        ? runOnIwarp(world, world.place ?? peer!.place, end)
        : runOnSoftnic(world, world.link ?? peer!.link, end, plan.polls)
    const isSpawned = world.kind === "iwarp" ? world.place === undefined : world.link === undefined
    if (!isSpawned) {
      const screen = yield* Effect.context<Screen>()
      const listening = Effect.provide(tell(`${LISTENING} at port ${port}`), screen)
      const end = Option.match(host, {
        onNone: () => plan.server(port, listening, true),
        onSome: (name) => plan.client({ host: name, address: name, port }, true),
      })
      const value = yield* run(undefined, end)
      return { on: world.kind, role: listen ? "server" : "client", value } as EndsOutcome<A>
    }
    const peer = yield* spawnPeer(plan.peerArguments, world.kind, input.seed)
    const place = { host: LOOPBACK, address: PEER_ADDRESS, port: peer.port }
    const value = yield* peer.beside(run(peer, plan.client(place, true)))
    return { on: world.kind, role: "client", value } as EndsOutcome<A>
  }).pipe(Effect.scoped)

/** A connection to a server, out of band. */
export const dialled = ({
  host,
  port,
}: Place): Effect.Effect<OutOfBandConnection, OutOfBandError, OutOfBand | Scope.Scope> =>
  OutOfBand.use(({ connect }) => connect(host, port))

/** A connection of the first client that comes, out of band. */
export const accepted = (port: number, listening: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const { accept } = yield* OutOfBand.use(({ listen }) => listen(port))
    yield* listening
    return yield* accept
  })

/** Flags of a command line: those that are given, and without their defaults. */
export const flagsOf = (
  flags: Readonly<Record<string, Option.Option<string | number> | boolean>>,
): ReadonlyArray<string> =>
  Object.entries(flags).flatMap(([name, value]) => {
    if (typeof value === "boolean") return value ? [`--${name}`] : []
    return Option.match(value, { onNone: () => [], onSome: (given) => [`--${name}`, String(given)] })
  })

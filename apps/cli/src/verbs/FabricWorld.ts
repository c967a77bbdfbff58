/** Both ends of a program in a simulated network. */
import type { Provider } from "@rdmakit/device/layer"
import {
  NetworkInvalid,
  NetworkLinks,
  onHost,
  type ProgramFault,
  type ProgramOptions,
  type ProgramOutcome,
  simulateProgram,
  TimeExceeded,
  Topology,
} from "@rdmakit/fabric"
import type { PcapngWriter } from "@rdmakit/pcap"
import { memoryOutOfBand, type OutOfBand } from "@rdmakit/perftest"
import { formatTime } from "@rdmakit/units"
import { Effect, type Scope } from "effect"
import { Refused } from "../Exit.ts"
import { capturing } from "./CaptureFile.ts"
import { FabricCapture } from "./FabricCapture.ts"
import type { WantedFabric } from "./World.ts"

/** What lasts longer, ps, is ended: times are exact below 2^53. */
const UNTIL = 9_000 * 1e12

/** What one end needs. */
export type EndServices = Provider | OutOfBand | Scope.Scope

export interface BothEnds<A, B> {
  readonly client: A
  readonly server: B
}

/** Runs both ends until both are done; one that fails ends the other. */
export const runOnFabric = <A, B, E>(
  world: WantedFabric,
  client: Effect.Effect<A, E, EndServices>,
  server: Effect.Effect<B, E, EndServices>,
) =>
  Effect.gen(function* () {
    const { graph, hosts, places, faults, seed, pcap } = world
    const ends = Effect.gen(function* () {
      if (faults !== undefined) {
        const links = yield* NetworkLinks
        // Whatever goes between the two crosses the client's link once, one way or the other.
        const { serverBps, ...impairment } = faults
        links.impair(links.ofHost(hosts[0]), impairment)
        if (serverBps !== undefined) links.limitReceiver(hosts[1], { rateBps: serverBps, pauses: true })
      }
      const [first, second] = yield* Effect.all([onHost(places[0])(client), onHost(places[1])(server)], {
        concurrency: "unbounded",
      })
      return { client: first, server: second } as BothEnds<A, B>
    }).pipe(Effect.scoped, Effect.provide(memoryOutOfBand))
    const simulated = (options: ProgramOptions) => simulateProgram(ends, options)
    const options = { seed, until: UNTIL }
    const captured = (writer: PcapngWriter) =>
      simulated({ ...options, onPacket: new FabricCapture(writer, hosts).onPacket })
    return yield* (pcap === undefined ? simulated(options) : capturing(pcap, hosts.length, captured)).pipe(
      Effect.provideService(Topology, graph),
      Effect.catchIf(
        (error): error is NetworkInvalid => error instanceof NetworkInvalid,
        ({ cause }) => Effect.fail(networkRefused(cause)),
      ),
      Effect.catchIf((error): error is TimeExceeded => error instanceof TimeExceeded, tooLong),
    )
  }).pipe(Effect.scoped)

const networkRefused = (cause: NetworkInvalid["cause"]): Refused =>
  "neededBytes" in cause
    ? new Refused({
        message: `the links keep ${cause.neededBytes} bytes of a switch aside, and it has ${cause.bufferBytes}`,
        hint: "choose a shorter --delay, or a lower --rate",
      })
    : new Refused({ message: cause.message })

const tooLong = ({ until }: TimeExceeded) =>
  Effect.fail(
    new Refused({
      message: `it had not ended after ${formatTime(until)} of simulated time, beyond which times are not exact`,
      hint: "choose a higher rate, or fewer or smaller messages",
    }),
  )

export type FabricOutcome<A, B> = ProgramOutcome<BothEnds<A, B>>
export type { ProgramFault }

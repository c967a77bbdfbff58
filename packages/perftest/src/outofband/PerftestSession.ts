import { Effect } from "effect"
import { FormatError } from "./FormatError.ts"
import type { OutOfBandConnection, OutOfBandError } from "./OutOfBand.ts"
import {
  emitKeys,
  emitMtu,
  emitResults,
  emitVersion,
  emitWord,
  PERFTEST_VERSION,
  type PerftestKeys,
  type PerftestResults,
  parseKeys,
  parseMtu,
  parseResults,
  parseVersion,
  parseWord,
} from "./PerftestMessages.ts"
import { DONE } from "./PingpongMessage.ts"

/** Who began: the client writes first in every exchange, the server reads first. */
export type Role = "client" | "server"

type Exchanged<A> = Effect.Effect<A, OutOfBandError | FormatError>

/** Bytes that a buffer has at least (cycle_buffer), which is the page of the tools' machine. */
export const CYCLE_BUFFER = 4096
const CACHE_LINE = 64

/** The connection of perftest's two sides, turn by turn. */
export class PerftestSession {
  readonly role: Role
  readonly #connection: OutOfBandConnection

  constructor(connection: OutOfBandConnection, role: Role) {
    this.#connection = connection
    this.role = role
  }

  /**
   * Versions, sizes of buffers and path MTUs.
   * @returns the smaller path MTU, and the larger buffer, in bytes
   */
  introduce(mtuBytes: number): Exchanged<{ readonly mtuBytes: number; readonly bufferBytes: number }> {
    const turn = <A>(mine: Uint8Array, parse: (octets: Uint8Array) => A) => this.#turn(mine, parse)
    return Effect.gen(function* () {
      yield* turn(emitVersion(PERFTEST_VERSION), parseVersion)
      const cycle = yield* turn(emitWord(CYCLE_BUFFER), (octets) => parseWord("cycle buffer", octets))
      yield* turn(emitWord(CACHE_LINE), (octets) => parseWord("cache line", octets))
      const mtu = yield* turn(emitMtu(mtuBytes), parseMtu)
      return { mtuBytes: Math.min(mtu, mtuBytes), bufferBytes: Math.max(cycle, CYCLE_BUFFER) }
    })
  }

  /** Keys of queue pairs, one after the other. */
  keys(mine: ReadonlyArray<PerftestKeys>): Exchanged<ReadonlyArray<PerftestKeys>> {
    return Effect.forEach(mine, (keys) => this.#turn(emitKeys(keys), parseKeys))
  }

  /** The keys of the first queue pair once more: each side knows that the other has come so far. */
  meet(mine: ReadonlyArray<PerftestKeys>): Exchanged<void> {
    return Effect.asVoid(this.keys(mine.slice(0, 1)))
  }

  /** What was measured, both ways. */
  results(mine: PerftestResults): Exchanged<PerftestResults> {
    const turns = Effect.forEach(emitResults(mine), (octets) => this.#turn(octets, (answer) => answer))
    return Effect.flatMap(turns, (messages) => parsed(() => parseResults(messages)))
  }

  /** The end: keys once more, and a word that nobody waits for. */
  close(mine: ReadonlyArray<PerftestKeys>): Exchanged<void> {
    return Effect.andThen(this.meet(mine), this.#connection.write(DONE))
  }

  #turn<A>(mine: Uint8Array, parse: (octets: Uint8Array) => A): Exchanged<A> {
    const { read, write } = this.#connection
    const answer =
      this.role === "client"
        ? Effect.andThen(write(mine), read(mine.length))
        : Effect.tap(read(mine.length), () => write(mine))
    return Effect.flatMap(answer, (octets) => parsed(() => parse(octets)))
  }
}

/** Runs a parser, whose errors become the effect's. */
export const parsed = <A>(parse: () => A): Effect.Effect<A, FormatError> =>
  Effect.try({
    try: parse,
    catch: (error) => {
      if (error instanceof FormatError) return error
      throw error
    },
  })

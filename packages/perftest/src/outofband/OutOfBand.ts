import { Context, Data, Deferred, Effect, Layer, Queue, type Scope } from "effect"

/** What goes wrong beside the network that is measured: on the connection over which two programs find each other. */
export class OutOfBandError extends Data.TaggedError("OutOfBandError")<{
  readonly message: string
  readonly doThis?: string | undefined
}> {}

/** A connection of two programs, as TCP is one. */
export interface OutOfBandConnection {
  /** Sends octets at one go: the tools read a message whole, or fail. */
  readonly write: (octets: Uint8Array) => Effect.Effect<void, OutOfBandError>
  /** Waits for so many octets. Fails when the peer has closed before. */
  readonly read: (bytes: number) => Effect.Effect<Uint8Array, OutOfBandError>
  /** Says that this side writes no more; it may still read. */
  readonly end: Effect.Effect<void>
  /** Waits until the peer has said so, or is gone. What it wrote before may not have been read. */
  readonly ended: Effect.Effect<void>
}

/** A peer that has not come to its end so long after this side. */
const PART_S = 10

/** Waits for the peer's end, so that this side's queue pairs are there as long as the peer may need them. */
export const part = ({ end, ended }: OutOfBandConnection): Effect.Effect<void> =>
  end.pipe(Effect.andThen(ended), Effect.timeoutOrElse({ duration: `${PART_S} seconds`, orElse: () => Effect.void }))

export interface OutOfBandListener {
  readonly port: number
  /** Waits for the next peer. */
  readonly accept: Effect.Effect<OutOfBandConnection, OutOfBandError, Scope.Scope>
}

/** How programs find each other before there are queue pairs. A connection ends with its scope. */
export class OutOfBand extends Context.Service<
  OutOfBand,
  {
    /** @param port 1 to 65,535 */
    readonly connect: (host: string, port: number) => Effect.Effect<OutOfBandConnection, OutOfBandError, Scope.Scope>
    /** @param port 0 takes a free one */
    readonly listen: (port: number) => Effect.Effect<OutOfBandListener, OutOfBandError, Scope.Scope>
  }
>()("@rdmakit/perftest/OutOfBand") {}

/** Gathers pieces of octets, and gives them out by number. */
export class OctetBuffer {
  readonly #pieces: Array<Uint8Array> = []
  #bytes = 0

  push(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The first `bytes`, which have to be there. */
  take(bytes: number): Uint8Array {
    const octets = new Uint8Array(bytes)
    let at = 0
    while (at < bytes) {
      const piece = this.#pieces[0]!
      const part = piece.subarray(0, bytes - at)
      octets.set(part, at)
      at += part.length
      if (part.length === piece.length) this.#pieces.shift()
      else this.#pieces[0] = piece.subarray(part.length)
    }
    this.#bytes -= bytes
    return octets
  }
}

const WHY = "look at what the peer printed: it ended before the test did, or is another tool"

/** What a read says whose peer has gone. */
export const peerClosed = (wanted: number, had: number): OutOfBandError =>
  new OutOfBandError({
    message: `out of band: the peer closed the connection after ${had} of ${wanted} octets`,
    doThis: WHY,
  })

/** What is said in the midst of a test. */
export const peerLeft = (): OutOfBandError =>
  new OutOfBandError({ message: "out of band: the peer closed the connection before the test was done", doThis: WHY })

/** One direction. */
interface Pipe {
  /** undefined is its end. */
  readonly pieces: Queue.Queue<Uint8Array | undefined>
  readonly ended: Deferred.Deferred<void>
}

const makePipe: Effect.Effect<Pipe> = Effect.gen(function* () {
  return { pieces: yield* Queue.unbounded<Uint8Array | undefined>(), ended: yield* Deferred.make<void>() }
})

/** Connections within one process, which take no time: for both ends in one simulated network, and for tests. */
export const memoryOutOfBand: Layer.Layer<OutOfBand> = Layer.sync(OutOfBand, () => {
  const listeners = new Map<number, Deferred.Deferred<Queue.Queue<readonly [Pipe, Pipe]>>>()
  const slotOf = (port: number) => {
    const slot = listeners.get(port) ?? Deferred.makeUnsafe<Queue.Queue<readonly [Pipe, Pipe]>>()
    listeners.set(port, slot)
    return slot
  }
  let portNext = 49_152
  return {
    connect: (_host, port) =>
      Effect.gen(function* () {
        // Whoever comes first waits for the other.
        const arrivals = yield* Deferred.await(slotOf(port))
        const out = yield* makePipe
        const back = yield* makePipe
        yield* Queue.offer(arrivals, [back, out] as const)
        return yield* connectionOf(out, back)
      }),
    listen: (asked) =>
      Effect.gen(function* () {
        const port = asked === 0 ? portNext++ : asked
        const slot = slotOf(port)
        const arrivals = yield* Queue.unbounded<readonly [Pipe, Pipe]>()
        if (!(yield* Deferred.succeed(slot, arrivals))) {
          return yield* new OutOfBandError({ message: `out of band: port ${port} is in use`, doThis: "take another" })
        }
        yield* Effect.addFinalizer(() => Effect.sync(() => listeners.delete(port)))
        const accept = Effect.flatMap(Queue.take(arrivals), ([out, back]) => connectionOf(out, back))
        return { port, accept }
      }),
  }
})

const connectionOf = (out: Pipe, back: Pipe): Effect.Effect<OutOfBandConnection, never, Scope.Scope> =>
  Effect.gen(function* () {
    const end = Effect.andThen(
      Queue.offer(out.pieces, undefined),
      Effect.asVoid(Deferred.succeed(out.ended, undefined)),
    )
    yield* Effect.addFinalizer(() => end)
    const buffer = new OctetBuffer()
    let ended = false
    const read = (bytes: number): Effect.Effect<Uint8Array, OutOfBandError> =>
      Effect.gen(function* () {
        while (buffer.bytes < bytes) {
          const piece = ended ? undefined : yield* Queue.take(back.pieces)
          if (piece === undefined) {
            ended = true
            return yield* peerClosed(bytes, buffer.bytes)
          }
          buffer.push(piece)
        }
        return buffer.take(bytes)
      })
    const write = (octets: Uint8Array) => Effect.asVoid(Queue.offer(out.pieces, Uint8Array.from(octets)))
    return { write, read, end, ended: Deferred.await(back.ended) }
  })

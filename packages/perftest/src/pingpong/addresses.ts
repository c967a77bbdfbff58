import { Effect } from "effect"
import type { FormatError } from "../outofband/FormatError.ts"
import type { OutOfBandConnection, OutOfBandError } from "../outofband/OutOfBand.ts"
import { parsed, type Role } from "../outofband/PerftestSession.ts"
import {
  DONE,
  emitPingpong,
  PINGPONG_BYTES,
  type PingpongDestination,
  parsePingpong,
} from "../outofband/PingpongMessage.ts"

const UNUSED: PingpongDestination = { lid: 0, qpn: 0, psn: 0, gid: new Uint8Array(16) }

/**
 * Tells addresses and learns the peer's, as the examples of libibverbs do: the client writes first; the server connects its
 * queue pairs before it answers; the client says when it has the answer.
 *
 * @param count messages each way: more than there are addresses go as zeroes
 * @param connect what the server does before it answers, and the client after
 */
export const exchangeAddresses = <E, R>(
  { read, write }: OutOfBandConnection,
  role: Role,
  mine: ReadonlyArray<PingpongDestination>,
  count: number,
  connect: (theirs: ReadonlyArray<PingpongDestination>) => Effect.Effect<void, E, R>,
): Effect.Effect<ReadonlyArray<PingpongDestination>, E | OutOfBandError | FormatError, R> => {
  const places = Array.from({ length: count }, (_, index) => index)
  const tell = Effect.forEach(places, (index) => write(emitPingpong(mine[index] ?? UNUSED)), { discard: true })
  const hear = Effect.forEach(places, () =>
    Effect.flatMap(read(PINGPONG_BYTES), (octets) => parsed(() => parsePingpong(octets))),
  )
  const known = Effect.map(hear, (theirs) => theirs.slice(0, mine.length))
  return Effect.gen(function* () {
    if (role === "client") {
      yield* tell
      const theirs = yield* known
      yield* write(DONE)
      yield* connect(theirs)
      return theirs
    }
    const theirs = yield* known
    yield* connect(theirs)
    yield* tell
    yield* read(DONE.length)
    return theirs
  })
}

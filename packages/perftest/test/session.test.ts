import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import {
  DONE,
  OctetBuffer,
  type OutOfBandConnection,
  type PerftestKeys,
  PerftestSession,
  parseKeys,
  peerClosed,
  type Role,
} from "../src/index.ts"

/** What the tools of perftest 6.06 said to each other in a Linux guest; "> " is the client. */
const exchanges: Record<string, ReadonlyArray<string>> = JSON.parse(
  gunzipSync(readFileSync(new URL("exchanges.json.gz", import.meta.url))).toString(),
)

/** A peer that says what it was recorded to say, each piece once it was answered as the recording has it. */
const recordedPeer = (line: string, ours: Role) => {
  const mark = ours === "client" ? ">" : "<"
  const script = exchanges[line]!.map((each) => ({
    ours: each.startsWith(mark),
    octets: Uint8Array.from(Buffer.from(each.slice(2), "hex")),
  }))
  const buffer = new OctetBuffer()
  const written: Array<Uint8Array> = []
  let at = 0
  const hear = () => {
    for (; at < script.length && !script[at]!.ours; at++) buffer.push(script[at]!.octets)
  }
  hear()
  const connection: OutOfBandConnection = {
    write: (octets) =>
      Effect.sync(() => {
        written.push(octets)
        at++
        hear()
      }),
    end: Effect.void,
    ended: Effect.never,
    read: (bytes) =>
      Effect.suspend(() =>
        buffer.bytes < bytes ? Effect.fail(peerClosed(bytes, buffer.bytes)) : Effect.sync(() => buffer.take(bytes)),
      ),
  }
  const expected = script.filter((each) => each.ours).map(({ octets }) => octets)
  return { connection, written, expected, left: () => buffer.bytes }
}

const line = "ib_write_bw -n 100 -q 2 -b -s 1024"

/** Our keys are those that the recording has for this side, so that all that is said is the same octets. */
const recordedKeys = (role: Role): ReadonlyArray<PerftestKeys> => {
  const mark = role === "client" ? ">" : "<"
  const keys = exchanges[line]!.filter((each) => each.startsWith(mark) && each.length === 2 + 2 * 108)
  return keys.slice(0, 2).map((each) => parseKeys(Uint8Array.from(Buffer.from(each.slice(2), "hex"))))
}

describe("with a recorded peer", () => {
  test.each<Role>(["client", "server"])("as the %s, every octet is that of Linux's tool", async (role) => {
    const { connection, written, expected, left } = recordedPeer(line, role)
    const session = new PerftestSession(connection, role)
    const mine = recordedKeys(role)
    const program = Effect.gen(function* () {
      const agreed = yield* session.introduce(1024)
      const theirs = yield* session.keys(mine)
      yield* session.keys(mine)
      yield* session.meet(mine)
      yield* session.meet(mine)
      const results = yield* session.results({ bytes: 1024, iterations: 200, peak: 1, average: 2, messageRate: 3 })
      yield* session.close(mine)
      return { agreed, theirs, results }
    })
    const { agreed, theirs, results } = await Effect.runPromise(program)
    expect(agreed).toEqual({ mtuBytes: 1024, bufferBytes: 4096 })
    expect(theirs).toEqual(recordedKeys(role === "client" ? "server" : "client"))
    expect([results.bytes, results.iterations]).toEqual([1024, 200])
    // But for the doubles that were measured.
    const isMeasured = (octets: Uint8Array) => octets.length === 8 && octets[0] !== 0
    const said = written.slice(0, expected.length)
    expect(said.filter((octets) => !isMeasured(octets))).toEqual(expected.filter((octets) => !isMeasured(octets)))
    // The last word of the side that closed second was not recorded.
    expect(written.slice(expected.length)).toEqual(role === "client" ? [] : [DONE])
    expect(left()).toBeLessThanOrEqual(5)
  })

  test("a peer of another tool is refused", async () => {
    const { connection } = recordedPeer("ibv_rc_pingpong", "server")
    const error = await Effect.runPromise(Effect.flip(new PerftestSession(connection, "server").introduce(1024)))
    expect(error.message).toMatch(/^perftest version, version: found "0000:0000/)
  })
})

import { join } from "node:path"
import { OutOfBandError } from "@rdmakit/perftest"
import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { OwnCommand, startPeer } from "../src/verbs/PeerProcess.ts"
import { folderOf, shell } from "./rdmakit.ts"

/** Runs an end beside a peer that says and does what it is told. */
const beside = <A, E>(peer: string, program: Effect.Effect<A, E>) => {
  const script = join(folderOf({ "peer.mjs": `console.error("listening at port 1"); ${peer}` }), "peer.mjs")
  return startPeer([]).pipe(
    Effect.flatMap((process) => process.beside(program)),
    Effect.scoped,
    Effect.provideService(OwnCommand, [process.execPath, script]),
  )
}

const FAILS = 'console.error("error: 3 of 5 messages came\\nsend fewer"); process.exitCode = 1'
const left = new OutOfBandError({ message: "the peer closed the connection", doThis: "look at what the peer printed" })

describe("the process with the other end", { timeout: 20_000 }, () => {
  test("when it fails, this end does not go on, and tells what it said", async () => {
    const error = await Effect.runPromise(Effect.flip(beside(FAILS, Effect.never)))
    expect(error.message).toBe("the peer's process ended before the test did")
    expect(error).toMatchObject({ doThis: "the peer: 3 of 5 messages came\nsend fewer" })
  })

  test("an end that finds it gone tells so, with what it said in place of where to look", async () => {
    const error = await Effect.runPromise(Effect.flip(beside(FAILS, Effect.fail(left))))
    expect(error).toMatchObject({ message: left.message, doThis: "the peer: 3 of 5 messages came\nsend fewer" })
  })

  test("one that said nothing leaves this end's own words", async () => {
    const error = await Effect.runPromise(Effect.flip(beside("process.exitCode = 1", Effect.fail(left))))
    expect(error).toMatchObject({ message: left.message, doThis: left.doThis })
  })

  test("one that is done before this end is waited for by nobody", async () => {
    expect(await Effect.runPromise(beside("", Effect.delay(Effect.succeed("done"), 2500)))).toBe("done")
  })

  test("another error of this end is its own", async () => {
    const error = await Effect.runPromise(Effect.flip(beside(FAILS, Effect.fail({ _tag: "Mine", message: "mine" }))))
    expect(error).toEqual({ _tag: "Mine", message: "mine" })
  })

  test("a pingpong over UD whose datagrams come twice says what its server found, soon", async () => {
    const startMs = Date.now()
    const { code, err } = await shell("rdmakit pingpong ud -n 300 -c --on softnic --faults dup=20%")
    expect(code).toBe(1)
    expect(err).toMatch(/message \d+, octet 1: found 0x[0-9a-f]+, expected 0x[0-9a-f]+$/m)
    expect(err).toMatch(/^UD loses for good what the network loses, and takes a datagram that comes twice/m)
    expect(Date.now() - startMs).toBeLessThan(9000)
  })
})

import { spawn } from "node:child_process"
import { createSocket } from "node:dgram"
import { createServer } from "node:net"
import { OutOfBandError } from "@rdmakit/perftest"
import { Context, Data, Effect, Option, type Scope } from "effect"
import { Refused } from "../Exit.ts"

/** How this command is started: a program, and its first arguments. */
export const OwnCommand: Context.Reference<ReadonlyArray<string>> = Context.Reference("@rdmakit/cli/OwnCommand", {
  defaultValue: (): ReadonlyArray<string> => [process.execPath, ...process.execArgv, process.argv[1] ?? ""],
})

/** What a server says on its error side when peers may come. */
export const LISTENING = "listening"

const START_MS = 20_000
const STOP_MS = 3000
const ERROR_CHARACTERS_MAX = 4000
/** This end may know better why the peer failed: so long it has to say so, and the peer to end. */
const GRACE_MS = 1000

/** The process with the other end failed. */
export class PeerFailed extends Data.TaggedError("PeerFailed")<{
  readonly message: string
  /** What it said. */
  readonly doThis?: string | undefined
}> {}

export interface PeerProcess {
  /** Runs this end: it is told what a peer that failed said last, and does not go on for long without it. */
  readonly beside: <A, E, R>(program: Effect.Effect<A, E, R>) => Effect.Effect<A, E | PeerFailed, R>
}

/** Starts this command with other arguments, and waits until it listens. It ends with the scope, by itself or not. */
export const startPeer = (args: ReadonlyArray<string>): Effect.Effect<PeerProcess, Refused, Scope.Scope> =>
  Effect.gen(function* () {
    const [program, ...first] = yield* OwnCommand
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const started = spawn(program!, [...first, ...args], { stdio: ["ignore", "ignore", "pipe"] })
        const said = { text: "", ended: false }
        started.once("close", () => {
          said.ended = true
        })
        started.stderr.setEncoding("utf8")
        started.stderr.on("data", (piece: string) => {
          said.text = `${said.text}${piece}`.slice(-ERROR_CHARACTERS_MAX)
        })
        return { started, said }
      }),
      ({ started }) =>
        Effect.callback<void>((resume) => {
          if (started.exitCode !== null || started.signalCode !== null) {
            resume(Effect.void)
            return
          }
          const timer = setTimeout(() => started.kill(), STOP_MS)
          started.once("close", () => {
            clearTimeout(timer)
            resume(Effect.void)
          })
        }),
    )
    const { started, said } = child
    const failed = (why: string) => {
      const hint = said.text.trim()
      return Effect.fail(new Refused({ message: `the peer's process ${why}`, ...(hint === "" ? {} : { hint }) }))
    }
    yield* Effect.callback<void, Refused>((resume) => {
      const look = (): void => {
        if (said.text.includes(LISTENING)) resume(Effect.void)
      }
      started.stderr.on("data", look)
      started.once("error", (error) => resume(failed(`cannot be started: ${error.message}`)))
      started.once("close", () => resume(failed("ended before it listened")))
      look()
    }).pipe(Effect.timeoutOrElse({ duration: START_MS, orElse: () => failed("does not listen") }))
    /** Waits until it has failed. */
    const lastWords = Effect.callback<string | undefined>((resume) => {
      const look = (): void => {
        if (said.ended && started.exitCode !== 0) resume(Effect.sync(() => wordsOf(said.text)))
      }
      started.once("close", look)
      look()
      return Effect.sync(() => started.off("close", look))
    })
    return { beside: (program) => besides(program, lastWords) } satisfies PeerProcess
  })

const besides = <A, E, R>(program: Effect.Effect<A, E, R>, lastWords: Effect.Effect<string | undefined>) =>
  Effect.raceFirst(
    Effect.catch(program, (error): Effect.Effect<never, E | PeerFailed> => {
      if (!(error instanceof OutOfBandError)) return Effect.fail(error)
      const { message, doThis } = error
      return Effect.flatMap(Effect.timeoutOption(lastWords, GRACE_MS), (words) =>
        Effect.fail(new PeerFailed({ message, doThis: Option.getOrUndefined(words) ?? doThis })),
      )
    }),
    Effect.flatMap(Effect.tap(lastWords, Effect.sleep(GRACE_MS)), (doThis) =>
      Effect.fail(new PeerFailed({ message: "the peer's process ended before the test did", doThis })),
    ),
  )

/** What was said after it listened, as the peer's. */
const wordsOf = (text: string): string | undefined => {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith(LISTENING))
  return lines.length === 0 ? undefined : `the peer: ${lines.join("\n").replace(/^error: /, "")}`
}

/** Ports of loopback that nobody has now. */
export const freePorts = (
  count: number,
): Effect.Effect<{ readonly udp: ReadonlyArray<number>; readonly tcp: number }> =>
  Effect.promise(async () => {
    const sockets = await Promise.all(
      Array.from(
        { length: count },
        () =>
          new Promise<ReturnType<typeof createSocket>>((resolve, reject) => {
            const socket = createSocket("udp4")
            socket.once("error", reject)
            socket.bind(0, "127.0.0.1", () => resolve(socket))
          }),
      ),
    )
    const udp = sockets.map((socket) => socket.address().port)
    for (const socket of sockets) socket.close()
    const tcp = await new Promise<number>((resolve, reject) => {
      const server = createServer()
      server.once("error", reject)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
      })
    })
    return { udp, tcp }
  })

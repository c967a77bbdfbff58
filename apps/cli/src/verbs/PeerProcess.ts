import { spawn } from "node:child_process"
import { createSocket } from "node:dgram"
import { createServer } from "node:net"
import { Context, Effect, type Scope } from "effect"
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

/** Starts this command with other arguments, and waits until it listens. It ends with the scope, by itself or not. */
export const startPeer = (args: ReadonlyArray<string>): Effect.Effect<void, Refused, Scope.Scope> =>
  Effect.gen(function* () {
    const [program, ...first] = yield* OwnCommand
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const started = spawn(program!, [...first, ...args], { stdio: ["ignore", "ignore", "pipe"] })
        const said = { text: "" }
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
  })

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

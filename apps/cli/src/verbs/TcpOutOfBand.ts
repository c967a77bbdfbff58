/** Out of band over TCP, as the tools of Linux do it. */
import { createServer, type Server, type Socket, connect as tcpConnect } from "node:net"
import { OctetBuffer, OutOfBand, type OutOfBandConnection, OutOfBandError, peerClosed } from "@rdmakit/perftest"
import { Effect, Layer, type Scope } from "effect"

/** How long a client goes on dialling a server that does not listen yet. */
const DIAL_MS = 10_000
const REDIAL_MS = 100

/** Octets that wait to be read; a peer that sends more is no tool that we know. */
const WAITING_BYTES_MAX = 1 << 20

export interface TcpOptions {
  /** The address to listen at; all of them when it is left out. */
  readonly listenHost?: string | undefined
  /** For how long a server that refuses is dialled again, ms. */
  readonly dialMs?: number
}

export const tcpOutOfBand = ({ listenHost, dialMs = DIAL_MS }: TcpOptions = {}): Layer.Layer<OutOfBand> =>
  Layer.succeed(OutOfBand, {
    connect: (host, port) =>
      Effect.flatMap(
        Effect.acquireRelease(
          dial(host, port, Date.now() + dialMs),
          (socket) => Effect.sync(() => close(socket)),
          // A server that never answers is dialled until whoever waits has enough.
          { interruptible: true },
        ),
        (socket) => Effect.sync(() => connectionOf(socket)),
      ),
    listen: (port) => listen(port, listenHost),
  })

const close = (socket: Socket): void => {
  // What has been written goes out first.
  socket.end()
  socket.unref()
}

const dial = (host: string, port: number, untilMs: number): Effect.Effect<Socket, OutOfBandError> =>
  Effect.callback<Socket, NodeJS.ErrnoException>((resume) => {
    const socket = tcpConnect({ host, port, noDelay: true })
    socket.once("error", (error) => resume(Effect.fail(error)))
    socket.once("connect", () => {
      socket.removeAllListeners("error")
      resume(Effect.succeed(socket))
    })
    return Effect.sync(() => socket.destroy())
  }).pipe(
    Effect.catch((error) => {
      if (error.code === "ECONNREFUSED" && Date.now() < untilMs) {
        return Effect.delay(dial(host, port, untilMs), REDIAL_MS)
      }
      const doThis = error.code === "ECONNREFUSED" ? "start the server first; --port has to be the same" : undefined
      return Effect.fail(new OutOfBandError({ message: `${host} port ${port}: ${reasonOf(error)}`, doThis }))
    }),
  )

const listen = (port: number, host: string | undefined) =>
  Effect.gen(function* () {
    const arrived: Array<Socket> = []
    let wake: (() => void) | undefined
    const server = yield* Effect.acquireRelease(
      open(port, host, (socket) => {
        arrived.push(socket)
        wake?.()
      }),
      (opened) =>
        Effect.sync(() => {
          opened.close()
          for (const socket of arrived) socket.destroy()
        }),
    )
    const next: Effect.Effect<Socket> = Effect.callback((resume) => {
      wake = () => {
        wake = undefined
        resume(Effect.sync(() => arrived.shift()!))
      }
      if (arrived.length > 0) wake()
      return Effect.sync(() => {
        wake = undefined
      })
    })
    const accept: Effect.Effect<OutOfBandConnection, OutOfBandError, Scope.Scope> = Effect.map(
      Effect.acquireRelease(next, (socket) => Effect.sync(() => close(socket)), { interruptible: true }),
      connectionOf,
    )
    const address = server.address()
    return { port: typeof address === "object" && address !== null ? address.port : port, accept }
  })

const open = (port: number, host: string | undefined, arrive: (socket: Socket) => void) =>
  Effect.callback<Server, OutOfBandError>((resume) => {
    const server = createServer({ noDelay: true, pauseOnConnect: true }, arrive)
    server.once("error", (error: NodeJS.ErrnoException) => {
      const doThis = error.code === "EADDRINUSE" ? "another server listens there: --port takes another" : undefined
      resume(Effect.fail(new OutOfBandError({ message: `port ${port}: ${reasonOf(error)}`, doThis })))
    })
    server.listen({ port, host }, () => resume(Effect.succeed(server)))
  })

const connectionOf = (socket: Socket): OutOfBandConnection => {
  const buffer = new OctetBuffer()
  let ended = false
  let failure: OutOfBandError | undefined
  let wake: (() => void) | undefined
  const waiters = new Set<() => void>()
  const conclude = (): void => {
    ended = true
    wake?.()
    for (const waiter of waiters) waiter()
  }
  const fail = (message: string): void => {
    failure ??= new OutOfBandError({ message: `out of band: ${message}` })
    conclude()
  }
  socket.on("data", (piece: Uint8Array) => {
    buffer.push(piece)
    if (buffer.bytes > WAITING_BYTES_MAX) {
      socket.destroy()
      fail(`the peer sent more than ${WAITING_BYTES_MAX} octets that nobody expects`)
    }
    wake?.()
  })
  socket.on("end", conclude)
  socket.on("error", (error: NodeJS.ErrnoException) => fail(reasonOf(error)))
  socket.resume()
  const read = (bytes: number): Effect.Effect<Uint8Array, OutOfBandError> =>
    Effect.callback((resume) => {
      wake = () => {
        if (buffer.bytes < bytes && !ended) return
        wake = undefined
        if (buffer.bytes >= bytes) resume(Effect.sync(() => buffer.take(bytes)))
        else resume(Effect.fail(failure ?? peerClosed(bytes, buffer.bytes)))
      }
      wake()
      return Effect.sync(() => {
        wake = undefined
      })
    })
  const write = (octets: Uint8Array): Effect.Effect<void, OutOfBandError> =>
    Effect.suspend(() => {
      if (failure !== undefined) return Effect.fail(failure)
      socket.write(Uint8Array.from(octets))
      return Effect.void
    })
  const awaitEnd: Effect.Effect<void> = Effect.callback((resume) => {
    if (ended) {
      resume(Effect.void)
      return
    }
    const waiter = () => resume(Effect.void)
    waiters.add(waiter)
    return Effect.sync(() => waiters.delete(waiter))
  })
  return { read, write, end: Effect.sync(() => socket.end()), ended: awaitEnd }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there",
  ECONNRESET: "the peer closed the connection",
  EPIPE: "the peer closed the connection",
  ENOTFOUND: "there is no such host",
  EADDRINUSE: "in use",
  EACCES: "permission denied",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ETIMEDOUT: "nobody answers",
}

const reasonOf = (error: NodeJS.ErrnoException): string => reasons[error.code ?? ""] ?? error.message

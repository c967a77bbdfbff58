import { createConnection, createServer, type Server, type Socket } from "node:net"
import type { Cable, Receive } from "@rdmakit/codec/cable"
import { NEVER, type Time } from "@rdmakit/protocol"
import type { Clock } from "./Clock.ts"
import type { Counters } from "./Counters.ts"
import { SoftnicError } from "./SoftnicError.ts"

/** Where a stream is: a UNIX socket, or TCP (default host 127.0.0.1; port 1 to 65,535, or 0 to listen at any). */
export type StreamPlace = { readonly path: string } | { readonly host?: string; readonly port: number }

export interface FrameStreamOptions {
  readonly place: StreamPlace
  /** Wait for the other end to connect, or connect to it. */
  readonly role: "listen" | "connect"
}

const LENGTH_BYTES = 4
/** The longest frame that QEMU takes (NET_BUFSIZE). */
const FRAME_BYTES_MAX = 4096 + 65_536
/** Frames are gathered up to this, and written at once. */
const CHUNK_BYTES = 128 << 10
/** Octets that may wait for the other end to read; then senders wait. */
const UNSENT_BYTES_MAX = 1 << 20

/**
 * Ethernet frames over a stream, each behind its length (four octets, high one first), as QEMU's `-netdev stream` has them.
 * One end at a time: another that connects takes the place of the one before. While nobody is there, frames are lost.
 */
export class FrameStream implements Cable {
  readonly layer = "ethernet"
  readonly nextTimer: Time = NEVER
  receive: Receive = () => {}
  wake: () => void = () => {}
  private readonly clock: Clock
  private readonly counters: Counters
  private server: Server | undefined = undefined
  private socket: Socket | undefined = undefined
  /** The beginning of a frame whose end has not come. */
  private readonly partial = new Uint8Array(LENGTH_BYTES + FRAME_BYTES_MAX)
  private partialBytes = 0
  private chunk = new Uint8Array(0)
  private chunkBytes = 0
  private flushing = false
  private readonly flush = (): void => {
    this.flushing = false
    const { socket, chunkBytes } = this
    this.chunkBytes = 0
    if (socket === undefined || chunkBytes === 0) return
    socket.write(this.chunk.subarray(0, chunkBytes))
    this.chunk = this.chunk.subarray(chunkBytes)
  }

  private constructor(clock: Clock, counters: Counters) {
    this.clock = clock
    this.counters = counters
  }

  /** Listens, or connects, by options that `checkSoftnicOptions` took. @throws SoftnicError */
  static async open({ place, role }: FrameStreamOptions, clock: Clock, counters: Counters): Promise<FrameStream> {
    const stream = new FrameStream(clock, counters)
    const where = "path" in place ? { path: place.path } : { host: place.host ?? "127.0.0.1", port: place.port }
    await new Promise<void>((done, failed) => {
      if (role === "listen") {
        const server = createServer((socket) => {
          stream.take(socket)
        })
        stream.server = server
        server.once("error", failed)
        server.listen(where, () => {
          server.off("error", failed)
          server.on("error", () => {
            counters.socketErrors++
          })
          done()
        })
        return
      }
      const socket = createConnection(where)
      socket.once("error", failed)
      socket.once("connect", () => {
        socket.off("error", failed)
        stream.take(socket)
        done()
      })
    }).catch((error: unknown) => {
      stream.close()
      const text = error instanceof Error ? error.message : String(error)
      const expected = role === "listen" ? "a place that is free" : "somebody who listens there"
      throw new SoftnicError(`stream at ${"path" in place ? place.path : place.port}`, text, expected, error)
    })
    return stream
  }

  /** Somebody is at the other end. */
  get connected(): boolean {
    return this.socket !== undefined
  }

  send(_now: Time, octets: Uint8Array, start: number, end: number): boolean {
    if (this.socket === undefined) return true
    const bytes = end - start
    if (this.chunkBytes + LENGTH_BYTES + bytes > this.chunk.length) {
      if (this.chunkBytes > 0) this.flush()
      if (this.chunk.length < LENGTH_BYTES + bytes) this.chunk = new Uint8Array(CHUNK_BYTES)
    }
    const { chunk, chunkBytes } = this
    chunk[chunkBytes] = 0
    chunk[chunkBytes + 1] = bytes >> 16
    chunk[chunkBytes + 2] = bytes >> 8
    chunk[chunkBytes + 3] = bytes
    chunk.set(octets.subarray(start, end), chunkBytes + LENGTH_BYTES)
    this.chunkBytes = chunkBytes + LENGTH_BYTES + bytes
    if (!this.flushing) {
      this.flushing = true
      queueMicrotask(this.flush)
    }
    return true
  }

  get pending(): number {
    return this.socket !== undefined && this.socket.writableLength > UNSENT_BYTES_MAX ? 1 : 0
  }

  handleTimer(): void {}

  close(): void {
    this.server?.close()
    this.socket?.destroy()
    this.socket = undefined
  }

  private take(socket: Socket): void {
    this.socket?.destroy()
    this.socket = socket
    this.partialBytes = 0
    this.chunkBytes = 0
    socket.setNoDelay(true)
    socket.on("data", (octets: Uint8Array) => {
      if (this.socket === socket) this.arrived(octets)
    })
    socket.on("error", () => {
      this.counters.socketErrors++
    })
    socket.on("close", () => {
      if (this.socket === socket) this.socket = undefined
    })
  }

  private arrived(octets: Uint8Array): void {
    for (let at = 0; at < octets.length; ) {
      const taken = this.partialBytes === 0 ? this.takeWhole(octets, at) : 0
      at += taken > 0 ? taken : this.takePart(octets, at)
      // It was closed, or ended for what came.
      if (this.socket === undefined) return
    }
  }

  /** Takes a frame that is all there where it lies; 0: it is not. */
  private takeWhole(octets: Uint8Array, at: number): number {
    if (octets.length - at < LENGTH_BYTES) return 0
    const start = at + LENGTH_BYTES
    const end = start + lengthAt(octets, at)
    if (end > octets.length) return 0
    this.receive(this.clock.now(), octets, start, end)
    return end - at
  }

  /** Gathers the octets of a frame; returns how many it took. */
  private takePart(octets: Uint8Array, at: number): number {
    const { partial } = this
    const wanted = this.partialBytes < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + lengthAt(partial, 0)
    const taken = Math.min(wanted - this.partialBytes, octets.length - at)
    partial.set(octets.subarray(at, at + taken), this.partialBytes)
    this.partialBytes += taken
    if (this.partialBytes < LENGTH_BYTES) return taken
    const end = LENGTH_BYTES + lengthAt(partial, 0)
    if (end > partial.length) this.refuse()
    else if (this.partialBytes === end) {
      this.partialBytes = 0
      this.receive(this.clock.now(), partial, LENGTH_BYTES, end)
    }
    return taken
  }

  /** What follows a length that cannot be is anything: the stream ends. */
  private refuse(): void {
    this.counters.malformed++
    this.socket?.destroy()
    this.socket = undefined
  }
}

const lengthAt = (octets: Uint8Array, at: number): number =>
  ((octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!) >>> 0

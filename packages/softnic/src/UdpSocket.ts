import { createSocket, type Socket } from "node:dgram"
import type { Counters } from "./Counters.ts"
import { SoftnicError } from "./SoftnicError.ts"

/** What the kernel gives is as a rule less: Linux caps it at `net.core.rmem_max`. */
const BUFFER_BYTES = 4 << 20

type LookupDone = (error: Error | null, address: string, family: number) => void

export interface UdpSocketOptions {
  /** An address of this host in words; it also says the family. */
  readonly address: string
  /** 0: any that is free. */
  readonly port: number
  /** Default 4 MiB, which the system may cut. */
  readonly bufferBytes?: number | undefined
}

/** ECMAScript 2024 has it. */
interface Detachable {
  readonly transfer?: (bytes: number) => unknown
}

/**
 * Gives a datagram's memory back at once. Each has its own, hundreds of megabytes a second, which else is freed when garbage
 * is collected: for that the collector is started long before its heap is full, and marks all of it.
 */
const release = ({ buffer, length }: Uint8Array): void => {
  if (buffer.byteLength === length) (buffer as Detachable).transfer?.(0)
}

/** A UDP socket that is bound to one address, and says when octets it was given to send are free again. */
export class UdpSocket {
  /** What arrives: the octets are lent for the call, and are none after it. */
  message: (octets: Uint8Array, host: string, port: number) => void = () => {}
  readonly port: number
  private readonly socket: Socket
  private closed = false
  /** Datagrams that the socket had not sent when it was last asked. */
  private queued = 0
  /** What was sent last, as a view: packets of a stream lie where the one before lay, and are as long. */
  private view: Buffer = Buffer.alloc(0)
  private viewed: Uint8Array = this.view

  private constructor(socket: Socket, counters: Counters) {
    this.socket = socket
    this.port = socket.address().port
    socket.on("message", (octets, from) => {
      this.message(octets, from.address, from.port)
      release(octets)
    })
    socket.on("error", () => {
      counters.socketErrors++
    })
  }

  /** @throws SoftnicError when it cannot be bound */
  static async open({ address, port, bufferBytes }: UdpSocketOptions, counters: Counters): Promise<UdpSocket> {
    const v6 = address.includes(":")
    // Hosts are always given as addresses: there is nothing to look up, and no turn of the event loop to wait for it.
    const lookup = (host: string, _family: unknown, done: LookupDone): void => {
      done(null, host, v6 ? 6 : 4)
    }
    const bytes = bufferBytes ?? BUFFER_BYTES
    const socket = createSocket({
      type: v6 ? "udp6" : "udp4",
      lookup: lookup as never,
      recvBufferSize: bytes,
      sendBufferSize: bytes,
    })
    await new Promise<void>((bound, failed) => {
      socket.once("error", failed)
      socket.bind({ address, port, exclusive: true }, () => {
        socket.off("error", failed)
        bound()
      })
    }).catch((error: unknown) => {
      socket.close()
      throw new SoftnicError(
        `UDP port ${port} at ${address}`,
        error instanceof Error ? error.message : String(error),
        "a port that is free, at an address of this host",
        error,
      )
    })
    return new UdpSocket(socket, counters)
  }

  /** Sends. False: the octets are still read, until `pending` is 0. */
  send(octets: Uint8Array, start: number, end: number, port: number, host: string): boolean {
    if (this.closed) return true
    const from = octets.byteOffset + start
    if (octets !== this.viewed || this.view.byteOffset !== from || this.view.length !== end - start) {
      this.viewed = octets
      this.view = Buffer.from(octets.buffer as ArrayBuffer, from, end - start)
    }
    this.socket.send(this.view, port, host)
    this.queued = this.socket.getSendQueueCount()
    return this.queued === 0
  }

  get pending(): number {
    // While nothing was queued nothing is: the kernel is not asked for every packet.
    if (this.queued > 0) this.queued = this.closed ? 0 : this.socket.getSendQueueCount()
    return this.queued
  }

  /** @throws when the group is none, or the system refuses */
  join(group: string, own: string): void {
    this.socket.addMembership(group, own)
  }
  leave(group: string, own: string): void {
    this.socket.dropMembership(group, own)
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    this.socket.close()
  }
}

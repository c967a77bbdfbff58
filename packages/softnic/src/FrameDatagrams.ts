import type { Cable, Receive } from "@rdmakit/codec/cable"
import { NEVER, type Time } from "@rdmakit/protocol"
import type { Clock } from "./Clock.ts"
import type { Counters } from "./Counters.ts"
import { UdpSocket } from "./UdpSocket.ts"

export interface FrameDatagramsOptions {
  /** Where this end is bound. Default 127.0.0.1. */
  readonly host?: string
  /** 0 to 65,535; 0: any that is free. */
  readonly port: number
  /** The other end; only what comes from its address and port is taken. Default host 127.0.0.1. */
  readonly remoteHost?: string
  /** 1 to 65,535. */
  readonly remotePort: number
  /** SO_RCVBUF and SO_SNDBUF; the system may cut it. Default 4 MiB. */
  readonly bufferBytes?: number
}

const LOOPBACK = "127.0.0.1"

/** Ethernet frames, each in a UDP datagram of its own, as QEMU's `-netdev dgram` has them. */
export class FrameDatagrams implements Cable {
  readonly layer = "ethernet"
  readonly nextTimer: Time = NEVER
  receive: Receive = () => {}
  wake: () => void = () => {}
  private readonly socket: UdpSocket
  private readonly remoteHost: string
  private readonly remotePort: number

  private constructor(socket: UdpSocket, clock: Clock, counters: Counters, remoteHost: string, remotePort: number) {
    this.socket = socket
    this.remoteHost = remoteHost
    this.remotePort = remotePort
    socket.message = (octets, host, port) => {
      if (port !== remotePort || host !== remoteHost) counters.notOurs++
      // A middleware may copy with `slice`, which a `Buffer` has another of.
      else this.receive(clock.now(), new Uint8Array(octets.buffer, octets.byteOffset, octets.length), 0, octets.length)
    }
  }

  /** @param options that `checkSoftnicOptions` took @throws SoftnicError */
  static async open(options: FrameDatagramsOptions, clock: Clock, counters: Counters): Promise<FrameDatagrams> {
    const { host = LOOPBACK, port, remoteHost = LOOPBACK, remotePort, bufferBytes } = options
    const socket = await UdpSocket.open({ address: host, port, bufferBytes }, counters)
    return new FrameDatagrams(socket, clock, counters, remoteHost, remotePort)
  }

  send(_now: Time, octets: Uint8Array, start: number, end: number): boolean {
    return this.socket.send(octets, start, end, this.remotePort, this.remoteHost)
  }

  get pending(): number {
    return this.socket.pending
  }

  handleTimer(): void {}

  close(): void {
    this.socket.close()
  }
}

import type { Socket } from "node:net"
import { MpaHandshake, type MpaParameters } from "@rdmakit/cm/mpa"
import type { StreamDepths, StreamEnd, StreamEvent } from "@rdmakit/protocol"
import type { IwarpQueuePair } from "@rdmakit/transport-iwarp"
import type { Clock } from "../Clock.ts"

const NONE = new Uint8Array(0)
/** READs of each side that are offered where a program says nothing, and at most. */
export const DEPTH = 16
const PS_PER_MS = 1e9
/** How long a peer may keep its side of a connection that is over, as MPA's own frames are waited for. */
const LINGER_MS = 10_000

/** What this side asks for: CRCs, no markers, and a WRITE of no octets as the first word. */
const parametersOf = ({ inboundReads, outboundReads }: StreamDepths): MpaParameters => ({
  dialect: "iwarp",
  markers: false,
  crc: true,
  enhanced: {
    inboundReads,
    outboundReads,
    peerToPeer: true,
    readyBySend: false,
    readyByWrite: true,
    readyByRead: false,
  },
})

/** What a stream needs of its world. */
export interface MpaStreamHost {
  readonly clock: Clock
  engineOf(qpn: number): IwarpQueuePair | undefined
  /** The engine has a stream now: it is asked for octets. */
  drain(stream: MpaStream): void
  /** The engine has something to tell. */
  tell(engine: IwarpQueuePair): void
  forget(stream: MpaStream): void
}

export interface MpaStreamOptions {
  readonly role: "initiator" | "responder"
  readonly depths: StreamDepths
  readonly privateData?: Uint8Array
}

/** A TCP connection: MPA's opening frames, and then a queue pair's FPDUs. */
export class MpaStream implements StreamEnd {
  onEvent: (event: StreamEvent) => void = () => {}
  /** At a responder: the peer has asked. */
  onRequest: (privateData: Uint8Array, depths: StreamDepths) => void = () => {}
  engine: IwarpQueuePair | undefined = undefined
  readonly socket: Socket
  private readonly host: MpaStreamHost
  private readonly handshake: MpaHandshake
  private readonly initiator: boolean
  private timer: NodeJS.Timeout | undefined = undefined
  /** What was agreed on. */
  private mode: { readonly crc: boolean; readonly markers: boolean; readonly ready: boolean } | undefined = undefined
  /** FPDUs that came with the reply. */
  private rest: Uint8Array = NONE
  private over = false

  constructor(socket: Socket, host: MpaStreamHost, { role, depths, privateData = NONE }: MpaStreamOptions) {
    this.socket = socket
    this.host = host
    this.initiator = role === "initiator"
    const parameters = parametersOf(depths)
    this.handshake = new MpaHandshake(host.clock.now(), { role, parameters, privateData })
    socket.setNoDelay(true)
    // Slices of a Buffer are views of it; those of its octets are copies, as everywhere else.
    socket.on("data", ({ buffer, byteOffset, length }) => this.take(new Uint8Array(buffer, byteOffset, length)))
    socket.on("drain", () => host.drain(this))
    socket.on("error", (error) => this.fail(error.message))
    socket.on("end", () => this.close())
    socket.on("close", () => this.close())
    if (role === "initiator" && socket.connecting) socket.once("connect", () => this.flush())
    else this.flush()
    this.setTimer()
  }

  /** Nothing goes any more. */
  get closed(): boolean {
    return this.over
  }

  // --- the opening

  accept(qpn: number, privateData: Uint8Array, depths: StreamDepths): void {
    if (this.over) {
      this.tellLater()
      return
    }
    this.handshake.accept(this.host.clock.now(), privateData, depths)
    this.flush()
    this.attach(qpn)
  }

  reject(privateData: Uint8Array): void {
    if (this.over) return
    this.handshake.reject(this.host.clock.now(), privateData)
    this.flush()
    this.end()
  }

  attach(qpn: number): void {
    const { host, mode } = this
    const engine = host.engineOf(qpn)
    if (this.over || engine === undefined || mode === undefined || engine.attached) {
      this.end()
      this.tellLater()
      return
    }
    this.engine = engine
    const now = host.clock.now()
    engine.attach(now, { initiator: this.initiator, ...mode })
    if (this.rest.length > 0) engine.handleOctets(now, this.rest)
    this.rest = NONE
    this.socket.resume()
    host.drain(this)
  }

  private flush(): void {
    if (this.socket.connecting) return
    const { handshake, socket } = this
    for (let octets = handshake.pollTransmit(); octets !== undefined; octets = handshake.pollTransmit())
      socket.write(octets)
    for (let event = handshake.pollEvent(); event !== undefined; event = handshake.pollEvent()) {
      switch (event.type) {
        case "request": {
          const { peer } = event
          const asked = peer.dialect === "iwarp" ? peer.enhanced : undefined
          this.onRequest(event.privateData, {
            inboundReads: Math.min(DEPTH, asked?.outboundReads ?? DEPTH),
            outboundReads: Math.min(DEPTH, asked?.inboundReads ?? DEPTH),
          })
          break
        }
        case "established": {
          const { crc, markersSent, ready, inboundReads = 0, outboundReads = 0 } = event.agreement
          this.mode = { crc, markers: markersSent, ready: ready !== undefined }
          if (!this.initiator) break
          // Nothing is read until somebody is there for it.
          this.rest = event.rest.slice()
          socket.pause()
          this.onEvent({ type: "accepted", privateData: event.privateData, inboundReads, outboundReads })
          break
        }
        case "rejected":
          this.finish({ type: "rejected", privateData: event.privateData })
          break
        case "failed":
          this.finish({ type: "unreachable", message: event.message })
          break
      }
    }
  }

  private setTimer(): void {
    const { handshake, host } = this
    const due = handshake.nextTimeout
    if (!Number.isFinite(due)) return
    const after = Math.max(1, Math.ceil((due - host.clock.now()) / PS_PER_MS))
    this.timer = setTimeout(() => {
      handshake.handleTimeout(host.clock.now())
      this.flush()
      if (!this.over) this.setTimer()
    }, after)
    this.timer.unref()
  }

  // --- octets

  private take(octets: Uint8Array): void {
    // Its queue pair may have been reset since, and have another stream.
    if (this.over) return
    const { engine, host } = this
    const now = host.clock.now()
    if (engine !== undefined) {
      engine.handleOctets(now, octets)
      host.drain(this)
    } else if (this.mode === undefined) {
      this.handshake.handleOctets(now, octets)
      this.flush()
    } else {
      // It came before it could be stopped.
      this.rest = Uint8Array.from([...this.rest, ...octets])
    }
  }

  /** It is over already: whoever has it hears so once the call that found out is done. */
  private tellLater(): void {
    setImmediate(() => this.onEvent({ type: "closed" }))
  }

  private fail(message: string): void {
    if (this.mode === undefined) this.finish({ type: "unreachable", message })
    else this.close()
  }

  /** The socket has closed, or its queue pair has failed: whoever has it is told. */
  close(): void {
    if (this.over) return
    this.handshake.handleClose(this.host.clock.now())
    this.flush()
    this.finish({ type: "closed" })
  }

  /** Ends it: what has been written goes, and nothing else is said. */
  end(): void {
    this.finish(undefined)
  }

  private finish(event: StreamEvent | undefined): void {
    if (this.over) return
    this.over = true
    clearTimeout(this.timer)
    const { engine, host, socket } = this
    socket.end()
    // Nobody reads what still comes; without that the socket would not close.
    socket.resume()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
    host.forget(this)
    if (engine !== undefined) {
      engine.handleClosed(host.clock.now())
      host.tell(engine)
    }
    if (event !== undefined) this.onEvent(event)
  }
}

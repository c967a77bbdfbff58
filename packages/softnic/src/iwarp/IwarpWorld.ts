import { connect, type Server } from "node:net"
import type {
  Adapter,
  AddressVector,
  GidEntry,
  PeerPath,
  StreamConnect,
  StreamEnd,
  StreamHost,
  StreamRequest,
  Time,
  VerbsEngine,
  World,
} from "@rdmakit/protocol"
import type { IwarpQueuePair } from "@rdmakit/transport-iwarp"
import type { Clock } from "../Clock.ts"
import { DEPTH, MpaStream, type MpaStreamHost } from "./MpaStream.ts"
import type { Places } from "./Places.ts"
import { Rendezvous } from "./Rendezvous.ts"
import { closeServer, listenAt } from "./TcpListener.ts"

const LINE_RATE_BPS = 10e9
const BASE_RTT_PS = 50e6
const HOP_LIMIT = 64
/** What programs are told of the port; segments go by the stream. */
const MTU_BYTES = 4096
/** Units that an engine sends before the event loop has its turn. */
const BURST = 64

/** What surrounds one iWARP device: a TCP connection for each queue pair. */
export class IwarpWorld implements World, MpaStreamHost {
  readonly gids: ReadonlyArray<GidEntry>
  readonly link = { lineRateBps: LINE_RATE_BPS, mtuBytes: MTU_BYTES, up: true }
  readonly streams: StreamHost = {
    listen: (port, onRequest, onReady) => this.listen(port, onRequest, onReady),
    connect: (options) => this.connect(options),
  }
  readonly clock: Clock
  private readonly places: Places
  private readonly rendezvous: Rendezvous
  private readonly engines = new Map<number, IwarpQueuePair>()
  private readonly byEngine = new Map<VerbsEngine, MpaStream>()
  private readonly open = new Set<MpaStream>()
  private readonly servers = new Set<Server>()
  /** Engines that something was done to, in order. */
  private kicked = new Set<IwarpQueuePair>()
  private adapter: Adapter | undefined = undefined
  private closed = false

  constructor(clock: Clock, places: Places) {
    this.clock = clock
    this.places = places
    this.gids = [{ index: 0, gid: places.gid, type: "rocev2" }]
    this.rendezvous = new Rendezvous(
      places,
      (options) => this.connect(options),
      (engine) => this.missed(engine),
    )
  }

  get now(): Time {
    return this.clock.now()
  }

  attach(adapter: Adapter): void {
    this.adapter = adapter
  }

  /** Takes requests of queue pairs that name each other. */
  meet(port: number, onReady: (problem: string | undefined) => void): void {
    this.listen(port, (request) => this.rendezvous.take(request), onReady)
  }

  resolve(vector: AddressVector, qpn: number): PeerPath | undefined {
    const source = vector.port === 1 ? this.gids[vector.sourceGidIndex] : undefined
    if (source === undefined || vector.destinationGid.length !== 16) return undefined
    return {
      node: 0,
      peer: 1,
      flow: 0,
      udpSourcePort: qpn & 0xffff,
      trafficClass: vector.trafficClass & 0xff,
      hopLimit: vector.hopLimit > 1 ? vector.hopLimit & 0xff : HOP_LIMIT,
      flowLabel: vector.flowLabel & 0xf_ffff,
      priority: vector.serviceLevel & 7,
      sourceGid: source.gid,
      destinationGid: vector.destinationGid.slice(),
      lineRateBps: LINE_RATE_BPS,
      baseRttPs: BASE_RTT_PS,
    }
  }

  kick(engine: VerbsEngine): void {
    if (this.closed) return
    const queuePair = engine as IwarpQueuePair
    this.engines.set(engine.qpn, queuePair)
    if (this.kicked.size === 0) setImmediate(() => this.turn())
    this.kicked.add(queuePair)
  }

  detach(engine: VerbsEngine): void {
    this.byEngine.get(engine)?.end()
    if (this.engines.get(engine.qpn) === engine) this.engines.delete(engine.qpn)
    this.kicked.delete(engine as IwarpQueuePair)
    this.rendezvous.forget(engine.qpn)
  }

  /** Streams have no groups. */
  joinGroup(): void {}
  leaveGroup(): void {}

  close(): void {
    this.closed = true
    this.rendezvous.close()
    for (const server of this.servers) closeServer(server)
    for (const stream of [...this.open]) {
      stream.end()
      stream.socket.destroySoon()
    }
  }

  // --- streams

  engineOf(qpn: number): IwarpQueuePair | undefined {
    return this.engines.get(qpn)
  }

  drain(stream: MpaStream): void {
    const { engine, socket } = stream
    if (engine === undefined || stream.closed) return
    this.byEngine.set(engine, stream)
    socket.cork()
    let left = BURST
    for (; left > 0 && !socket.writableNeedDrain; left--) {
      const octets = engine.pollOctets(this.now)
      if (octets === undefined) break
      socket.write(octets)
    }
    socket.uncork()
    this.tell(engine)
    if (engine.over) stream.close()
    else if (left === 0) this.kick(engine)
  }

  tell(engine: IwarpQueuePair): void {
    for (let event = engine.pollEvent(); event !== undefined; event = engine.pollEvent())
      this.adapter?.handleEvent(this.now, engine, event)
  }

  forget(stream: MpaStream): void {
    if (stream.engine !== undefined) this.byEngine.delete(stream.engine)
  }

  private turn(): void {
    const { kicked } = this
    this.kicked = new Set()
    for (const engine of kicked) {
      const stream = this.byEngine.get(engine)
      if (stream !== undefined && engine.attached) this.drain(stream)
      else {
        // A reset has taken the queue pair from its stream.
        stream?.end()
        this.tell(engine)
        if (!engine.attached) this.rendezvous.look(engine)
      }
    }
  }

  /** The peer's queue pair has not come. */
  private missed(engine: IwarpQueuePair): void {
    engine.handleUnreachable(this.now)
    this.tell(engine)
  }

  private listen(
    port: number,
    onRequest: (request: StreamRequest) => void,
    onReady: (problem: string | undefined) => void,
  ): () => void {
    const server = listenAt({ host: this.places.host, port }, onReady, (socket) => {
      const depths = { inboundReads: DEPTH, outboundReads: DEPTH }
      const stream = new MpaStream(socket, this, { role: "responder", depths })
      this.keep(stream)
      const source = this.places.gidOf(socket.remoteAddress ?? "")
      stream.onRequest = (privateData, asked) => {
        onRequest({
          ...asked,
          privateData,
          source,
          sourcePort: socket.remotePort ?? 0,
          destination: this.places.gid,
          accept: (qpn, answer, agreed) => {
            stream.accept(qpn, answer, agreed)
            return stream
          },
          reject: (answer) => stream.reject(answer),
          get closed() {
            return stream.closed
          },
        })
      }
    })
    this.servers.add(server)
    return () => {
      this.servers.delete(server)
      closeServer(server)
    }
  }

  private connect({ destination, port, privateData, ...depths }: StreamConnect): StreamEnd {
    const socket = connect(this.places.placeOf(destination, port))
    const stream = new MpaStream(socket, this, { role: "initiator", depths, privateData })
    this.keep(stream)
    return stream
  }

  /** Until its socket has closed, which is after the stream is over. */
  private keep(stream: MpaStream): void {
    this.open.add(stream)
    stream.socket.once("close", () => this.open.delete(stream))
  }
}

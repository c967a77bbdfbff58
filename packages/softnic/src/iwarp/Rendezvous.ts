import { NEVER, QpState, type StreamConnect, type StreamEnd, type StreamRequest } from "@rdmakit/protocol"
import type { IwarpQueuePair } from "@rdmakit/transport-iwarp"
import { DEPTH } from "./MpaStream.ts"
import type { Places } from "./Places.ts"

/** "rdmk": private data of ours, with the number of the queue pair that is asked for, and of that which asks. */
const MAGIC = 0x72646d6b
const BYTES = 12
const NONE = new Uint8Array(0)
/** Requests for queue pairs that are not ready yet. */
const WAITING_MAX = 64
/** A peer that is not there is asked again after this, then after twice as long each time, up to the other. */
const ASK_AGAIN_MS = 20
const ASK_AGAIN_MAX_MS = 320
/** How long they wait, as MPA's own frames do. */
const WAIT_MS = 10_000

interface Waiting {
  readonly request: StreamRequest
  readonly wanted: number
  readonly from: number
}

/**
 * Streams for queue pairs that programs have connected by numbers and addresses alone, as they do on InfiniBand: iWARP has
 * no such thing. The one of the lower address and number asks the other's meeting port, and says whom it wants.
 */
export class Rendezvous {
  private readonly places: Places
  private readonly connect: (options: StreamConnect) => StreamEnd
  private readonly onMissed: (engine: IwarpQueuePair) => void
  private readonly engines = new Map<number, IwarpQueuePair>()
  /** By number of its queue pair: when it has waited long enough. */
  private readonly deadlines = new Map<number, NodeJS.Timeout>()
  private waiting: Array<Waiting> = []

  /** @param onMissed is told of a queue pair whose peer has not come in time */
  constructor(
    places: Places,
    connect: (options: StreamConnect) => StreamEnd,
    onMissed: (engine: IwarpQueuePair) => void,
  ) {
    this.places = places
    this.connect = connect
    this.onMissed = onMissed
  }

  /** A queue pair without a stream has changed: it may be ready for one. A connection manager's names no peer's number. */
  look(engine: IwarpQueuePair): void {
    const { state, settings, qpn } = engine
    const ready = state === QpState.Rtr || state === QpState.Rts
    if (!ready || settings.path === undefined || settings.destinationQp === 0) {
      this.forget(qpn)
      return
    }
    if (this.engines.get(qpn) === engine) return
    this.forget(qpn)
    this.engines.set(qpn, engine)
    this.await(engine)
    const peer = settings.path.destinationGid
    const order = Buffer.compare(this.places.gid, peer) || qpn - settings.destinationQp
    if (order < 0) this.ask(engine)
    else this.serve()
  }

  forget(qpn: number): void {
    this.engines.delete(qpn)
    clearTimeout(this.deadlines.get(qpn))
    this.deadlines.delete(qpn)
  }

  /** Nobody waits any more. */
  close(): void {
    for (const qpn of [...this.engines.keys()]) this.forget(qpn)
  }

  private await(engine: IwarpQueuePair): void {
    const { meetingTimeoutMs } = this.places
    if (meetingTimeoutMs === NEVER) return
    const miss = (): void => {
      this.forget(engine.qpn)
      this.onMissed(engine)
    }
    this.deadlines.set(engine.qpn, setTimeout(miss, meetingTimeoutMs).unref())
  }

  /** A peer's queue pair asks. */
  take(request: StreamRequest): void {
    const { privateData } = request
    this.waiting = this.waiting.filter((each) => !each.request.closed)
    const view = new DataView(privateData.buffer, privateData.byteOffset, privateData.byteLength)
    if (privateData.length !== BYTES || view.getUint32(0) !== MAGIC || this.waiting.length >= WAITING_MAX) {
      request.reject(NONE)
      return
    }
    const entry = { request, wanted: view.getUint32(4), from: view.getUint32(8) }
    this.waiting.push(entry)
    this.serve()
    if (!this.waiting.includes(entry)) return
    setTimeout(() => {
      if (!this.waiting.includes(entry)) return
      this.waiting = this.waiting.filter((each) => each !== entry)
      request.reject(NONE)
    }, WAIT_MS).unref()
  }

  /** Requests whose queue pair is ready. */
  private serve(): void {
    this.waiting = this.waiting.filter(({ request, wanted, from }) => {
      const engine = this.engines.get(wanted)
      if (engine === undefined || engine.attached || engine.settings.destinationQp !== from) return true
      request.accept(wanted, NONE, depthsOf(engine))
      if (engine.attached) this.forget(wanted)
      return false
    })
  }

  private ask(engine: IwarpQueuePair, againMs = ASK_AGAIN_MS): void {
    const { settings, qpn } = engine
    const destination = settings.path!.destinationGid
    const privateData = new Uint8Array(BYTES)
    const view = new DataView(privateData.buffer)
    view.setUint32(0, MAGIC)
    view.setUint32(4, settings.destinationQp)
    view.setUint32(8, qpn)
    const port = this.places.meetingPortOf(destination)
    const stream = this.connect({ destination, port, privateData, ...depthsOf(engine) })
    stream.onEvent = (event) => {
      if (event.type === "closed") return
      if (this.engines.get(qpn) !== engine) {
        stream.end()
        return
      }
      if (event.type === "accepted") stream.attach(qpn)
      if (engine.attached) {
        this.forget(qpn)
        return
      }
      // The peer's process may not be there yet, or its queue pair: it is asked again for as long as this one waits.
      setTimeout(() => {
        if (this.engines.get(qpn) === engine) this.ask(engine, Math.min(2 * againMs, ASK_AGAIN_MAX_MS))
      }, againMs).unref()
    }
  }
}

const depthsOf = ({ settings }: IwarpQueuePair) => ({
  inboundReads: settings.responderResources || DEPTH,
  outboundReads: settings.initiatorDepth || DEPTH,
})

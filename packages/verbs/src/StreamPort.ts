import {
  type CmCommand,
  type CmConnect,
  type CmRefusal,
  type CmResult,
  type CmRoute,
  type CmSettings,
  type IpCm,
  portOf,
  RejectCode,
} from "@rdmakit/cm"
import { DEFAULT_PARTITION, type Device, type ProtectionDomain } from "@rdmakit/device"
import type { StreamDepths, StreamEnd, StreamEvent, StreamHost, StreamRequest } from "@rdmakit/protocol"
import { Effect, type Scope } from "effect"
import { refusalOfCm } from "./CmError.ts"
import type { CmHandler, CmService } from "./CmService.ts"
import { waitFor } from "./Mailbox.ts"
import { attempt, VerbsError } from "./VerbsError.ts"

const NONE = new Uint8Array(0)
/** Ephemeral ports; the system chooses the one that is used. */
const PORT_FIRST = 32_768
const PORT_COUNT = 28_232
const HOP_LIMIT = 64
/** CMA_IBOE_PACKET_LIFETIME of Linux 6.1: nothing here goes by it. */
const PACKET_LIFETIME = 18
const RETRIES = 7
/** What the connection manager says where nobody listens. */
const NO_SERVICE = 8
const MTU_BYTES = 4096
const PRIVATE_BYTES_MAX = 508
const DEPTH_MAX = 255

interface Listening {
  readonly kind: "listener"
  readonly stop: () => void
  problem: string | undefined
  ready: boolean
  onReady: (() => void) | undefined
}

interface Connecting {
  readonly kind: "connection"
  readonly route: CmRoute
  readonly qpn: number
  depths: StreamDepths
  request: StreamRequest | undefined
  end: StreamEnd | undefined
  established: boolean
}

/** Connection management of a device whose queue pairs have streams: MPA takes the place of datagrams, and TCP's ports are those of programs. */
export class StreamPort implements CmService {
  readonly device: Device
  readonly pd: ProtectionDomain
  readonly cm = {
    settings: (id: number): CmSettings | undefined => this.settings(id),
    command: (_now: number, command: CmCommand): CmResult => this.run(command),
  }
  private readonly streams: StreamHost
  private readonly handlers = new Map<number, CmHandler>()
  private readonly ids = new Map<number, Listening | Connecting>()
  private lastId = 0
  private ports = 0

  /** @throws DeviceError */
  constructor(device: Device, streams: StreamHost) {
    this.device = device
    this.streams = streams
    this.pd = device.allocPd()
  }

  command(verb: string, command: CmCommand): number {
    const result = this.run(command)
    if (!result.ok) throw refusalOfCm(verb, result)
    return result.id
  }

  close(id: number): void {
    this.handlers.delete(id)
    const known = this.ids.get(id)
    this.ids.delete(id)
    if (known?.kind === "listener") known.stop()
    else if (known?.end !== undefined) known.end.end()
    else known?.request?.reject(NONE)
  }

  handle(id: number, handler: CmHandler): void {
    this.handlers.set(id, handler)
  }
  unhandle(id: number): void {
    this.handlers.delete(id)
  }
  nextPort(): number {
    return PORT_FIRST + (this.ports++ % PORT_COUNT)
  }

  /** A listener has its port; or fails with EBUSY. */
  opened(id: number): Effect.Effect<void, VerbsError> {
    const listening = this.ids.get(id) as Listening
    const wait = waitFor<void, VerbsError>((resume) => {
      const look = (): void => {
        const { problem } = listening
        if (problem === undefined) resume(() => Effect.void)
        else resume(() => Effect.fail(busy(problem)))
      }
      if (listening.ready) look()
      else listening.onReady = look
      return () => {
        listening.onReady = undefined
      }
    })
    return wait
  }

  end(): void {
    for (const id of [...this.ids.keys()]) this.close(id)
    this.pd.dealloc()
  }

  // --- commands

  private run(command: CmCommand): CmResult {
    const wrong = wrongValue(command)
    if (wrong !== undefined) return refusal("value", wrong)
    if (command.type === "listen") return this.listen(command.serviceId)
    if (command.type === "connect") return this.connect(command)
    if (command.type === "resolve" || command.type === "answer")
      return refusal("value", "iWARP has no datagram services; connect a queue pair of type rc")
    const { id } = command
    const known = this.ids.get(id)
    if (command.type === "close") this.close(id)
    else if (known?.kind !== "connection") return refusal("id", `there is no connection ${id}; take one of an event`)
    else if (command.type === "accept") this.accept(id, known, command)
    else if (command.type === "ready") this.establish(id, known)
    else if (command.type === "reject" || command.type === "ignore") this.reject(id, known, command)
    else if (command.type === "disconnect") this.disconnect(id, known)
    return { ok: true, id }
  }

  private listen(serviceId: bigint): CmResult {
    const id = ++this.lastId
    const { port } = portOf(serviceId)!
    const stop = this.streams.listen(
      port,
      (request) => this.requested(id, serviceId, request),
      (problem) => {
        const listening = this.ids.get(id)
        if (listening?.kind !== "listener") return
        listening.problem = problem
        listening.ready = true
        listening.onReady?.()
      },
    )
    this.ids.set(id, { kind: "listener", stop, problem: undefined, ready: false, onReady: undefined })
    return { ok: true, id }
  }

  private connect(command: CmConnect): CmResult {
    const id = ++this.lastId
    const { route, serviceId, qpn, privateData = NONE } = command
    const depths = { inboundReads: command.responderResources, outboundReads: command.initiatorDepth }
    const { port } = portOf(serviceId)!
    const end = this.streams.connect({ destination: route.remoteGid, port, privateData, ...depths })
    const connection: Connecting = {
      kind: "connection",
      route,
      qpn,
      depths,
      request: undefined,
      end,
      established: false,
    }
    this.ids.set(id, connection)
    end.onEvent = (event) => this.heard(id, connection, event)
    return { ok: true, id }
  }

  private requested(listener: number, serviceId: bigint, request: StreamRequest): void {
    const handler = this.handlers.get(listener)
    if (handler === undefined) {
      request.reject(NONE)
      return
    }
    const id = ++this.lastId
    const { inboundReads, outboundReads, privateData } = request
    const route = routeBack(request)
    this.ids.set(id, {
      kind: "connection",
      route,
      qpn: 0,
      depths: { inboundReads, outboundReads },
      request,
      end: undefined,
      established: false,
    })
    handler({
      ...{ type: "request", id, listener, serviceId, transport: "rc", route, ip: ipOf(request), privateData },
      ...{ remoteQpn: 0, responderResources: inboundReads, initiatorDepth: outboundReads },
      ...{ retries: RETRIES, rnrRetries: RETRIES, flowControl: false, sharedReceive: false },
    })
  }

  private accept(id: number, connection: Connecting, command: Extract<CmCommand, { type: "accept" }>): void {
    const { request } = connection
    if (request === undefined) return
    connection.request = undefined
    connection.established = true
    const depths = { inboundReads: command.responderResources, outboundReads: command.initiatorDepth }
    const end = request.accept(command.qpn, command.privateData ?? NONE, depths)
    connection.end = end
    end.onEvent = (event) => this.heard(id, connection, event)
    this.later(id, { type: "established", id, privateData: NONE })
  }

  private establish(id: number, connection: Connecting): void {
    connection.established = true
    connection.end!.attach(connection.qpn)
    this.ids.set(id, connection)
  }

  private reject(id: number, { request, end }: Connecting, command: CmCommand): void {
    this.ids.delete(id)
    if (request === undefined) end?.end()
    else request.reject(command.type === "reject" ? (command.privateData ?? NONE) : NONE)
  }

  private disconnect(id: number, connection: Connecting): void {
    connection.end?.end()
    if (connection.established) this.later(id, { type: "disconnected", id, privateData: NONE })
    connection.established = false
    this.later(id, { type: "timewaitEnded", id })
  }

  private heard(id: number, connection: Connecting, event: StreamEvent): void {
    const handler = this.handlers.get(id)
    switch (event.type) {
      case "accepted": {
        const { inboundReads, outboundReads, privateData } = event
        connection.depths = { inboundReads, outboundReads }
        handler?.({
          ...{ type: "reply", id, remoteQpn: 0, rnrRetries: RETRIES, flowControl: false, sharedReceive: false },
          ...{ responderResources: inboundReads, initiatorDepth: outboundReads, privateData },
        })
        break
      }
      case "rejected":
        this.ids.delete(id)
        handler?.({
          type: "rejected",
          id,
          reason: RejectCode.Consumer,
          information: NONE,
          privateData: event.privateData,
        })
        break
      case "unreachable": {
        this.ids.delete(id)
        const refused = event.message.includes("ECONNREFUSED")
        if (refused) handler?.({ type: "rejected", id, reason: NO_SERVICE, information: NONE, privateData: NONE })
        else handler?.({ type: "unreachable", id, message: "request" })
        break
      }
      case "closed":
        if (!connection.established) break
        connection.established = false
        handler?.({ type: "disconnectRequested", id, privateData: NONE })
        break
    }
  }

  /** After the call, as datagrams would be. */
  private later(id: number, event: Parameters<CmHandler>[0]): void {
    queueMicrotask(() => this.handlers.get(id)?.(event))
  }

  private settings(id: number): CmSettings | undefined {
    const known = this.ids.get(id)
    if (known?.kind !== "connection") return undefined
    const { route, depths } = known
    return {
      route,
      partition: DEFAULT_PARTITION,
      pathMtuBytes: route.mtuBytes,
      // The peer's number is nobody's concern: the stream is the queue pair's own.
      destinationQp: 0,
      receivePsn: 0,
      sendPsn: 0,
      responderResources: depths.inboundReads,
      initiatorDepth: depths.outboundReads,
      timeout: 0,
      retryCount: RETRIES,
      rnrRetry: RETRIES,
    }
  }
}

/** What MPA has no room for (RFC 6581 §9). */
const wrongValue = (command: CmCommand): string | undefined => {
  if ("privateData" in command && (command.privateData?.length ?? 0) > PRIVATE_BYTES_MAX)
    return `private data of ${command.privateData!.length} octets; give at most ${PRIVATE_BYTES_MAX}`
  if (command.type !== "connect" && command.type !== "accept") return undefined
  for (const name of ["responderResources", "initiatorDepth"] as const) {
    const depth = command[name]
    if (!(Number.isInteger(depth) && depth >= 0 && depth <= DEPTH_MAX))
      return `${name} is ${depth}; give a whole number 0..${DEPTH_MAX}`
  }
  return undefined
}

const refusal = (reason: CmRefusal["reason"], message: string): CmRefusal => ({ ok: false, reason, message })

const busy = (problem: string): VerbsError =>
  new VerbsError({
    errno: "EBUSY",
    verb: "rdma_listen",
    attribute: "port",
    problem,
    remedy: "take another port, or end who has it",
  })

const routeBack = ({ source, destination }: StreamRequest): CmRoute => ({
  localGid: destination,
  remoteGid: source,
  flowLabel: 0,
  trafficClass: 0,
  hopLimit: HOP_LIMIT,
  serviceLevel: 0,
  rate: 0,
  partition: DEFAULT_PARTITION,
  mtuBytes: MTU_BYTES,
  packetLifetime: PACKET_LIFETIME,
})

const ipOf = ({ source, sourcePort, destination }: StreamRequest): IpCm => {
  const mapped = (gid: Uint8Array): boolean => gid.subarray(0, 10).every((octet) => octet === 0) && gid[10] === 0xff
  const ipv4 = (gid: Uint8Array): number => new DataView(gid.buffer, gid.byteOffset).getUint32(12)
  return mapped(source) && mapped(destination)
    ? { version: 4, sourcePort, source: ipv4(source), destination: ipv4(destination) }
    : { version: 6, sourcePort, source, destination }
}

/** That of a device, as long as the scope is open. */
export const streamPort = (device: Device, streams: StreamHost): Effect.Effect<StreamPort, VerbsError, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(() => new StreamPort(device, streams)),
    (port) => Effect.sync(() => port.end()),
  )

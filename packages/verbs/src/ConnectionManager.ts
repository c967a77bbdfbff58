import { type CmEvent, serviceIdOf } from "@rdmakit/cm"
import type { Device } from "@rdmakit/device"
import { Effect, type Scope } from "effect"
import { bringUpDatagrams, checkIsQueuePair, checkQueuePair, initialise } from "./CmBringUp.ts"
import { Connection, type ConnectionOptions, connecting } from "./CmConnection.ts"
import { askForDatagrams, DatagramRequest, type DatagramService } from "./CmDatagrams.ts"
import type { ConnectionError } from "./CmError.ts"
import { BACKLOG_MAX, ConnectionRequest, Listener, type ListenOptions } from "./CmListener.ts"
import { opened, openingOf } from "./CmOpening.ts"
import { cmPort } from "./CmPort.ts"
import { PORT_MAX, type PortSpace, PROTOCOL, type Resolved, type ResolveOptions, resolve } from "./CmRoute.ts"
import type { CmService } from "./CmService.ts"
import type { DeviceContext } from "./DeviceContext.ts"
import type { QueuePair } from "./QueuePair.ts"
import { streamPort } from "./StreamPort.ts"
import { attempt, checkFields, checkWhole, VerbsError } from "./VerbsError.ts"

export interface ConnectOptions extends ConnectionOptions {
  /** How often this side tries again without an acknowledgement, 0 to 7. Default 7. */
  readonly retryCount?: number
}

const NONE = new Uint8Array(0)
const DEFAULT_DEPTH = 16
const RETRIES = 7

/**
 * Connects queue pairs by IP addresses and ports, as librdmacm does, with peers of any kind: the messages are those of the
 * InfiniBand connection manager (IBTA 1.7 chapter 12 and annex A11); where the world has streams, MPA's frames over TCP
 * (RFC 5044, RFC 6581). Made by `connectionManager`.
 */
export class ConnectionManager {
  private readonly port: CmService

  constructor(port: CmService) {
    this.port = port
  }

  /**
   * Finds the way to a peer (rdma_resolve_addr, rdma_resolve_route). Fails with ENOENT when the port has no address that could
   * reach it, and with EHOSTUNREACH when nobody has answered there for two seconds.
   *
   * @param host an IPv4 or IPv6 address; names are not looked up
   */
  resolve(host: string, options: ResolveOptions): Effect.Effect<Resolved, VerbsError> {
    return resolve(this.port, host, options)
  }

  /** Brings a queue pair where receives can be posted: to INIT, a UD one to RTS (what rdma_create_qp does besides making it). */
  prepare(queuePair: QueuePair): Effect.Effect<void, VerbsError> {
    return attempt(() => {
      checkIsQueuePair("rdma_create_qp", queuePair)
      if (queuePair.type === "ud") bringUpDatagrams(queuePair)
      else initialise(queuePair)
    })
  }

  /**
   * Asks a peer for a connection, and brings the queue pair up when it accepts. Fails with `ConnectionRejected`, or with
   * `ConnectionUnreachable` after sixteen questions in 103 s.
   */
  connect(resolved: Resolved, options: ConnectOptions): Effect.Effect<Connection, ConnectionError, Scope.Scope> {
    const { port } = this
    return connecting(() => {
      checkResolved(resolved)
      checkFields("rdma_connect", "options", options, "give { queuePair }")
      const { queuePair, privateData } = options
      if (resolved.space !== "tcp") throw wrongSpace("rdma_connect", "tcp")
      checkQueuePair("rdma_connect", queuePair, "any")
      initialise(queuePair)
      const opening = openingOf(port.device, queuePair.number)
      const said =
        opening === undefined ? privateData : opened(() => opening.ask(port.device.world.now, privateData ?? NONE))
      const id = port.command("rdma_connect", {
        type: "connect",
        serviceId: resolved.serviceId,
        route: resolved.route,
        ip: resolved.ip,
        transport: queuePair.type === "uc" ? "uc" : "rc",
        qpn: queuePair.number,
        psn: queuePair.psn,
        responderResources: options.responderResources ?? DEFAULT_DEPTH,
        initiatorDepth: options.initiatorDepth ?? DEFAULT_DEPTH,
        retries: options.retryCount ?? RETRIES,
        rnrRetries: options.rnrRetry ?? RETRIES,
        sharedReceive: queuePair.handle.srq !== undefined,
        ...(said === undefined ? {} : { privateData: said }),
      })
      const timeout = resolved.ackTimeout === undefined ? {} : { ackTimeout: { code: resolved.ackTimeout } }
      return new Connection(
        port,
        id,
        { ...timeout, ...options },
        { name: resolved.peer, qpn: 0, privateData: NONE },
        opening,
      )
    })
  }

  /** Takes requests for connections to a port of TCP's (rdma_listen). Fails with EBUSY when somebody else does. */
  listen(options: ListenOptions): Effect.Effect<Listener<ConnectionRequest>, VerbsError, Scope.Scope> {
    return this.listening("tcp", options, (event) => {
      if (event.type !== "request") return undefined
      const { device } = this.port
      const opening = openingOf(device, event.id)
      if (opening === undefined) return new ConnectionRequest(this.port, event)
      const privateData = opening.take(device.world.now, event.privateData)
      return privateData === undefined
        ? undefined
        : new ConnectionRequest(this.port, { ...event, privateData }, opening)
    })
  }

  /**
   * Asks a peer which datagram queue pair serves a port of UDP's.
   * @param privateData 180 octets at most
   */
  resolveDatagrams(resolved: Resolved, privateData?: Uint8Array): Effect.Effect<DatagramService, ConnectionError> {
    return Effect.andThen(
      attempt(() => {
        checkResolved(resolved)
        if (resolved.space !== "udp") throw wrongSpace("rdma_connect", "udp")
      }),
      askForDatagrams(this.port, resolved, privateData),
    )
  }

  /** Takes requests for datagram queue pairs at a port of UDP's. Fails with EBUSY when somebody else does. */
  listenDatagrams(options: ListenOptions): Effect.Effect<Listener<DatagramRequest>, VerbsError, Scope.Scope> {
    return this.listening("udp", options, (event) =>
      event.type === "resolveRequest" ? new DatagramRequest(this.port, event) : undefined,
    )
  }

  private listening<Request extends { readonly address: string; dismiss(): void }>(
    space: PortSpace,
    options: ListenOptions,
    requestOf: (event: CmEvent) => Request | undefined,
  ): Effect.Effect<Listener<Request>, VerbsError, Scope.Scope> {
    const { port } = this
    const made = attempt(() => {
      checkFields("rdma_listen", "options", options, "give { port }")
      checkWhole("rdma_listen", "port", options.port, 1, PORT_MAX)
      if (options.backlog !== undefined) checkWhole("rdma_listen", "backlog", options.backlog, 1, BACKLOG_MAX)
      const listener = new Listener<Request>(options)
      const id = port.command("rdma_listen", {
        type: "listen",
        serviceId: serviceIdOf(PROTOCOL[space], options.port),
      })
      port.handle(id, (event) => {
        if (listener.isFull) {
          port.command("rdma_listen", { type: "ignore", id: event.id })
          return
        }
        const request = requestOf(event)
        // A connection asked for at a port of datagrams, or the other way round.
        if (request === undefined) port.close(event.id)
        else listener.offer(request)
      })
      return { listener, id }
    })
    return Effect.acquireRelease(made, ({ listener, id }) =>
      Effect.sync(() => {
        port.close(id)
        listener.end()
      }),
    ).pipe(
      Effect.tap(({ id }) => port.opened(id)),
      Effect.map(({ listener }) => listener),
    )
  }
}

const checkResolved = (resolved: Resolved): void =>
  checkFields("rdma_connect", "resolved", resolved, "give what resolve has found")

const wrongSpace = (verb: string, space: PortSpace): VerbsError =>
  new VerbsError({
    errno: "EINVAL",
    verb,
    attribute: "space",
    problem: "a port of the other space",
    remedy: `resolve it with space "${space}"`,
  })

/**
 * The connection manager of a device. Several may be made: they share queue pair 1, which is made for the first and ends with
 * the last, after peers have had a second to answer its last words. Ids are drawn from the program's `Random`.
 */
export const connectionManager = (context: DeviceContext): Effect.Effect<ConnectionManager, VerbsError, Scope.Scope> =>
  Effect.map(serviceOf(context.handle), (port) => new ConnectionManager(port))

const serviceOf = (device: Device): Effect.Effect<CmService, VerbsError, Scope.Scope> => {
  const { streams } = device.world
  return streams === undefined ? cmPort(device) : streamPort(device, streams)
}

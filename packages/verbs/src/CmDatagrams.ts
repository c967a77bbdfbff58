import { type CmEvent, SidrStatus } from "@rdmakit/cm"
import type { AddressVector } from "@rdmakit/protocol"
import { Effect } from "effect"
import { bringUpDatagrams, CM_QUEUE_KEY, checkIsQueuePair, checkQueuePair } from "./CmBringUp.ts"
import { type ConnectionError, ConnectionUnreachable, datagramRejected } from "./CmError.ts"
import { vectorOf } from "./CmPort.ts"
import { addressOf, type Resolved } from "./CmRoute.ts"
import type { CmService } from "./CmService.ts"
import { waitFor } from "./Mailbox.ts"
import type { QueuePair } from "./QueuePair.ts"
import { attempt, checkFields, refusalOf, VerbsError } from "./VerbsError.ts"

/** Who serves a datagram service: what an address handle and a send need. */
export interface DatagramService {
  /** For `ProtectionDomain.addressHandle`. */
  readonly address: {
    readonly gid: Uint8Array
    readonly sourceGidIndex: number
    readonly trafficClass: number
    readonly hopLimit: number
    readonly flowLabel: number
  }
  readonly qpn: number
  readonly queueKey: number
  /** 136 octets, filled with zeros. */
  readonly privateData: Uint8Array
}

const serviceOf = (vector: AddressVector, event: Extract<CmEvent, { type: "resolved" }>): DatagramService => ({
  address: {
    gid: vector.destinationGid,
    sourceGidIndex: vector.sourceGidIndex,
    trafficClass: vector.trafficClass,
    hopLimit: vector.hopLimit,
    flowLabel: vector.flowLabel,
  },
  qpn: event.qpn,
  queueKey: event.queueKey,
  privateData: event.privateData,
})

/** Asks a peer which datagram queue pair serves a port of UDP's (rdma_connect of RDMA_PS_UDP). */
export const askForDatagrams = (
  port: CmService,
  resolved: Resolved,
  privateData: Uint8Array | undefined,
): Effect.Effect<DatagramService, ConnectionError> =>
  waitFor<DatagramService, ConnectionError>((resume) => {
    const { serviceId, route, ip, peer } = resolved
    let id: number
    try {
      id = port.command("rdma_connect", {
        type: "resolve",
        serviceId,
        route,
        ip,
        ...(privateData === undefined ? {} : { privateData }),
      })
    } catch (thrown) {
      return Effect.fail(refusalOf(thrown))
    }
    port.handle(id, (event) => {
      if (event.type !== "resolved" && event.type !== "unreachable") return
      port.close(id)
      resume(() => {
        if (event.type === "unreachable")
          return Effect.fail(new ConnectionUnreachable({ peer, unanswered: event.message }))
        return event.status === SidrStatus.Success
          ? Effect.succeed(serviceOf(vectorOf(port.device, route), event))
          : Effect.fail(datagramRejected(peer, event.status, event.privateData))
      })
    })
    return () => port.close(id)
  })

/** A peer asks for a datagram queue pair: `accept` names one, `reject` refuses. */
export class DatagramRequest {
  readonly id: number
  /** "10.0.0.1 port 50000". */
  readonly peer: string
  readonly address: string
  /** 180 octets, filled with zeros. */
  readonly privateData: Uint8Array
  private readonly port: CmService
  private answered = false

  constructor(port: CmService, event: Extract<CmEvent, { type: "resolveRequest" }>) {
    const { id, ip, privateData } = event
    this.port = port
    this.id = id
    this.peer = ip === undefined ? "a peer without an IP address" : `${addressOf(ip.source)} port ${ip.sourcePort}`
    this.address = ip === undefined ? "" : addressOf(ip.destination)
    this.privateData = privateData
  }

  /**
   * Tells the peer the queue pair, which is brought up to RTS if it is not there yet.
   * @param options `privateData`: 136 octets at most; `queueKey`: the queue pair's, default 0x01234567
   */
  accept(options: {
    readonly queuePair: QueuePair
    readonly queueKey?: number
    readonly privateData?: Uint8Array
  }): Effect.Effect<void, VerbsError> {
    return attempt(() => {
      checkFields("rdma_accept", "options", options, "give { queuePair }")
      checkIsQueuePair("rdma_accept", options.queuePair)
      const { queuePair, queueKey = CM_QUEUE_KEY, privateData } = options
      if (queuePair.state !== "RTS") {
        checkQueuePair("rdma_accept", queuePair, "ud")
        bringUpDatagrams(queuePair)
      }
      this.answer("rdma_accept", SidrStatus.Success, queuePair.number, queueKey, privateData)
    })
  }

  /** @param privateData 136 octets at most */
  reject(privateData?: Uint8Array): Effect.Effect<void, VerbsError> {
    return attempt(() => this.answer("rdma_reject", SidrStatus.Reject, 0, 0, privateData))
  }

  dismiss(): void {
    if (!this.answered) this.port.close(this.id)
    this.answered = true
  }

  private answer(
    verb: string,
    status: number,
    qpn: number,
    queueKey: number,
    privateData: Uint8Array | undefined,
  ): void {
    if (this.answered)
      throw new VerbsError({
        errno: "EINVAL",
        verb,
        problem: "the request has been answered",
        remedy: "answer each request once",
      })
    const data = privateData === undefined ? {} : { privateData }
    this.port.command(verb, { type: "answer", id: this.id, status, qpn, queueKey, ...data })
    this.answered = true
  }
}

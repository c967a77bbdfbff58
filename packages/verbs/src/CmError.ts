import { type CmRefusal, rejectReason, SidrStatus } from "@rdmakit/cm"
import { Data } from "effect"
import { type Errno, VerbsError } from "./VerbsError.ts"

/** A peer, or its connection manager, did not want the connection (RDMA_CM_EVENT_REJECTED). */
export class ConnectionRejected extends Data.TaggedError("ConnectionRejected")<{
  /** "10.0.0.2 port 7174". */
  readonly peer: string
  /** Code of IBTA 1.7 §12.6.7.2: 28 is the program's own, 8 is that nobody listens. Of a datagram service the status. */
  readonly reason: number
  /** The reason in words. */
  readonly text: string
  /** What the peer's program said, filled with zeros to its length: 148 octets, 136 of a datagram service; over MPA as sent. */
  readonly privateData: Uint8Array
}> {
  override get message(): string {
    return `${this.peer} rejected: ${this.text} (${this.reason}); ${this.remedy}`
  }
  private get remedy(): string {
    switch (this.text) {
      case "invalid service ID":
      case "service not supported":
        return "see that its program listens on this port"
      case "stale connection":
        return "it still had a connection of an earlier life of this one, which is ended now: try again"
      default:
        return "its private data may say more"
    }
  }
}

/** A peer did not answer, however often it was asked (RDMA_CM_EVENT_UNREACHABLE). */
export class ConnectionUnreachable extends Data.TaggedError("ConnectionUnreachable")<{
  readonly peer: string
  /** What was not answered. */
  readonly unanswered: "request" | "reply" | "disconnectRequest" | "resolveRequest"
}> {
  override get message(): string {
    const { peer, unanswered } = this
    return `${peer} did not answer the ${unanswered}; see that it is up, and that UDP port 4791 is let through`
  }
}

/** Why no connection came about. */
export type ConnectionError = VerbsError | ConnectionRejected | ConnectionUnreachable

const STATUSES: Readonly<Record<number, string>> = {
  [SidrStatus.Unsupported]: "service not supported",
  [SidrStatus.Reject]: "rejected",
  [SidrStatus.NoQueuePair]: "no queue pair available",
  [SidrStatus.Redirect]: "redirection",
  [SidrStatus.UnsupportedVersion]: "version not supported",
}

export const rejected = (peer: string, reason: number, privateData: Uint8Array): ConnectionRejected =>
  new ConnectionRejected({ peer, reason, text: rejectReason(reason) ?? "reserved reason", privateData })

export const datagramRejected = (peer: string, status: number, privateData: Uint8Array): ConnectionRejected =>
  new ConnectionRejected({ peer, reason: status, text: STATUSES[status] ?? "reserved status", privateData })

/** As Linux numbers the refusals of its CM. */
const ERRNO: Readonly<Record<CmRefusal["reason"], Errno>> = {
  id: "EINVAL",
  state: "EINVAL",
  value: "EINVAL",
  limit: "ENOMEM",
  service: "EBUSY",
}

/** What the connection manager says to a call that cannot be. */
export const refusalOfCm = (verb: string, { reason, message }: CmRefusal): VerbsError => {
  const [problem, remedy = "see the documentation of the call"] = message.replace(/^cm: /, "").split("; ")
  return new VerbsError({ errno: ERRNO[reason], verb, problem: problem!, remedy })
}

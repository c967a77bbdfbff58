import type { EfaRdmTarget } from "@rdmakit/wire/efa-rdm"

/**
 * What an endpoint asks of the datagram service under it, SRD or another: reliable, at most once, in no order. The object
 * is used again once the request has completed.
 */
export interface DatagramRequest {
  /** What {@link RdmEndpoint.handleCompletion} is told when it has ended. */
  readonly token: number
  /** `send` a packet; `read` remote memory into `local`; `write` what `local` holds into remote memory. */
  readonly kind: "send" | "read" | "write"
  /** The service's number of the peer. */
  readonly peer: number
  /** The first `bytes` octets are the packet. Of `send` alone. */
  readonly packet: Uint8Array
  readonly bytes: number
  /** Of `read` and `write`: the endpoint's memory, as long as the remote range. */
  readonly local: Uint8Array
  readonly remote: EfaRdmTarget
}

/**
 * How a request ended. `done`: a packet is with the peer's device, an RDMA operation is finished. `refused`: memory could
 * not be registered or reached; of RDMA alone. `unreachable`: the peer does not answer; everything that concerns it fails.
 */
export type DatagramStatus = "done" | "refused" | "unreachable"

/** Who may do what with a range of memory. */
export type RdmAccess = "read" | "write" | "atomic"

/** Memory that peers reach by key and address: what an endpoint needs of a protection domain. */
export interface RdmMemory {
  /** The octets that a peer may use so, or undefined: no such key, out of its range, or not for that. */
  readonly resolve: (target: EfaRdmTarget, access: RdmAccess) => Uint8Array | undefined
  /** Lets peers read a buffer by RDMA READ, or undefined: no more can be registered. */
  readonly register: (octets: Uint8Array) => EfaRdmTarget | undefined
  /** The peer has read it. */
  readonly release: (target: EfaRdmTarget) => void
}

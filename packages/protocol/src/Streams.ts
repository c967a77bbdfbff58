/** READs and atomics that may be outstanding on a stream, as one side counts them. */
export interface StreamDepths {
  /** The peer's, here. */
  readonly inboundReads: number
  /** This side's, at the peer. */
  readonly outboundReads: number
}

/** What happens to a stream that is set up, or was. */
export type StreamEvent =
  /** The peer takes the connection: `attach` a queue pair, or `end` it. */
  | ({ readonly type: "accepted"; readonly privateData: Uint8Array } & StreamDepths)
  | { readonly type: "rejected"; readonly privateData: Uint8Array }
  /** Nobody is there, or whoever is does not speak the protocol. */
  | { readonly type: "unreachable"; readonly message: string }
  /** It has ended, by the peer or because its queue pair failed. */
  | { readonly type: "closed" }

/** One end of a stream. */
export interface StreamEnd {
  /** Set by whoever has it. */
  onEvent: (event: StreamEvent) => void
  /** From now on the queue pair of this number has it, which is in RTR at least. */
  attach(qpn: number): void
  /** Ends it, once what its queue pair has said has gone. */
  end(): void
}

/** A peer asks for a connection. */
export interface StreamRequest extends StreamDepths {
  readonly privateData: Uint8Array
  /** 16 octets each; IPv4 mapped. */
  readonly source: Uint8Array
  readonly sourcePort: number
  readonly destination: Uint8Array
  /** The peer has left: nothing comes of it any more. */
  readonly closed: boolean
  /** Takes it for a queue pair that is in RTS. */
  accept(qpn: number, privateData: Uint8Array, depths: StreamDepths): StreamEnd
  reject(privateData: Uint8Array): void
}

export interface StreamConnect extends StreamDepths {
  readonly destination: Uint8Array
  readonly port: number
  readonly privateData: Uint8Array
}

/** How a world connects queue pairs that need a stream each, as iWARP's do: in place of datagrams between managers. */
export interface StreamHost {
  /** Takes requests at a port; the function ends it. `onReady` is told when it does, or why it cannot. */
  listen(
    port: number,
    onRequest: (request: StreamRequest) => void,
    onReady: (problem: string | undefined) => void,
  ): () => void
  connect(options: StreamConnect): StreamEnd
}

import { tcp } from "@rdmakit/cc-cubic"
import type { ControllerFactory, FlowTransport } from "@rdmakit/protocol"
import { TcpTransportError, type TcpTransportOptions, tcpConfig, tcpFlows } from "@rdmakit/transport-tcp"
import type { OptionKind } from "./Controllers.ts"

/** A transport that scenarios know by name, beside reliable connections. */
export interface NamedTransport {
  readonly options: Readonly<Record<string, OptionKind>>
  /** Of a scenario that names none. */
  readonly controller: ControllerFactory
  /**
   * @param hops switches on the longest path
   * @throws TransportOptionError for an option out of its range
   */
  readonly make: (
    options: Readonly<Record<string, unknown>>,
    controller: ControllerFactory,
    hops: number,
  ) => FlowTransport
}

/** An option that a transport cannot work with. */
export class TransportOptionError extends Error {
  readonly _tag = "TransportOptionError"
  readonly option: string
  readonly expected: string
  constructor(option: string, expected: string, message: string) {
    super(message)
    this.name = "TransportOptionError"
    this.option = option
    this.expected = expected
  }
}

const optionErrors = [TcpTransportError] as const

/** The transport, or its options error as everybody's. */
const attempt = (make: () => FlowTransport): FlowTransport => {
  try {
    return make()
  } catch (error) {
    for (const kind of optionErrors) {
      if (error instanceof kind) throw new TransportOptionError(error.option, error.expected, error.message)
    }
    throw error
  }
}

/** The transports that scenarios know beside `rc`. */
export const transports: ReadonlyMap<string, NamedTransport> = new Map<string, NamedTransport>([
  [
    "tcp",
    {
      options: {
        mtuBytes: "size",
        leastTimeoutPs: "time",
        initialTimeoutPs: "time",
        mostTimeoutPs: "time",
        retryCount: "number",
        ackEvery: "number",
        delayedAckPs: "time",
        lossDetection: "word",
        offloadSegments: "number",
        reorderSegments: "number",
        ecn: "number",
      },
      controller: tcp({ variant: "cubic" }),
      make: (options, controller) =>
        attempt(() => tcpFlows(tcpConfig({ ...options, controller } as TcpTransportOptions))),
    },
  ],
])

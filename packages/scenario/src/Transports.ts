import { tcp } from "@rdmakit/cc-cubic"
import { hpccFamily } from "@rdmakit/cc-erdma"
import { srd } from "@rdmakit/cc-srd"
import type { BalancerName } from "@rdmakit/fabric"
import type { ControllerFactory, FlowTransport } from "@rdmakit/protocol"
import { type ErdmaOptions, erdmaFlows, throughVxlan, vxlanFraming } from "@rdmakit/transport-erdma"
import { type IwarpFlowOptions, iwarpFlows } from "@rdmakit/transport-iwarp"
import { type SrdOptions, srdConfig, srdFlows } from "@rdmakit/transport-srd"
import { TcpTransportError, type TcpTransportOptions, tcpConfig, tcpFlows, tcpFraming } from "@rdmakit/transport-tcp"
import type { OptionKind } from "./Controllers.ts"

/** A transport that scenarios know by name, beside reliable connections. */
export interface NamedTransport {
  readonly options: Readonly<Record<string, OptionKind>>
  /** Of a scenario that names none. */
  readonly controller: ControllerFactory
  /** How switches choose among next hops where a scenario does not say. Default: as ever. */
  readonly loadBalancer?: BalancerName
  /** Heap of a flow from its start to its end and in the results, bytes, as measured: of how many a process has room for. */
  readonly flowBytes: number
  /**
   * @param hops switches on the longest path
   * @throws OptionError of `protocol`, for an option out of its range
   */
  readonly make: (
    options: Readonly<Record<string, unknown>>,
    controller: ControllerFactory,
    hops: number,
  ) => FlowTransport
}

const overlays = ["vxlan", "none"] as const

/** TCP's options, for TCP and for what goes over it. */
const streamOptions = {
  leastTimeoutPs: "time",
  granularityPs: "time",
  initialTimeoutPs: "time",
  mostTimeoutPs: "time",
  retryCount: "number",
  ackEvery: "number",
  delayedAckPs: "time",
  lossDetection: ["rack-tlp", "sack"],
  probesInRecovery: "boolean",
  rateReduction: "boolean",
  quickAcks: "number",
  offloadSegments: "number",
  processingPs: "time",
  reorderSegments: "number",
  ecn: "number",
} as const

/** The transports that scenarios know beside `rc`. */
export const transports: ReadonlyMap<string, NamedTransport> = new Map<string, NamedTransport>([
  [
    "tcp",
    {
      options: {
        mtuBytes: "size",
        overlay: overlays,
        ...streamOptions,
      },
      controller: tcp({ variant: "cubic" }),
      flowBytes: 6500,
      make: ({ overlay = "none", ...options }, controller) => {
        const given = { ...options, controller } as TcpTransportOptions
        if (overlay === "none") return tcpFlows(tcpConfig(given))
        if (overlay !== "vxlan") throw new TcpTransportError("overlay", overlay, "vxlan or none")
        return throughVxlan(tcpFlows(tcpConfig({ ...given, framing: vxlanFraming(tcpFraming) })))
      },
    },
  ],
  [
    "iwarp",
    {
      options: { ipMtuBytes: "size", telemetryBytes: "size", ...streamOptions },
      controller: tcp({ variant: "cubic" }),
      flowBytes: 6500,
      make: (options, controller) => iwarpFlows({ ...options, controller } as IwarpFlowOptions),
    },
  ],
  [
    "erdma",
    {
      options: {
        underlayMtuBytes: "size",
        overlay: overlays,
        telemetryBytes: "size",
        timeoutSlackPs: "time",
        initialTimeoutPs: "time",
        mostTimeoutPs: "time",
        retryCount: "number",
        ackEvery: "number",
      },
      controller: hpccFamily({ variant: "rtt" }),
      flowBytes: 6500,
      make: (options, controller) => erdmaFlows({ ...options, controller } as ErdmaOptions),
    },
  ],
  [
    "srd",
    {
      options: {
        mtuBytes: "size",
        paths: "number",
        renewAfterPackets: "number",
        overloadFactor: "number",
        deadAfterLosses: "number",
        windowPackets: "number",
        initialTimeoutPs: "time",
        leastTimeoutPs: "time",
        mostTimeoutPs: "time",
        unresponsiveAfterPs: "time",
        ecn: "number",
      },
      controller: srd(),
      flowBytes: 3600,
      // Under a hash of the flow all its paths would be one.
      loadBalancer: "entropy",
      make: (options, controller) => srdFlows(srdConfig({ ...options, controller } as SrdOptions)),
    },
  ],
])

import { type CmRoute, type IpCm, serviceIdOf } from "@rdmakit/cm"
import { DEFAULT_PARTITION } from "@rdmakit/device"
import { Effect, Schedule } from "effect"
import { vectorOf } from "./CmPort.ts"
import type { CmService } from "./CmService.ts"
import { chooseGid, formatGid, isIpv4Gid, parseGid } from "./Gid.ts"
import { ackTimeout, type TimeSetting } from "./Timing.ts"
import { attempt, checkFields, checkWhole, type VerbsError, wrongType } from "./VerbsError.ts"

/** TCP's ports are for connections, UDP's for datagrams (IBTA 1.7 §A11.3). */
export type PortSpace = "tcp" | "udp"

export const PROTOCOL: Readonly<Record<PortSpace, number>> = { tcp: 6, udp: 17 }

export interface ResolveOptions {
  readonly port: number
  /** Default "tcp". */
  readonly space?: PortSpace
  /** Of this side; default: the next ephemeral one, 32,768 to 60,999. */
  readonly sourcePort?: number
  /** The address of this side. Default: what `chooseGid` finds. */
  readonly source?: string
  /** 8 bits, DSCP and ECN (RDMA_OPTION_ID_TOS). Default 0. */
  readonly trafficClass?: number
  /** Default 64. */
  readonly hopLimit?: number
  /**
   * Local ACK timeout of this side's queue pair (RDMA_OPTION_ID_ACK_TIMEOUT); the peer's is at least what its own and this
   * side's adapter need besides. Default code 19, 2.1 s, as Linux 6.1 has it for Ethernet. It also says how long nothing of
   * a connection is used again, and how soon a request is repeated.
   */
  readonly ackTimeout?: TimeSetting
}

/** A peer that can be reached (what rdma_resolve_addr and rdma_resolve_route find). Plain data. */
export interface Resolved {
  /** "10.0.0.2 port 7174". */
  readonly peer: string
  readonly space: PortSpace
  readonly serviceId: bigint
  readonly ip: IpCm
  readonly route: CmRoute
  /** Code; undefined: what both sides' connection managers reckon. */
  readonly ackTimeout: number | undefined
}

export const PORT_MAX = 65_535
const HOP_LIMIT = 64
/** CMA_IBOE_PACKET_LIFETIME of Linux 6.1. */
const PACKET_LIFETIME = 18
/** Neighbours that have to be asked for first get two seconds to answer, as rdma_resolve_addr is given by most programs. */
const TRIES = Schedule.exponential("5 millis").pipe(Schedule.upTo({ duration: "2 seconds" }))

export const textOf = (gid: Uint8Array): string => formatGid(gid).replace(/^::ffff:(?=\d+\.)/, "")

const ipv4Of = (gid: Uint8Array): number => new DataView(gid.buffer, gid.byteOffset).getUint32(12)

const ipOf = (source: Uint8Array, destination: Uint8Array, sourcePort: number): IpCm =>
  isIpv4Gid(destination)
    ? { version: 4, sourcePort, source: ipv4Of(source), destination: ipv4Of(destination) }
    : { version: 6, sourcePort, source, destination }

/** What spreads flows over paths is made of both ports (cma_get_roce_udp_flow_label of Linux' cma.c). */
const flowLabelOf = (sourcePort: number, port: number): number => (sourcePort * 31 + port) & 0xfffff

const checkPort = (attribute: string, port: number): void =>
  checkWhole("rdma_resolve_addr", attribute, port, 0, PORT_MAX)

/** @throws VerbsError EINVAL, ENOENT */
const routeTo = (port: CmService, host: string, options: ResolveOptions): Resolved => {
  const { device } = port
  checkFields("rdma_resolve_addr", "options", options, "give { port }")
  if (typeof host !== "string") throw wrongType("rdma_resolve_addr", "host", host, 'write "10.0.0.1" or "fe80::1"')
  const { space = "tcp", sourcePort = port.nextPort() } = options
  if (!Object.hasOwn(PROTOCOL, space)) throw wrongType("rdma_resolve_addr", "space", space, 'say "tcp" or "udp"')
  checkPort("port", options.port)
  checkPort("sourcePort", sourcePort)
  const remoteGid = parseGid(host)
  const choice = options.source === undefined ? { peer: remoteGid } : { gid: options.source }
  const localGid = device.queryGid(1, chooseGid(device.gids, choice)).gid
  const timeout = options.ackTimeout === undefined ? undefined : ackTimeout(options.ackTimeout).code
  return {
    peer: `${textOf(remoteGid)} port ${options.port}`,
    space,
    serviceId: serviceIdOf(PROTOCOL[space], options.port),
    ip: ipOf(localGid, remoteGid, sourcePort),
    route: {
      localGid,
      remoteGid,
      flowLabel: flowLabelOf(sourcePort, options.port),
      trafficClass: options.trafficClass ?? 0,
      hopLimit: options.hopLimit ?? HOP_LIMIT,
      serviceLevel: 0,
      rate: 0,
      partition: DEFAULT_PARTITION,
      mtuBytes: device.queryPort(1).activeMtuBytes,
      packetLifetime: timeout === undefined ? PACKET_LIFETIME : Math.max(0, timeout - 1),
    },
    ackTimeout: timeout,
  }
}

/** Fails with EHOSTUNREACH when nobody can be there. */
const reach = (port: CmService, { route }: Resolved): Effect.Effect<void, VerbsError> =>
  attempt(() => port.pd.createAh(vectorOf(port.device, route)).destroy())

export const resolve = (port: CmService, host: string, options: ResolveOptions): Effect.Effect<Resolved, VerbsError> =>
  attempt(() => routeTo(port, host, options)).pipe(
    Effect.tap((resolved) =>
      Effect.retry(reach(port, resolved), { schedule: TRIES, while: ({ errno }) => errno === "EHOSTUNREACH" }),
    ),
  )

/** An address of the header of IP addressing, as text. */
export const addressOf = (address: Uint8Array | number): string =>
  typeof address === "number" ? [24, 16, 8, 0].map((bits) => (address >>> bits) & 0xff).join(".") : formatGid(address)

/** One end of a program on a socket, and the other in a process of its own. */
import { type Cable, CaptureTap, captureLinkTypes, FaultInjector } from "@rdmakit/codec/cable"
import type { Provider } from "@rdmakit/device/layer"
import type { PcapngWriter } from "@rdmakit/pcap"
import type { OutOfBand } from "@rdmakit/perftest"
import { type IwarpOptions, layer, type SoftnicError, type SoftnicLink, type SoftnicOptions } from "@rdmakit/softnic"
import { Effect, Layer } from "effect"
import { Refused } from "../Exit.ts"
import { capturing } from "./CaptureFile.ts"
import type { EndServices } from "./FabricWorld.ts"
import { freePorts, type PeerProcess, startPeer } from "./PeerProcess.ts"
import { tcpOutOfBand } from "./TcpOutOfBand.ts"
import type { WantedSoftnic } from "./World.ts"

/** How long an end that polls goes on for the next packet after one came, ps. */
const POLLING_PS = 1e9

/**
 * Runs one end.
 * @param polls it does not sleep while packets come
 */
export const runOnSoftnic = <A, E>(
  world: WantedSoftnic,
  link: SoftnicLink,
  program: Effect.Effect<A, E, EndServices>,
  polls = false,
) =>
  Effect.suspend(() => {
    const running = (capture?: PcapngWriter) => {
      const through = (cable: Cable, startNs: bigint): Cable => {
        const faulty =
          world.faults === undefined ? cable : new FaultInjector(cable, { ...world.faults, seed: world.seed })
        if (capture === undefined) return faulty
        const interfaceId = capture.interface({ linkType: captureLinkTypes[cable.layer] })
        return new CaptureTap(faulty, capture, { interfaceId, startNs })
      }
      const options: SoftnicOptions = { link, through, awakePs: polls ? POLLING_PS : 0, device: { seed: world.seed } }
      const services: Layer.Layer<Provider | OutOfBand, SoftnicError> = Layer.merge(layer([options]), tcpOutOfBand())
      return program.pipe(Effect.scoped, Effect.provide(services))
    }
    return world.pcap === undefined ? running() : capturing(world.pcap, 1, running)
  }).pipe(Effect.catchIf(isSoftnicError, cannotBeOpened))

/** The refusal of a socket that cannot be had. */
export const cannotBeOpened = ({ message }: SoftnicError): Effect.Effect<never, Refused> => {
  const isTaken = message.includes("EADDRINUSE")
  const hint = "another process has it: of two on one host, one takes another address, as --address 127.0.0.2"
  return Effect.fail(new Refused({ message, ...(isTaken ? { hint } : {}) }))
}

export const isSoftnicError = (error: unknown): error is SoftnicError =>
  error instanceof Error && "_tag" in error && error._tag === "SoftnicError"

/** Addresses of the two ends of one host: their sockets are both of loopback. */
const OWN = "10.255.0.1"
export const PEER_ADDRESS = "10.255.0.2"
const LOOPBACK = "127.0.0.1"

export interface SpawnedPeer extends PeerProcess {
  /** Where this end is, by UDP or by TCP. */
  readonly link: SoftnicLink
  readonly place: IwarpOptions
  /** TCP port at which the peer listens. */
  readonly port: number
}

/**
 * Starts a process with the other end, which listens.
 * @param args of its command line: what comes before the flags of its world
 */
export const spawnPeer = (args: ReadonlyArray<string>, on: "softnic" | "iwarp", seed: number) =>
  Effect.gen(function* () {
    const { udp, tcp } = yield* freePorts(2)
    const [mine, theirs] = [udp[0]!, udp[1]!]
    const world = [
      ...["--on", on, "--listen", "--port", String(tcp), "--seed", String((seed + 1) >>> 0)],
      ...["--address", PEER_ADDRESS, "--bind", `${LOOPBACK}:${theirs}`, "--at", `${OWN}=${LOOPBACK}:${mine}`],
    ]
    const { beside } = yield* startPeer([...args, ...world])
    const peers = [{ address: PEER_ADDRESS, host: LOOPBACK, port: theirs }]
    const meeting = [{ address: PEER_ADDRESS, host: LOOPBACK, meetingPort: theirs }]
    return {
      beside,
      link: { udp: { address: LOOPBACK, port: mine, gid: OWN, peers } },
      place: { address: OWN, host: LOOPBACK, meetingPort: mine, peers: meeting },
      port: tcp,
    } as SpawnedPeer
  })

import type { Cable } from "@rdmakit/codec/cable"
import { Device, type DeviceOptions } from "@rdmakit/device"
import { Provider } from "@rdmakit/device/layer"
import type { VerbsTransport } from "@rdmakit/protocol"
import { verbsTransport } from "@rdmakit/transport-ib"
import { Context, Effect, Layer } from "effect"
import { Clock } from "./Clock.ts"
import { type Counters, makeCounters } from "./Counters.ts"
import { EthernetLink, type EthernetOptions } from "./EthernetLink.ts"
import { FrameDatagrams, type FrameDatagramsOptions } from "./FrameDatagrams.ts"
import { FrameStream, type FrameStreamOptions } from "./FrameStream.ts"
import type { Link } from "./Link.ts"
import { checkSoftnicOptions } from "./optionChecks.ts"
import { SoftnicError } from "./SoftnicError.ts"
import { PEERS_MAX, SoftWorld, type SoftWorldOptions } from "./SoftWorld.ts"
import { UdpLink, type UdpOptions } from "./UdpLink.ts"

/** Puts middlewares in front of a cable. @param startNs nanoseconds since 1970 of time 0, for capture files */
export type Through = (cable: Cable, startNs: bigint) => Cable

/** What a device's packets go over. */
export type SoftnicLink =
  /** A UDP socket of this host. */
  | { readonly udp: UdpOptions }
  /** Ethernet frames in UDP datagrams, as QEMU's `-netdev dgram` has them. */
  | { readonly datagrams: FrameDatagramsOptions; readonly ethernet: EthernetOptions }
  /** Ethernet frames in a stream, as QEMU's `-netdev stream` has them. */
  | { readonly stream: FrameStreamOptions; readonly ethernet: EthernetOptions }
  /** Ethernet frames over a cable of one's own. */
  | { readonly cable: (clock: Clock) => Cable; readonly ethernet: EthernetOptions }

export interface SoftnicOptions extends SoftWorldOptions {
  readonly link: SoftnicLink
  readonly device?: DeviceOptions
  /** Default `verbsTransport()`. */
  readonly transport?: VerbsTransport
  /** Middlewares between the device and the network: a tracer, a fault injector, a capture. */
  readonly through?: Through
}

/** A device in real time, and what its port counts. */
export interface Softnic {
  readonly device: Device
  readonly counters: Readonly<Counters>
  /** UDP port of the socket, where there is one. */
  readonly port: number | undefined
  /** Frees socket and timers. Packets on their way are lost. */
  readonly close: () => void
}

const openLink = async (options: SoftnicOptions, clock: Clock, counters: Counters): Promise<Link> => {
  const { link, through = (cable: Cable) => cable } = options
  const wrapped = (cable: Cable): Cable => through(cable, clock.startNs)
  if ("udp" in link) return UdpLink.open(link.udp, clock, counters, PEERS_MAX, wrapped)
  const cable =
    "datagrams" in link
      ? await FrameDatagrams.open(link.datagrams, clock, counters)
      : "stream" in link
        ? await FrameStream.open(link.stream, clock, counters)
        : link.cable(clock)
  try {
    return new EthernetLink(link.ethernet, wrapped(cable), counters, PEERS_MAX)
  } catch (error) {
    cable.close()
    throw error
  }
}

/** Opens a device. @throws SoftnicError for a socket that cannot be had, or options that no port can have */
export const openSoftnic = async (options: SoftnicOptions): Promise<Softnic> => {
  checkSoftnicOptions(options)
  const clock = new Clock()
  const counters = makeCounters()
  const link = await openLink(options, clock, counters)
  const world = new SoftWorld(link, clock, counters, options)
  try {
    const device = new Device(world, options.transport ?? verbsTransport(), options.device)
    const port = link instanceof UdpLink ? link.port : undefined
    return { device, counters, port, close: () => world.close() }
  } catch (error) {
    world.close()
    throw error
  }
}

/** The open devices with their counters, in the order of the layer's options. */
export class Softnics extends Context.Service<Softnics, ReadonlyArray<Softnic>>()("@rdmakit/softnic/Softnics") {}

/** Devices in real time, as long as the scope is open: rdmakit0, rdmakit1 … where options say nothing else. */
export const layer = (devices: ReadonlyArray<SoftnicOptions>): Layer.Layer<Provider | Softnics, SoftnicError> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const opened: Array<Softnic> = []
      for (const [index, each] of devices.entries()) {
        const options = { ...each, device: { name: `rdmakit${index}`, ...each.device } }
        opened.push(
          yield* Effect.acquireRelease(
            Effect.tryPromise({
              try: () => openSoftnic(options),
              catch: (error) =>
                error instanceof SoftnicError
                  ? error
                  : new SoftnicError(
                      "device",
                      error instanceof Error ? error.message : String(error),
                      "options it can have",
                      error,
                    ),
            }),
            (softnic) => Effect.sync(softnic.close),
          ),
        )
      }
      return Context.make(Provider, { devices: opened.map(({ device }) => device) }).pipe(Context.add(Softnics, opened))
    }),
  )

import { Device, type DeviceOptions } from "@rdmakit/device"
import { Provider } from "@rdmakit/device/layer"
import { iwarpVerbs, type IwarpOptions as TransportOptions } from "@rdmakit/transport-iwarp"
import { Effect, Layer } from "effect"
import { Clock } from "../Clock.ts"
import { SoftnicError } from "../SoftnicError.ts"
import { IwarpWorld } from "./IwarpWorld.ts"
import { type IwarpOptions, Places } from "./Places.ts"

export interface IwarpDeviceOptions extends IwarpOptions {
  readonly device?: DeviceOptions
  readonly transport?: TransportOptions
}

/** An iWARP device over this host's TCP. */
export interface IwarpNic {
  readonly device: Device
  /** Ends its connections, and frees its ports. */
  readonly close: () => void
}

/** Opens a device. @throws SoftnicError for an address that is none, or a port that cannot be had */
export const openIwarp = async (options: IwarpDeviceOptions): Promise<IwarpNic> => {
  const places = new Places(options)
  const world = new IwarpWorld(new Clock(), places)
  try {
    const device = new Device(world, iwarpVerbs(options.transport), options.device)
    await new Promise<void>((resolve, reject) => {
      world.meet(places.meetingPort, (problem) => {
        if (problem === undefined) resolve()
        else reject(new SoftnicError("meetingPort", problem, "another address or port"))
      })
    })
    return { device, close: () => world.close() }
  } catch (error) {
    world.close()
    throw error
  }
}

/** iWARP devices over this host's TCP, as long as the scope is open. */
export const iwarpLayer = (devices: ReadonlyArray<IwarpDeviceOptions>): Layer.Layer<Provider, SoftnicError> =>
  Layer.effect(
    Provider,
    Effect.map(
      Effect.forEach(devices, (options) =>
        Effect.acquireRelease(
          Effect.tryPromise({
            try: () => openIwarp(options),
            catch: (error) =>
              error instanceof SoftnicError
                ? error
                : new SoftnicError("device", String(error), "options it can have", error),
          }),
          (nic) => Effect.sync(nic.close),
        ),
      ),
      (nics) => ({ devices: nics.map(({ device }) => device) }),
    ),
  )

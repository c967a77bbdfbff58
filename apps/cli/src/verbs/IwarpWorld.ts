/** One end of a program over iWARP: connections of TCP's, of this host. */
import type { Provider } from "@rdmakit/device/layer"
import type { OutOfBand } from "@rdmakit/perftest"
import { type IwarpOptions, iwarpLayer, type SoftnicError } from "@rdmakit/softnic"
import { Effect, Layer } from "effect"
import type { EndServices } from "./FabricWorld.ts"
import { cannotBeOpened, isSoftnicError } from "./SoftnicWorld.ts"
import { tcpOutOfBand } from "./TcpOutOfBand.ts"
import type { WantedIwarp } from "./World.ts"

/** Runs one end. */
export const runOnIwarp = <A, E>(
  { seed }: WantedIwarp,
  place: IwarpOptions,
  program: Effect.Effect<A, E, EndServices>,
) => {
  const devices = iwarpLayer([{ ...place, device: { seed } }])
  const services: Layer.Layer<Provider | OutOfBand, SoftnicError> = Layer.merge(devices, tcpOutOfBand())
  return program.pipe(Effect.scoped, Effect.provide(services), Effect.catchIf(isSoftnicError, cannotBeOpened))
}

import { Context, Layer } from "effect"
import { type HostNic, type HostNicOptions, ReadyListNic, RoundRobinNic } from "./index.ts"

/** The kind of NIC a world's hosts have: replace this layer to schedule queue pairs your own way. */
export class NicModel extends Context.Service<
  NicModel,
  { readonly make: <Command, Event>(options: HostNicOptions<Command, Event>) => HostNic<Command, Event> }
>()("@rdmakit/nic/NicModel") {}

/** Hosts with `ReadyListNic`, the ideal one. */
export const layer: Layer.Layer<NicModel> = Layer.succeed(NicModel, { make: (options) => new ReadyListNic(options) })

/** Hosts with `RoundRobinNic`, that of the public HPCC simulator. */
export const layerRoundRobin: Layer.Layer<NicModel> = Layer.succeed(NicModel, {
  make: (options) => new RoundRobinNic(options),
})

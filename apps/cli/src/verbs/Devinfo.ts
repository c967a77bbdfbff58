import type { SoftnicLink } from "@rdmakit/softnic"
import { formatGid, openDevice } from "@rdmakit/verbs"
import { Effect, Option } from "effect"
import { print } from "../Screen.ts"
import { type DeviceReport, deviceLines } from "./DeviceInfo.ts"
import { endingWell } from "./Ending.ts"
import { runOnFabric } from "./FabricWorld.ts"
import { runOnSoftnic } from "./SoftnicWorld.ts"
import { type WantedIwarp, type WantedWorld, type WorldInput, wantedWorld } from "./World.ts"

export type DevinfoInput = Pick<
  WorldInput,
  "rate" | "delay" | "topology" | "hosts" | "address" | "frames" | "mac" | "linkMtu" | "json"
> & { readonly on: Option.Option<"fabric" | "softnic">; readonly verbose: boolean }

const NONE = {
  ...{ bind: Option.none(), at: [], pcap: Option.none(), force: false, faults: Option.none(), port: Option.none() },
  seed: 0,
}

export const devinfo = (input: DevinfoInput) =>
  Effect.gen(function* () {
    const { address, frames, on } = input
    const isReal = address.length > 0 || Option.isSome(frames) || Option.contains(on, "softnic")
    const wanted = yield* wantedWorld({ ...input, ...NONE }, isReal ? "client" : "both")
    // What it is asked for is one of the two.
    const world = wanted as Exclude<WantedWorld, WantedIwarp>
    const reports =
      world.kind === "fabric"
        ? yield* Effect.map(runOnFabric(world, report, report), ({ value }) => [value.client, value.server])
        : [yield* runOnSoftnic(world, anyPort(world.link!), report)]
    if (input.json) return yield* print(JSON.stringify({ ok: true, devices: reports.map(jsonOf) }))
    for (const each of reports) {
      for (const line of deviceLines(each, input.verbose, formatGid)) yield* print(line)
      yield* print("")
    }
  }).pipe(endingWell(input.json))

const report = Effect.gen(function* () {
  const device = yield* openDevice()
  return { attributes: device.attributes, port: yield* device.port(), gids: device.gids } satisfies DeviceReport
})

/** Nothing is sent: the port of RoCEv2 may be somebody else's. */
const anyPort = (link: SoftnicLink): SoftnicLink => ("udp" in link ? { udp: { port: 0, ...link.udp } } : link)

const jsonOf = ({ attributes, port, gids }: DeviceReport) => ({
  ...attributes,
  nodeGuid: `0x${attributes.nodeGuid.toString(16).padStart(16, "0")}`,
  port: { ...port, gids: gids.map(({ index, gid, type }) => ({ index, gid: formatGid(gid), type })) },
})

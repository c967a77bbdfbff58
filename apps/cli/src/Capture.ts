/** What a run writes of single ports as octets, for Wireshark and `rdmakit pcap`. */
import { closeSync, openSync, writeSync } from "node:fs"
import type { Run } from "@rdmakit/scenario"
import type { CaptureSettings, PortCapture } from "@rdmakit/scenario/capture"
import { type Graph, Ports } from "@rdmakit/topology"
import { Effect, Option, Path } from "effect"
import { Refused } from "./Exit.ts"

export interface CaptureInput {
  /** Names of ports with commas between them. */
  readonly pcap: ReadonlyArray<string>
  readonly pcapFormat: Option.Option<CaptureSettings["format"]>
  readonly pcapInt: Option.Option<CaptureSettings["telemetry"]>
}

/** What is wanted, read and checked. */
export interface WantedCapture {
  readonly settings: CaptureSettings
  /** The files' names, by what they hold. */
  readonly files: Readonly<Record<string, string>>
}

/** Open files that a run may have besides; each port of a pcap is one. */
const PCAP_FILES_MAX = 256

export const wantedCapture = Effect.fnUntraced(function* (input: CaptureInput, graph: Graph) {
  const { pcap, pcapFormat, pcapInt } = input
  const words = pcap.flatMap((list) => list.split(",")).map((word) => word.trim())
  if (words.length === 0) {
    const flag = Option.isSome(pcapFormat) ? "--pcap-format" : Option.isSome(pcapInt) ? "--pcap-int" : undefined
    if (flag === undefined) return undefined
    return yield* new Refused({ message: `${flag}: found no --pcap beside it, expected the ports that are written` })
  }
  const { captureFiles, PortNameFault, portNamed } = yield* captureModule
  const ports = new Ports(graph)
  const found: Array<number> = []
  for (const word of words) {
    const port = portNamed(word, ports, graph)
    if (port instanceof PortNameFault) {
      const { message, hint = "'rdmakit lint FILE --ports' lists all" } = port
      return yield* new Refused({ message: `--pcap: ${message}`, hint })
    }
    if (!found.includes(port)) found.push(port)
  }
  const format = Option.getOrElse(pcapFormat, () => "pcap" as const)
  if (format === "pcap" && found.length > PCAP_FILES_MAX) {
    const hint = "--pcap-format pcapng writes any number into one"
    return yield* new Refused({
      message: `--pcap: found ${found.length} ports, expected ${PCAP_FILES_MAX} at most`,
      hint,
    })
  }
  const settings: CaptureSettings = {
    ports: found,
    format,
    telemetry: Option.getOrElse(pcapInt, () => "none" as const),
  }
  return { settings, files: captureFiles(settings, ports) } as WantedCapture
})

const captureModule = Effect.promise(() => import("@rdmakit/scenario/capture"))

/** Writes the ports of a run that is about to begin, into a folder; files are closed with the scope. */
export const captureOf = Effect.fnUntraced(function* ({ world }: Run, { settings }: WantedCapture, folder: string) {
  const path = yield* Path.Path
  const module = yield* captureModule
  const { crc32 } = yield* Effect.promise(() => import("@rdmakit/wire/node"))
  const descriptors: Array<number> = []
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const descriptor of descriptors) closeSync(descriptor)
    }),
  )
  const open = (file: string) => {
    const descriptor = openSync(path.join(folder, file), "w")
    descriptors.push(descriptor)
    return (octets: Uint8Array): void => {
      for (let at = 0; at < octets.length; ) at += writeSync(descriptor, octets, at)
    }
  }
  return yield* Effect.suspend((): Effect.Effect<PortCapture, Refused> => {
    try {
      return Effect.succeed(new module.PortCapture(world, settings, open, crc32))
    } catch (error) {
      if (!(error instanceof module.CaptureRefused)) return Effect.die(error)
      const refused = error.isTelemetry
        ? { message: `--pcap-int: ${error.message}`, hint: "leave it out, and so telemetry" }
        : { message: `--pcap: ${error.message}` }
      return Effect.fail(new Refused(refused))
    }
  })
})

import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { loadNs3Inputs, type Ns3Inputs, Ns3Simulation, type RunOutcome } from "@rdmakit/scenario"
import { Effect } from "effect"
import { memoryFiles } from "./memoryFiles.ts"

export const DATA = new URL("../../../testdata/ns3/", import.meta.url)

/** A file of the reference data; gzipped ones are found under their plain names. */
export const referenceOctets = (name: string): Uint8Array => {
  try {
    return readFileSync(new URL(name, DATA))
  } catch {
    return gunzipSync(readFileSync(new URL(`${name}.gz`, DATA)))
  }
}

export const referenceText = (name: string): string => new TextDecoder().decode(referenceOctets(name))

/** Loads a config of the reference data and the files it names, with files of one's own in place of some. */
export const referenceInputs = (
  config: string,
  options: {
    readonly overrides?: ReadonlyArray<string>
    readonly files?: Readonly<Record<string, string | Uint8Array>>
  } = {},
): Ns3Inputs => {
  const text = referenceText(config)
  const named = [...text.matchAll(/^(?:TOPOLOGY|FLOW|TRACE)_FILE\s+(\S+)/gm)].map((match) => match[1]!)
  const files: Record<string, string | Uint8Array> = { [`/${config}`]: text }
  for (const name of named) files[`/${name}`] = options.files?.[name] ?? referenceOctets(name)
  return Effect.runSync(
    loadNs3Inputs(config, { workingDirectory: "/", overrides: options.overrides ?? [] }).pipe(
      Effect.provide(memoryFiles(files)),
    ),
  )
}

/** Runs to the end. */
export const runToEnd = (run: { step(budget: number): boolean; outcome(partial: boolean): RunOutcome }): RunOutcome => {
  while (run.step(1 << 20)) {}
  return run.outcome(false)
}

export interface ReferenceRun {
  readonly simulation: Ns3Simulation
  readonly outcome: RunOutcome
  readonly trace: Uint8Array
}

export const runReference = (inputs: Ns3Inputs): ReferenceRun => {
  const chunks: Array<Uint8Array> = []
  const simulation = new Ns3Simulation(inputs, { onTrace: (octets) => void chunks.push(octets.slice()) })
  const outcome = runToEnd(simulation)
  return { simulation, outcome, trace: Buffer.concat(chunks) }
}

import type { ConfigFile, Ns3FormatError } from "@rdmakit/ns3"
import { keyFault } from "./ConfigFault.ts"
import { seriesFile, seriesNames } from "./results/seriesCsv.ts"

/** The files of a run's folder that every run has. */
export const SUMMARY_FILE = "summary.json"
export const FLOWS_FILE = "flows.csv"
export const LINKS_FILE = "links.csv"
/** Those that a run has when they are asked for. */
export const PARQUET_FILE = "flows.parquet"
export const REPORT_FILE = "report.html"

/** The names of the simulator's own output files in the folder of a run: the base names of the config's; "" for none. */
export interface Ns3OutputNames {
  readonly fct: string
  readonly pfc: string
  readonly qlen: string
  readonly trace: string
}

/** Which output files a config asks for. A trace is written with ENABLE_TRACE 1 only. */
export const ns3OutputNames = ({ config }: Pick<ConfigFile, "config">): Ns3OutputNames => ({
  fct: baseName(config.fctOutputFile),
  pfc: baseName(config.pfcOutputFile),
  qlen: baseName(config.qlenMonitorFile),
  trace: config.traceEnabled ? baseName(config.traceOutputFile) : "",
})

/** Every output file has a name of its own in the folder of the run. */
export const checkOutputs = (configFile: ConfigFile): Ns3FormatError | undefined => {
  const { fct, pfc, qlen, trace } = ns3OutputNames(configFile)
  const taken = new Map([
    [SUMMARY_FILE, "the summary"],
    [FLOWS_FILE, "the list of flows"],
    [LINKS_FILE, "the table of links"],
    [PARQUET_FILE, "the list of flows"],
    [REPORT_FILE, "the report"],
    ...seriesNames.map((series): [string, string] => [seriesFile(series), `the series of --series ${series}`]),
  ])
  for (const [key, name] of [
    ["FCT_OUTPUT_FILE", fct],
    ["PFC_OUTPUT_FILE", pfc],
    ["QLEN_MON_FILE", qlen],
    ["TRACE_OUTPUT_FILE", trace],
  ] as const) {
    const owner = taken.get(name)
    const entry = configFile.entries.get(key)
    const written = entry?.words[0] ?? ""
    if (entry !== undefined && !isFileName(name, written, key, configFile)) {
      const expected = `a path whose last part can name a file, at most ${NAME_MAX} characters`
      return keyFault(configFile, key, { expected })
    }
    if (owner !== undefined) {
      const hint = `outputs go to one folder, where ${owner} has that name`
      return keyFault(configFile, key, { expected: `a base name other than ${name}`, hint })
    }
    if (name !== "") taken.set(name, key)
  }
  return undefined
}

const NAME_MAX = 255

/** Whether an output can be written under its base name; one that the config does not ask for need not be. */
const isFileName = (name: string, written: string, key: string, { config }: Pick<ConfigFile, "config">): boolean => {
  if (key === "TRACE_OUTPUT_FILE" && !config.traceEnabled) return true
  if (written === "") return true
  return name !== "" && name !== "." && name !== ".." && name.length <= NAME_MAX
}

const baseName = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)

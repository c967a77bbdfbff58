import { type ConfigFile, type Ns3Fault, Ns3FormatError } from "@rdmakit/ns3"
import type { Mention } from "./InputFile.ts"

/** The place of a key in a config; the file itself when the key is not written there. */
export const mentionOf = (configFile: ConfigFile, key: string): Mention => {
  const { file, line, column } = configFile.entries.get(key) ?? { file: configFile.file, line: 0, column: 0 }
  return { file, line, column, field: key }
}

/** A fault at a key of a config. @param fault found: by default what is written there */
export const keyFault = (
  configFile: ConfigFile,
  key: string,
  fault: Pick<Ns3Fault, "expected" | "hint"> & { readonly found?: string },
): Ns3FormatError => {
  const found = configFile.entries.get(key)?.words.join(" ") ?? ""
  return new Ns3FormatError({ ...mentionOf(configFile, key), found, ...fault })
}

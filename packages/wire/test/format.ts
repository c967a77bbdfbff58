import { readdirSync } from "node:fs"
import type fc from "fast-check"
import type { Layout } from "../src/Layout.ts"
import type { Parse } from "../src/Result.ts"

/** What the laws need to know of one format. */
export interface Format {
  readonly name: string
  readonly parse: (octets: Uint8Array, start?: number, end?: number) => Parse<unknown>
  /** Absent for what is only read. */
  readonly emit?: (value: never, octets: Uint8Array, start?: number) => number
  /** Of what may legally be said. */
  readonly arbitrary?: fc.Arbitrary<unknown>
  readonly layout?: Layout
  /** The most octets one header takes. */
  readonly bytesMax: number
}

/** Keeps the types of a parser, an emitter and an arbitrary together. */
export const format = <A>(each: {
  readonly name: string
  readonly parse: (octets: Uint8Array, start?: number, end?: number) => Parse<A>
  readonly emit?: (value: A, octets: Uint8Array, start?: number) => number
  readonly arbitrary?: fc.Arbitrary<A>
  readonly layout?: Layout
  readonly bytesMax: number
}): Format => each as Format

/** Every format of the package: what the files of `formats` export. */
export const readFormats = async (): Promise<ReadonlyArray<Format>> => {
  const all: Array<Format> = []
  for (const name of readdirSync(new URL("formats", import.meta.url)).sort()) {
    const module = (await import(new URL(`formats/${name}`, import.meta.url).href)) as {
      readonly formats: ReadonlyArray<Format>
    }
    all.push(...module.formats)
  }
  return all
}

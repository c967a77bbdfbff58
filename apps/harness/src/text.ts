import type { Published, Unit } from "./Claim.ts"

/** Three digits, and no trailing zeros: 0.0531, 1.58, 860, 11200. */
const three = (value: number): string => String(Number(value.toPrecision(3)))

const scales: Readonly<Record<"B" | "s" | "bit/s", ReadonlyArray<readonly [string, number]>>> = {
  B: [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
    ["B", 1],
  ],
  s: [
    ["s", 1],
    ["ms", 1e-3],
    ["µs", 1e-6],
    ["ns", 1e-9],
  ],
  "bit/s": [
    ["Gb/s", 1e9],
    ["Mb/s", 1e6],
    ["kb/s", 1e3],
  ],
}

/** The unit in which numbers of this size are read, and how large it is. */
export const unitOf = (largest: number, unit: Unit): readonly [name: string, size: number] => {
  if (unit === "") return ["", 1]
  if (unit === "share") return ["%", 0.01]
  return scales[unit].find(([, size]) => largest >= size) ?? scales[unit].at(-1)!
}

/** A number with its unit. */
export const numberText = (value: number, unit: Unit): string => {
  if (Number.isNaN(value)) return "–"
  const [name, size] = unitOf(Math.abs(value), unit)
  return value === 0 ? "0" : `${three(value / size)}${name === "" ? "" : ` ${name}`}`
}

/** A published number, or its bounds. */
export const publishedText = (published: Published | undefined, unit: Unit): string => {
  if (published === undefined) return ""
  if (typeof published === "number") return numberText(published, unit)
  const { atLeast, atMost } = published
  if (atLeast === undefined) return `≤ ${numberText(atMost!, unit)}`
  if (atMost === undefined) return `≥ ${numberText(atLeast, unit)}`
  return `${numberText(atLeast, unit)} to ${numberText(atMost, unit)}`
}

/** A share as ±12 %. */
export const widthText = (share: number | undefined): string => (share === undefined ? "" : `±${three(share * 100)} %`)

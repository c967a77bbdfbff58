/** Text for a page, and numbers as people read them. Written by hand, not by locale: the same page on every machine. */

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!)

/** JSON that may stand in a page: no tag ends in it. */
export const jsonForPage = (value: unknown): string => JSON.stringify(value).replaceAll("<", "\\u003c")

/** 7,981. */
export const grouped = (value: number): string => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",")

/** 0.1234 as 12.34 %. */
export const percent = (share: number): string => `${(share * 100).toFixed(2)} %`

/** A ratio with two decimals. */
export const ratio = (value: number): string => (Number.isFinite(value) ? value.toFixed(2) : "–")

/** The unit in which the largest of some values is at least one: its name, and how large it is. */
const unitFor = (
  largest: number,
  units: ReadonlyArray<readonly [name: string, size: number]>,
): readonly [string, number] => units.find(([, size]) => largest >= size) ?? units.at(-1)!

export const timeUnit = (largestPs: number) =>
  unitFor(largestPs, [
    ["s", 1e12],
    ["ms", 1e9],
    ["µs", 1e6],
    ["ns", 1e3],
  ])

export const sizeUnit = (largestBytes: number) =>
  unitFor(largestBytes, [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
    ["bytes", 1],
  ])

export const rateUnit = (largestBps: number) =>
  unitFor(largestBps, [
    ["Tb/s", 1e12],
    ["Gb/s", 1e9],
    ["Mb/s", 1e6],
    ["kb/s", 1e3],
  ])

/** A time in four digits: 1.488 ms. */
export const shortTime = (timePs: number): string => {
  const [name, size] = timeUnit(timePs)
  return `${Number((timePs / size).toPrecision(4))} ${name}`
}

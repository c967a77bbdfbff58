/** Numbers as people read them. Written by hand, not by locale: the same text on every machine. */

/** A whole number with commas: 7,981. */
export const grouped = (value: number): string => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",")

/** A ratio with two decimals, "-" when there is none. */
export const ratio = (value: number): string => (Number.isFinite(value) ? value.toFixed(2) : "-")

/** A relative difference in percent with its sign: +1.4 %; "=" for none, "-" when there is nothing to compare. */
export const difference = (a: number, b: number): string => {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return "-"
  if (a === b) return "="
  return signedPercent(a === 0 ? Number.POSITIVE_INFINITY : (b - a) / a)
}

/** 0.0142 as +1.4 %. Whatever rounds to nothing but is not keeps a sign of life. */
const signedPercent = (share: number): string => {
  if (!Number.isFinite(share)) return "∞ %"
  const percent = share * 100
  const sign = percent < 0 ? "-" : "+"
  const size = Math.abs(percent)
  if (size < 0.001) return `${sign}<0.001 %`
  return `${sign}${size < 0.1 ? size.toFixed(3) : size < 100 ? size.toFixed(1) : grouped(size)} %`
}

/** A share in percent: 100 % only when it is all, 0 % only when it is none. */
export const percent = (part: number, whole: number): string => {
  if (whole === 0) return "-"
  if (part === 0) return "0 %"
  if (part === whole) return "100 %"
  const share = (part / whole) * 100
  if (share > 99.9) return ">99.9 %"
  if (share < 0.1) return "<0.1 %"
  return `${share.toFixed(1)} %`
}

/** The end of a bucket of sizes, in bytes: 300 B, 10K, 5M, ∞. */
export const sizeLabel = (bytes: number): string => {
  if (bytes === Number.POSITIVE_INFINITY) return "∞"
  if (bytes >= 1e6) return `${bytes / 1e6}M`
  return bytes >= 1e3 ? `${bytes / 1e3}K` : `${bytes} B`
}

/** One of a thing, or several: "1 flow", "7,981 flows". */
export const counted = (count: number, singular: string, plural = `${singular}s`): string =>
  `${grouped(count)} ${count === 1 ? singular : plural}`

/** A large number in three digits: 9.67 M. */
export const short = (value: number): string => {
  // Rounded first: 999,950 is 1.00 M.
  const rounded = Number(value.toPrecision(3))
  for (const [factor, unit] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (rounded >= factor) return `${(rounded / factor).toPrecision(3)} ${unit}`
  }
  return String(Math.round(value))
}

/** A quantity with its unit, in three digits: 9.67 MB, 288 B. */
export const quantity = (value: number, unit: "B" | "b/s" | "B/s"): string => {
  const text = short(value)
  return text.includes(" ") ? `${text}${unit}` : `${text} ${unit}`
}

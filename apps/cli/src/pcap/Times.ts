const NS = 1_000_000_000n

/** A time since 1970 as 2026-01-31T23:59:59.123456789Z. */
export const formatTime = (timeNs: bigint): string => {
  const seconds = timeNs / NS
  const rest = timeNs % NS
  const date = new Date(Number(rest < 0n ? seconds - 1n : seconds) * 1000)
  const fraction = String(rest < 0n ? rest + NS : rest).padStart(9, "0")
  const text = Number.isNaN(date.getTime()) ? `${seconds} s` : date.toISOString().slice(0, 19)
  return `${text}.${fraction}Z`
}

/** Nanoseconds since the start as seconds with nine decimals; "-" without a time. */
export const formatSeconds = (ns: number): string => (Number.isNaN(ns) ? "-" : (ns / 1e9).toFixed(9))

/** A duration in the unit that fits: 67.1 ms. */
export const formatDuration = (ns: number): string => {
  // Rounded first: 999,950 ns are 1.00 ms.
  const size = Math.abs(Number(ns.toPrecision(3)))
  if (size >= 1e9) return `${(ns / 1e9).toPrecision(size >= 1e12 ? 6 : 3)} s`
  if (size >= 1e6) return `${(ns / 1e6).toPrecision(3)} ms`
  if (size >= 1e3) return `${(ns / 1e3).toPrecision(3)} us`
  return `${Math.round(ns)} ns`
}

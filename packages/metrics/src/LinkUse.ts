import type { Time } from "@rdmakit/units"

/**
 * The share of what a link could have carried that it carried, 0 to 1; NaN over no time.
 *
 * @param sentBytes on the wire, headers and all that takes its time there included
 * @param rateBps of the link, bit/s
 * @param elapsed ps
 */
export const linkUse = (sentBytes: number, rateBps: number, elapsed: Time): number =>
  elapsed > 0 ? (sentBytes * 8e12) / (rateBps * elapsed) : Number.NaN

import type { Figure, Metric, System } from "./Claim.ts"
import { type Measured, noRun } from "./Measured.ts"
import { besidePayload, type LinePacket, packetsOf, type WireFormat } from "./Octets.ts"

/** Packets of a format that stand for all. */
export interface MeasuredPackets {
  /** The one packet of a WRITE of 64 bytes. */
  readonly only: LinePacket
  /** One in the middle of a long WRITE, full. */
  readonly middle: LinePacket
}

/** A WRITE that has a middle, whatever the MTU. */
const LONG_BYTES = 1 << 20
const SHORT_BYTES = 64
/** Powers of two from a byte to a mebibyte. */
const SIZES = Array.from({ length: 21 }, (_, power) => 2 ** power)

/** What the claims and pictures of a figure say of one format, from packets that `wire` makes. */
export const measureOctets = (figure: Figure, { name, format }: System): Measured => {
  const mtu = figure.octets?.ethernetMtuBytes
  if (mtu === undefined || format === undefined) throw new TypeError(`${figure.id} ${name}: compares no formats`)
  const share = (bytes: number): number => {
    const beside = besidePayload(packetsOf(format, bytes, mtu), "line")
    return beside / (beside + bytes)
  }
  return {
    figure: figure.id,
    system: name,
    values: Object.fromEntries(figure.claims.map(({ id, metric }) => [id, measureOf(metric, format, mtu)])),
    curves: figure.pictures.map(() => SIZES.map((bytes) => [bytes, share(bytes)] as const)),
    ...noRun,
    packets: { only: packetsOf(format, SHORT_BYTES, mtu)[0]!, middle: middleOf(format, mtu) },
  }
}

const middleOf = (format: WireFormat, mtu: number): LinePacket => packetsOf(format, LONG_BYTES, mtu)[1]!

const measureOf = (metric: Metric, format: WireFormat, mtu: number): number => {
  if (metric.kind !== "octets") return Number.NaN
  const { message, of, as } = metric
  const beside = besidePayload(message === "middle" ? [middleOf(format, mtu)] : packetsOf(format, message, mtu), of)
  return as === "share" && message !== "middle" ? beside / (beside + message) : beside
}

import { type Ack, DOUBLE_ZERO, TELEMETRY_FIELDS } from "@rdmakit/protocol"

/** What is kept of each hop's last record: time (ps), bytes sent, queue (bytes). */
export const RECORD_FIELDS = 3
/** Room for records at first, in hops. */
export const HOPS_AT_FIRST = 5

/**
 * So many zeros, as an ordinary array: one of each flow. A typed array of more than 64 bytes lies apart from its flow, and
 * the collector counts it by itself. It is made of `DOUBLE_ZERO`, so that it holds doubles from the start.
 */
export const doubles = (count: number): Array<number> => new Array<number>(count).fill(DOUBLE_ZERO)

/** Puts the records of an acknowledgement in place of the last ones. @param records has room for its hops */
export const storeRecords = (records: Array<number>, { telemetry, telemetryAt, hops }: Ack): void => {
  for (let hop = 0, at = telemetryAt, k = 0; hop < hops; hop++, at += TELEMETRY_FIELDS, k += RECORD_FIELDS) {
    records[k] = telemetry[at]!
    records[k + 1] = telemetry[at + 1]!
    records[k + 2] = telemetry[at + 2]!
  }
}

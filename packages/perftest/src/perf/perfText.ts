/** What perftest 6.06 prints above its results (ctx_print_test_info, ctx_print_pingpong_data). */

import { hex } from "../outofband/HexText.ts"
import type { PerftestKeys } from "../outofband/PerftestMessages.ts"
import { RESULT_LINE } from "../Report.ts"
import { moderationOf, type PerfSettings } from "../Settings.ts"
import type { PerfStart } from "./Perf.ts"

const VERBS = { send: "Send", write: "RDMA_Write", read: "RDMA_Read", atomic: "Atomic FETCH_AND_ADD" } as const

/** Everything between the first two lines of dashes, and those. @param transport as the device has it */
export const testLines = (
  { role, settings, mtuBytes, gidIndex, mine }: PerfStart,
  transport: "IB" | "IW" = "IB",
): ReadonlyArray<string> => {
  const { verb, kind, connection, bidirectional, queuePairs, txDepth, rxDepth, inlineBytes } = settings
  const isOneSided = verb === "read" || verb === "atomic"
  const posts = role === "client" || bidirectional
  const receives = verb === "send" && (role === "server" || bidirectional)
  const name = kind === "bw" ? `${bidirectional ? "Bidirectional " : ""}BW` : "Latency"
  return [
    RESULT_LINE,
    `                    ${VERBS[verb]} ${name} Test`,
    ` Number of qps   : ${queuePairs}\t\tTransport type : ${transport}`,
    ` Connection type : ${connection.toUpperCase()}\t\tUsing SRQ      : OFF`,
    ...(posts ? [` TX depth        : ${txDepth}`] : []),
    ...(receives ? [` RX depth        : ${rxDepth}`] : []),
    ...(kind === "bw" ? [` CQ Moderation   : ${moderationOf(settings, settings.all ? 0 : settings.bytes)}`] : []),
    ` Mtu             : ${mtuBytes}[B]`,
    " Link type       : Ethernet",
    ` GID index       : ${gidIndex}`,
    isOneSided ? ` Outstand reads  : ${mine[0]!.outstandingReads}` : ` Max inline data : ${inlineBytes}[B]`,
    " rdma_cm QPs\t : OFF",
    " Data ex. method : Ethernet",
    RESULT_LINE,
  ]
}

/** The queue pairs of both sides, two lines each. */
export const addressLines = ({ settings: { verb }, mine, theirs }: PerfStart): ReadonlyArray<string> => [
  ...mine.flatMap((keys) => queuePairLines("local", verb, keys)),
  ...theirs.flatMap((keys) => queuePairLines("remote", verb, keys)),
]

const queuePairLines = (side: string, verb: PerfSettings["verb"], keys: PerftestKeys): ReadonlyArray<string> => {
  const { lid, qpn, psn, outstandingReads, rkey, address, gid } = keys
  const reads = verb === "read" ? ` OUT ${padded(outstandingReads, 4)}` : ""
  const memory = verb === "read" || verb === "write" ? ` RKey ${padded(rkey, 8)} VAddr ${padded(address, 16)}` : ""
  const octets = Array.from(gid, (octet) => String(octet).padStart(2, "0")).join(":")
  return [
    ` ${side} address: LID ${padded(lid, 4)} QPN ${padded(qpn, 6)} PSN ${padded(psn, 6)}${reads}${memory}`,
    ` GID: ${octets}`,
  ]
}

/** `%#0<width>x`: 0 has no 0x. */
const padded = (value: number | bigint, width: number): string =>
  value === 0 || value === 0n ? "0".repeat(width) : `0x${hex(value, width - 2)}`

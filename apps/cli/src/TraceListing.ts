import { formatRecord, parseTrFilter, TrReader, type TrRecord, trEvents, trProtocols } from "@rdmakit/ns3"
import { findInput } from "@rdmakit/scenario"
import { Effect, FileSystem, Option, Stdio, Stream } from "effect"
import { Exit, exitCodes } from "./Exit.ts"
import { tellFaults, withJsonFaults } from "./Faults.ts"
import { reading, refused } from "./Reading.ts"
import { Screen, WorkingDirectory } from "./Screen.ts"
import { STDIN, STDIN_NAME } from "./StandardInput.ts"

const CHUNK_OCTETS = 1 << 20
/** Text is written in pieces of about this many characters. */
const PIECE_CHARACTERS = 1 << 16

export interface TraceInput {
  readonly file: string
  readonly filter: Option.Option<string>
  readonly json: boolean
}

/** Prints the records of a trace that pass a filter. Holds one chunk of the file at a time, however long it is. */
export const listTrace = (input: TraceInput) => withJsonFaults(input.json, input.file)(records(input))

const records = Effect.fnUntraced(function* (input: TraceInput) {
  const { out, readerGone } = yield* Screen
  const passes = yield* filterOf(input)
  const format = input.json ? (record: TrRecord) => JSON.stringify(recordJson(record)) : formatRecord
  const name = input.file === STDIN ? STDIN_NAME : input.file
  const reader = new TrReader(name)
  let text = ""
  const take = (record: TrRecord): void => {
    if (passes(record)) text += `${format(record)}\n`
  }
  const flush = Effect.suspend(() => {
    const piece = text
    text = ""
    return piece === "" ? Effect.void : out.write(piece)
  })
  const chunks = yield* octetsOf(input.file)
  yield* Stream.runForEachWhile(chunks, (chunk) =>
    Effect.gen(function* () {
      // In slices, so that a long chunk does not become one text.
      for (let at = 0; at < chunk.length && !readerGone(); at += PIECE_CHARACTERS) {
        yield* reading(() => reader.push(chunk.subarray(at, at + PIECE_CHARACTERS), take)).pipe(
          // What was read before the damage is still worth seeing.
          Effect.tapError(() => flush),
        )
        yield* flush
      }
      return !readerGone()
    }),
  )
  if (!readerGone()) yield* reading(() => reader.end())
})

const filterOf = ({ filter: given, json, file }: TraceInput) => {
  const filter = Option.getOrUndefined(given)
  if (filter === undefined) return Effect.succeed(() => true)
  return Effect.tapError(
    reading(() => parseTrFilter(filter)),
    (error) => tellFaults(error, filter),
  ).pipe(
    withJsonFaults(json, file),
    Effect.mapError(() => new Exit({ code: exitCodes.refused })),
  )
}

const octetsOf = Effect.fnUntraced(function* (file: string) {
  if (file === STDIN) return (yield* Stdio.Stdio).stdin
  const files = yield* FileSystem.FileSystem
  const search = { workingDirectory: yield* WorkingDirectory, folders: ["."] }
  const { path } = yield* findInput(file, search, { file, line: 0, column: 0, field: "trace" }).pipe(
    Effect.mapError((fault) => refused(fault)),
  )
  return files.stream(path, { chunkSize: CHUNK_OCTETS })
})

const protocolNames: ReadonlyMap<number, string> = new Map(
  Object.entries(trProtocols).map(([name, number]) => [number, name]),
)

const address = (ip: number): string => `0x${ip.toString(16).padStart(8, "0")}`

/** A record as programs read it: the fields that its kind of packet has. */
export const recordJson = (record: TrRecord) => {
  const { time, node, intf, qidx, qlen, size, ecn, l3Prot } = record
  const head = {
    time,
    node,
    nodeType: record.nodeType === 1 ? "switch" : "host",
    intf,
    qidx,
    qlen,
    event: trEvents[record.event],
    ecn,
    sip: address(record.sip),
    dip: address(record.dip),
    size,
    protocol: protocolNames.get(l3Prot) ?? l3Prot,
  }
  switch (l3Prot) {
    case trProtocols.data: {
      const { sport, dport, dataSeq: seq, dataTs: ts, dataPg: pg, payload } = record
      return { ...head, sport, dport, seq, ts, pg, payload }
    }
    case trProtocols.ack:
    case trProtocols.nack: {
      const { sport, dport, ackFlags: flags, ackPg: pg, ackSeq: seq, ackTs: ts } = record
      return { ...head, sport, dport, flags, pg, seq, ts }
    }
    case trProtocols.pfc: {
      const { pfcTime: pauseUs, pfcQlen: pauseQlen, pfcQueue: queue } = record
      return { ...head, pauseUs, pauseQlen, queue }
    }
    case trProtocols.cnp: {
      const { cnpFid: fid, cnpQueue: queue, cnpEcn: cnpEcnBits, cnpSeq: seq } = record
      return { ...head, fid, queue, cnpEcnBits, seq }
    }
    case trProtocols.tcp:
    case trProtocols.qp: {
      const { sport, dport } = record
      return { ...head, sport, dport }
    }
    default:
      return head
  }
}

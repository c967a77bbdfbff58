import { type TrRecord, trEvents, trProtocols } from "./Tr.ts"

const LETTERS: ReadonlyMap<number, string> = new Map([
  [trProtocols.tcp, "T"],
  [trProtocols.data, "U"],
  [trProtocols.ack, "A"],
  [trProtocols.nack, "N"],
  [trProtocols.pfc, "P"],
  [trProtocols.cnp, "C"],
])

/**
 * A record as the original's trace_reader prints it, without the line's end:
 * `2000001087 n:2 1:0 0 Recv ecn:0 0b000001 0b000101 10000 100 U 0 0 3 1090(1000)`.
 */
export const formatRecord = (record: TrRecord): string => {
  const { l3Prot, size } = record
  const port = `${record.time} n:${record.node} ${record.intf}:${record.qidx}`
  const event = trEvents[record.event] ?? "????"
  const addresses = `${hex8(record.sip)} ${hex8(record.dip)}`
  const head = `${port} ${record.qlen} ${event} ecn:${record.ecn.toString(16)} ${addresses}`
  const letter = LETTERS.get(l3Prot)
  switch (l3Prot) {
    case trProtocols.tcp:
    case trProtocols.data: {
      const { sport, dport, dataSeq, dataTs, dataPg, payload } = record
      return `${head} ${sport} ${dport} ${letter} ${dataSeq} ${dataTs} ${dataPg} ${size}(${payload})`
    }
    case trProtocols.ack:
    case trProtocols.nack: {
      const { sport, dport, ackFlags, ackPg, ackSeq, ackTs } = record
      const flags = ackFlags.toString(16).toUpperCase().padStart(2, "0")
      return `${head} ${sport} ${dport} ${letter} 0x${flags} ${ackPg} ${ackSeq} ${ackTs} ${size}`
    }
    case trProtocols.pfc:
      return `${head} ${letter} ${record.pfcTime} ${record.pfcQlen} ${record.pfcQueue} ${size}`
    case trProtocols.cnp:
      return `${head} ${letter} ${record.cnpFid} ${record.cnpQueue} ${record.cnpEcn} ${record.cnpSeq} ${size}`
    case trProtocols.qp:
      return `${port} ${event} ${addresses} ${record.sport} ${record.dport}`
    default:
      return `${head} ${l3Prot.toString(16)} ${size}`
  }
}

const hex8 = (value: number): string => value.toString(16).padStart(8, "0")

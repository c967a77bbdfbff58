import type { CaptureAnalysis } from "./CaptureAnalysis.ts"
import type { Connection } from "./flows/Connections.ts"
import type { Flow } from "./flows/Flow.ts"
import type { Histogram } from "./Histogram.ts"
import type { IwarpFlow } from "./iwarp/Iwarp.ts"

/** One direction of a queue pair in figures. What is not known is undefined. */
export interface FlowRow {
  readonly source: string
  readonly destination: string
  /** At the destination; the port, of iWARP. */
  readonly qp: number
  readonly sourceQp: number | undefined
  readonly transport: "RC" | "UC" | "RD" | "UD" | "XRC" | "CNP" | "iWARP"
  readonly packets: number
  readonly wireBytes: number
  /** Octets of messages, those that were sent again included. Of a packet that is there twice, one counts. */
  readonly payloadBytes: number
  readonly firstFrame: number
  readonly lastFrame: number
  /** From the start of the capture. */
  readonly startNs: number
  readonly durationNs: number
  readonly throughputBps: number | undefined
  /** Complete ones. */
  readonly messages: number
  readonly messageBytes: number
  readonly messageBytesP50: number | undefined
  readonly messageBytesMax: number | undefined
  /** From the last packet of a message to its acknowledgement, at this point of the network. */
  readonly ackP50Ns: number | undefined
  readonly ackP99Ns: number | undefined
  readonly ackMaxNs: number | undefined
  /** From a READ or an atomic to its first answer. */
  readonly answerP50Ns: number | undefined
  readonly answerP99Ns: number | undefined
  readonly pathMtu: number | undefined
  readonly acks: number
  readonly readBytes: number
  readonly gaps: number
  readonly missingPackets: number
  readonly late: number
  readonly copies: number
  readonly repeated: number
  readonly repeatsByNak: number
  readonly repeatsByRnr: number
  /** Asked for again, as responses were missing. */
  readonly repeatsByResponse: number
  readonly repeatsByTimeout: number
  readonly repeatsLate: number
  readonly repeatsUnknown: number
  /** Sent in this direction, as answers. */
  readonly sequenceNaks: number
  readonly rnrNaks: number
  readonly fatalNaks: number
  /** How long the other side waited after RNR NAKs. */
  readonly rnrWaitedNs: number
  readonly ecnCapable: number
  readonly marked: number
  /** Sent in this direction: they slow the other one. */
  readonly cnps: number
  readonly psnWraps: number
}

/** A connection of connection management in figures. */
export interface ConnectionRow {
  readonly client: string
  readonly server: string
  readonly service: string
  readonly clientQp: number
  readonly serverQp: number | undefined
  readonly state: "asked" | "replied" | "ready" | "rejected" | "disconnected"
  readonly requestFrame: number
  readonly requests: number
  /** From the request to RTU, or to the reply where that is all. */
  readonly setupNs: number | undefined
  readonly rejectReason: number | undefined
  readonly retries: number
  readonly rnrRetries: number
  readonly ackTimeout: number
  readonly disconnectFrame: number | undefined
}

const known = (value: number): number | undefined => (Number.isNaN(value) ? undefined : value)
const quantile = (histogram: Histogram, share: number): number | undefined => known(histogram.quantile(share))
const largest = ({ max, count }: Histogram): number | undefined => (count === 0 ? undefined : max)

const rowOf = (flow: Flow, { addresses }: CaptureAnalysis["observer"]): FlowRow => {
  const { requests, answers, service, firstNs, lastNs, payloadBytes } = flow
  const durationNs = lastNs - firstNs
  const isDatagram = service === "Ud"
  const { causes } = requests
  const { latencies, sizes } = requests.messages
  return {
    source: addresses.text(flow.source),
    destination: addresses.text(flow.destination),
    qp: flow.qp,
    sourceQp: isDatagram ? flow.sourceQp : flow.reverse?.qp,
    transport: service.toUpperCase() as FlowRow["transport"],
    packets: flow.packets,
    wireBytes: flow.wireBytes,
    payloadBytes,
    firstFrame: flow.firstFrame,
    lastFrame: flow.lastFrame,
    startNs: firstNs,
    durationNs,
    throughputBps: durationNs > 0 ? (payloadBytes * 8e9) / durationNs : undefined,
    messages: isDatagram ? flow.packets : requests.messages.count,
    messageBytes: isDatagram ? payloadBytes : requests.messages.bytes,
    messageBytesP50: quantile(sizes, 0.5),
    messageBytesMax: largest(sizes),
    ackP50Ns: quantile(latencies, 0.5),
    ackP99Ns: quantile(latencies, 0.99),
    ackMaxNs: largest(latencies),
    answerP50Ns: quantile(requests.answers, 0.5),
    answerP99Ns: quantile(requests.answers, 0.99),
    pathMtu: requests.messages.mtu === 0 ? undefined : requests.messages.mtu,
    acks: answers.acks,
    readBytes: answers.readBytes,
    gaps: requests.missing.count,
    missingPackets: requests.missingPackets,
    late: requests.late.count,
    copies: flow.copies,
    repeated: requests.repeated.count,
    repeatsByNak: causes.nak.count,
    repeatsByRnr: causes.rnr.count,
    repeatsByResponse: causes.response.count,
    repeatsByTimeout: causes.timeout.count,
    repeatsLate: causes.late.count,
    repeatsUnknown: causes.unknown.count,
    sequenceNaks: answers.sequenceNaks.count,
    rnrNaks: answers.rnrNaks.count,
    fatalNaks: answers.fatalNaks.count,
    rnrWaitedNs: answers.waitedNs,
    ecnCapable: flow.ecnCapable,
    marked: flow.marked.count,
    cnps: flow.cnps.count,
    psnWraps: requests.wraps.count,
  }
}

const iwarpRow = (
  { direction, units, bytes, ...flow }: IwarpFlow,
  { addresses }: CaptureAnalysis["observer"],
): FlowRow => ({
  source: addresses.text(direction.source),
  destination: addresses.text(direction.destination),
  qp: direction.destinationPort,
  sourceQp: direction.sourcePort,
  transport: "iWARP",
  packets: units,
  wireBytes: direction.wireBytes,
  payloadBytes: bytes,
  firstFrame: direction.firstFrame,
  lastFrame: direction.lastFrame,
  startNs: direction.firstNs,
  durationNs: direction.lastNs - direction.firstNs,
  throughputBps:
    direction.lastNs > direction.firstNs ? (bytes * 8e9) / (direction.lastNs - direction.firstNs) : undefined,
  messages: flow.messages,
  messageBytes: bytes,
  messageBytesP50: undefined,
  messageBytesMax: undefined,
  ackP50Ns: undefined,
  ackP99Ns: undefined,
  ackMaxNs: undefined,
  answerP50Ns: undefined,
  answerP99Ns: undefined,
  pathMtu: undefined,
  acks: 0,
  readBytes: 0,
  gaps: flow.losses.count,
  missingPackets: 0,
  late: direction.tcp.outOfOrder,
  copies: 0,
  repeated: direction.tcp.repeated,
  repeatsByNak: 0,
  repeatsByRnr: 0,
  repeatsByResponse: 0,
  repeatsByTimeout: 0,
  repeatsLate: 0,
  repeatsUnknown: direction.tcp.repeated,
  sequenceNaks: 0,
  rnrNaks: 0,
  fatalNaks: flow.terminates.length,
  rnrWaitedNs: 0,
  ecnCapable: 0,
  marked: 0,
  cnps: 0,
  psnWraps: 0,
})

/** Every direction of every queue pair, the two of one together, and iWARP's behind them. */
export const flowRows = (
  analysis: CaptureAnalysis,
  only: (flow: Flow) => boolean = () => true,
): ReadonlyArray<FlowRow> => {
  const rows: Array<FlowRow> = []
  const done = new Set<Flow>()
  for (const flow of analysis.conversations.flows) {
    if (done.has(flow) || !only(flow)) continue
    for (const each of flow.reverse === undefined ? [flow] : [flow, flow.reverse]) {
      done.add(each)
      rows.push(rowOf(each, analysis.observer))
    }
  }
  for (const flow of analysis.iwarp.flows) rows.push(iwarpRow(flow, analysis.observer))
  return rows
}

const stateOf = (connection: Connection): ConnectionRow["state"] => {
  if (connection.rejectFrame !== undefined) return "rejected"
  if (connection.disconnectFrame !== undefined) return "disconnected"
  if (!Number.isNaN(connection.readyNs)) return "ready"
  return connection.replyFrame === undefined ? "asked" : "replied"
}

/** Every connection that connection management set up, or tried to. */
export const connectionRows = ({ conversations, observer }: CaptureAnalysis): ReadonlyArray<ConnectionRow> =>
  conversations.connections.all.map((connection) => {
    const { request, requestNs, readyNs, replyNs } = connection
    return {
      client: observer.addresses.text(connection.client),
      server: observer.addresses.text(connection.server),
      service: `0x${request.serviceId.toString(16)}`,
      clientQp: request.qpn,
      serverQp: connection.serverQp,
      state: stateOf(connection),
      requestFrame: connection.requestFrame,
      requests: connection.requests,
      setupNs: known(readyNs - requestNs) ?? known(replyNs - requestNs),
      rejectReason: connection.rejectReason,
      retries: request.retries,
      rnrRetries: request.rnrRetries,
      ackTimeout: request.primary.ackTimeout,
      disconnectFrame: connection.disconnectFrame,
    }
  })

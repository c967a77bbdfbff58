import { rejectReason } from "@rdmakit/wire/cm"
import { decode, type Node, nodeOf } from "@rdmakit/wire/decode"
import { syndromeOf } from "@rdmakit/wire/infiniband"
import { segmentText } from "./iwarp/SegmentText.ts"
import type { Sighting } from "./Sighting.ts"

/** One packet in a line. */
export interface PacketLine {
  readonly protocol: string
  readonly text: string
}

const hex = (value: number, digits = 0): string => `0x${value.toString(16).padStart(digits, "0")}`

const naks: Readonly<Record<string, string>> = {
  psnSequenceError: "PSN sequence error",
  invalidRequest: "invalid request",
  remoteAccessError: "remote access error",
  remoteOperationalError: "remote operational error",
  invalidRdRequest: "invalid RD request",
}

/** A syndrome in words: "NAK PSN sequence error", "RNR NAK 1.28 ms", "reserved syndrome 0x5f". */
export const syndromeText = (octet: number): string => {
  const syndrome = syndromeOf(octet)
  if (syndrome === undefined) return `reserved syndrome ${hex(octet)}`
  if (syndrome.kind === "nak") return `NAK ${naks[syndrome.meaning]}`
  if (syndrome.kind === "rnrNak") return `RNR NAK ${syndrome.delayUs / 1000} ms`
  return syndrome.credits === undefined ? "ACK" : `ACK ${syndrome.credits} credits`
}

const carriers: Readonly<Record<string, string>> = {
  ipv4: "RoCEv2",
  ipv6: "RoCEv2",
  rocev1: "RoCEv1",
  local: "InfiniBand",
  global: "InfiniBand",
}

const cmNames: Readonly<Record<string, string>> = {
  request: "REQ",
  messageReceipt: "MRA",
  reject: "REJ",
  reply: "REP",
  readyToUse: "RTU",
  disconnectRequest: "DREQ",
  disconnectReply: "DREP",
  resolveRequest: "SIDR REQ",
  resolveReply: "SIDR REP",
}

/** A message of connection management in words. */
const cmText = (cm: Extract<Node, { readonly format: "cm" }>["value"]): string => {
  const name = cmNames[cm.kind]!
  if (cm.kind === "request") {
    return `${name} service ${hex(Number(cm.serviceId))} QP ${hex(cm.qpn)} PSN ${cm.psn} retries ${cm.retries} RNR retries ${cm.rnrRetries}`
  }
  if (cm.kind === "reply") return `${name} QP ${hex(cm.qpn)} PSN ${cm.psn}`
  if (cm.kind === "reject") return `${name} ${rejectReason(cm.reason) ?? `reason ${cm.reason}`}`
  return cm.kind === "disconnectRequest" ? `${name} QP ${hex(cm.qpn)}` : name
}

const transportText = (sighting: Sighting): string => {
  const { operation, opcode, destinationQp, psn, payloadBytes, syndrome, msn, dmaBytes, remoteKey } = sighting
  if (opcode < 0) return "a transport that the capture cut off"
  const parts = [operation?.name ?? `opcode ${hex(opcode, 2)}`]
  if (syndrome >= 0x20) parts.push(`(${syndromeText(syndrome)})`)
  parts.push(`QP ${hex(destinationQp)}`)
  if (operation?.kind !== "notify") parts.push(`PSN ${psn}`)
  if (payloadBytes > 0 && operation?.opcode.payload === true) parts.push(`${payloadBytes} octets`)
  if (dmaBytes >= 0) parts.push(`of ${dmaBytes} key ${hex(remoteKey, 8)}`)
  if (msn >= 0) parts.push(`MSN ${msn}`)
  if (sighting.immediate >= 0) parts.push(`immediate ${hex(sighting.immediate, 8)}`)
  if (sighting.isAckRequest) parts.push("ack requested")
  if ((sighting.trafficClass & 3) === 3 && sighting.trafficClass >= 0) parts.push("CE")
  if (sighting.isFecn) parts.push("FECN")
  if (sighting.isBecn && operation?.kind !== "notify") parts.push("BECN")
  return parts.join(" ")
}

const roceLine = (sighting: Sighting): PacketLine => {
  const protocol = carriers[sighting.place?.carrier ?? ""] ?? "RoCEv2"
  if (sighting.destinationQp === 1 && sighting.operation?.opcode.service === "Ud") {
    const nodes =
      sighting.nodes ?? decode(sighting.data, { link: sighting.link, wireBytes: sighting.wireBytes, crc: () => 0 })
    const cm = nodeOf(nodes, "cm")
    if (cm !== undefined) return { protocol: "CM", text: cmText(cm.value) }
  }
  return { protocol, text: transportText(sighting) }
}

const TCP_FLAGS = ["FIN", "SYN", "RST", "PSH", "ACK", "URG"]

const otherLine = (nodes: ReadonlyArray<Node>): PacketLine => {
  const pfc = nodeOf(nodes, "pfc")
  if (pfc !== undefined) {
    const { value } = pfc
    if (value.kind === "pause") return { protocol: "PAUSE", text: `${value.quanta} quanta` }
    const classes = value.quanta.flatMap((quanta, priority) => (quanta === undefined ? [] : [`${priority}:${quanta}`]))
    return { protocol: "PFC", text: `quanta ${classes.join(" ")}` }
  }
  const named = nodes.findLast(({ format }) => !["payload", "padding", "fcs", "raw", "ipv6Extension"].includes(format))
  const raw = nodeOf(nodes, "raw")
  const payload = nodeOf(nodes, "payload")
  const text =
    raw !== undefined
      ? `${raw.error.format}.${raw.error.field}: ${raw.error.what}`
      : payload === undefined
        ? ""
        : payload.of === "fragment"
          ? "fragment"
          : `${payload.end - payload.start} octets`
  return { protocol: named?.format ?? "frame", text }
}

/** A packet in words. */
export const lineOf = (sighting: Sighting): PacketLine => {
  if (sighting.kind === "roce") return roceLine(sighting)
  if (sighting.kind === "tcp") {
    const { sourcePort, destinationPort, tcpFlags, tcpSequence, tcpStart, tcpEnd } = sighting
    const iwarp = tcpEnd > tcpStart ? segmentText(sighting.data, tcpStart, tcpEnd) : undefined
    if (iwarp !== undefined) return { protocol: "iWARP", text: iwarp }
    const flags = TCP_FLAGS.filter((_, bit) => ((tcpFlags >> bit) & 1) === 1).join(" ")
    const text = `${sourcePort} → ${destinationPort} ${flags} sequence ${tcpSequence} ${tcpEnd - tcpStart} octets`
    return { protocol: "TCP", text }
  }
  return sighting.nodes === undefined ? { protocol: "frame", text: "" } : otherLine(sighting.nodes)
}

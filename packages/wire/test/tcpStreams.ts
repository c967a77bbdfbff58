// Both directions of each TCP connection of a capture, in the order of their sequence numbers, plainly: enough for
// captures in which nothing is missing.
import { parseEthernet } from "../src/Ethernet.ts"
import { parseIpv4 } from "../src/Ipv4.ts"
import { parseTcp } from "../src/Tcp.ts"

export interface TcpSegment {
  readonly frame: number
  readonly payload: Uint8Array
}

/** Payloads by `source>destination` ports. */
export const tcpStreams = (frames: ReadonlyArray<Uint8Array>): ReadonlyMap<string, ReadonlyArray<TcpSegment>> => {
  const streams = new Map<string, { next: number | undefined; readonly segments: Array<TcpSegment> }>()
  for (const [index, octets] of frames.entries()) {
    const ethernet = parseEthernet(octets)
    if (!ethernet.ok || ethernet.value.etherType !== 0x0800) continue
    const ip = parseIpv4(octets, ethernet.payloadStart, ethernet.payloadEnd)
    if (!ip.ok || ip.value.protocol !== 6) continue
    const tcp = parseTcp(octets, ip.payloadStart, ip.payloadEnd)
    if (!tcp.ok) continue
    const name = `${tcp.value.sourcePort}>${tcp.value.destinationPort}`
    const stream = streams.get(name) ?? { next: undefined, segments: [] }
    streams.set(name, stream)
    const payload = octets.subarray(tcp.payloadStart, tcp.payloadEnd)
    const { sequence } = tcp.value
    if (payload.length === 0) continue
    if (stream.next !== undefined && sequence !== stream.next) throw new Error(`frame ${index + 1} is out of order`)
    stream.next = (sequence + payload.length) >>> 0
    stream.segments.push({ frame: index + 1, payload })
  }
  return new Map([...streams].map(([name, { segments }]) => [name, segments]))
}

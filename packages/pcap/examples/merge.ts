import { mergeCaptures, numberOption, optionCodes, PcapngWriter, PcapWriter, readCapture } from "@rdmakit/pcap"

// Two captures of one link, taken at both ends: pcap, with the times of the packets in nanoseconds.
const captureOf = (...times: ReadonlyArray<bigint>): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  const writer = new PcapWriter({ linkType: 1 }, (octets) => chunks.push(octets))
  for (const timeNs of times) writer.packet(timeNs, new Uint8Array(60), 1500)
  writer.flush()
  return chunks
}
const captures = [captureOf(1573830016444223380n, 1573830016444225380n), captureOf(1573830016444224005n)]

// Joined by time into one pcapng file, each end an interface of its own, each packet with its direction.
const file: Array<Uint8Array> = []
const writer = new PcapngWriter({}, (octets) => file.push(octets))
for await (const { source, record } of mergeCaptures(captures.map((chunks) => readCapture(chunks)))) {
  if (record.kind === "interface") writer.record(record)
  if (record.kind !== "packet") continue
  const inbound = numberOption(optionCodes.packet.flags, source === 0 ? 2 : 1, 4)
  writer.packet(source, record.timeNs!, record.data, record.originalOctets, [inbound])
}
writer.flush()

export const report: Array<string> = []
for await (const record of readCapture(file)) {
  if (record.kind !== "packet") continue
  const { frame, timeNs, capturedOctets, originalOctets } = record
  report.push(`${frame} at ${timeNs} ns on ${record.interface.id}: ${capturedOctets} of ${originalOctets} octets`)
}

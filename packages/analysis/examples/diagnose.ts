import { CaptureAnalysis, diagnose, flowRows } from "@rdmakit/analysis"
import { readCapture } from "@rdmakit/pcap"
import { crc32 } from "@rdmakit/wire/crc"

/** What a capture says, in lines; `chunks` are the octets of the file. */
export const report = async (chunks: Iterable<Uint8Array>): Promise<ReadonlyArray<string>> => {
  const analysis = new CaptureAnalysis(crc32)
  for await (const record of readCapture(chunks)) if (record.kind === "packet") analysis.packet(record)
  const { findings, notes } = diagnose(analysis)
  return [
    ...flowRows(analysis).map(
      ({ source, destination, messages, messageBytes, gaps, repeated }) =>
        `${source} → ${destination}: ${messages} messages of ${messageBytes} octets, ${gaps} gaps, ${repeated} again`,
    ),
    ...findings.map(({ text, causes, frames }) => `${text}: ${causes[0]!.text} (frame ${frames[0]})`),
    ...notes,
  ]
}

import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { CaptureReader, PcapngWriter } from "@rdmakit/pcap"
import { crc32 } from "@rdmakit/wire/crc"
import { Operation } from "@rdmakit/wire/infiniband"
import { describe, expect, it, test } from "vitest"
import { CaptureAnalysis, Conversations, diagnose, flowRows, Observer } from "../src/index.ts"
import { captures, readPackets } from "./capture.ts"
import { analyseSpoiled } from "./fuzz.ts"
import { captured, diagnosed, framesOf, roce, send } from "./synthetic.ts"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")
/** Octets of the heap that are in use, without what is only not collected yet. */
const heldBytes = (): number => {
  collect()
  return process.memoryUsage().heapUsed
}

describe("whatever a capture holds", () => {
  test.each(captures)("%s, spoiled, gives an answer", (name) => {
    const frames = framesOf(readPackets(name))
    for (let seed = 1; seed <= 12; seed++) expect(analyseSpoiled(frames, seed * 7919)).toBeGreaterThan(0)
  })
})

describe("bounds", () => {
  it("a scan of 100,000 queue pairs is counted, not kept", () => {
    const analysis = new CaptureAnalysis(crc32)
    const [packet] = captured([send(0, 1)])
    const sighting = analysis.observer.observe(packet!)
    for (let qp = 0; qp < 100_000; qp++) {
      sighting.destinationQp = 16 + qp
      analysis.sighting(sighting)
    }
    expect(analysis.conversations.flows.length).toBe(1 << 15)
    expect(analysis.conversations.overflow).toBe(100_000 - (1 << 15))
    expect(diagnose(analysis).notes.join("\n")).toContain("67232 packets of further queue pairs are counted only")
  })

  it("a scan of a whole network is no burden", () => {
    const conversations = new Conversations()
    const [packet] = captured([send(0, 1)])
    const sighting = new Observer().observe(packet!)
    for (let host = 0; host < 1 << 15; host++) {
      sighting.destination = host
      conversations.take(sighting)
    }
    const before = heldBytes()
    for (let host = 1 << 15; host < 1 << 19; host++) {
      sighting.destination = host
      conversations.take(sighting)
    }
    expect(conversations.overflow).toBe((1 << 19) - (1 << 15))
    expect(heldBytes() - before).toBeLessThan(4e6)
    expect(conversations.talks(sighting.source, sighting.destination)).toBe(false)
  })

  it("sections without number, each with an interface, are no burden", () => {
    const chunks: Array<Uint8Array> = []
    const writer = new PcapngWriter({}, (octets) => chunks.push(octets))
    const frame = send(0, 1).octets
    for (let section = 0; section < 500; section++) {
      writer.section()
      writer.packet(writer.interface({ linkType: 1 }), BigInt(section), frame)
    }
    writer.flush()
    const reader = new CaptureReader()
    const observer = new Observer()
    const octets = new Uint8Array(Buffer.concat(chunks))
    const read = (times: number): void => {
      for (let time = 0; time < times; time++) {
        reader.push(octets)
        for (let record = reader.next(); record !== undefined; record = reader.next())
          if (record.kind === "packet") observer.observe(record)
      }
    }
    read(20)
    const before = heldBytes()
    read(200)
    expect(observer.clock.startNs).toBe(0n)
    expect(heldBytes() - before).toBeLessThan(4e6)
  })

  it("a million requests without an answer are no burden", () => {
    const analysis = new CaptureAnalysis(crc32)
    const [packet] = captured([send(0, 1)])
    const sighting = analysis.observer.observe(packet!)
    for (let psn = 0; psn < 1_000_000; psn++) {
      sighting.psn = psn
      analysis.sighting(sighting)
    }
    expect(analysis.conversations.flows[0]!.requests.messages.outstanding.length).toBeLessThanOrEqual(16_384)
  })

  it("a queue pair that begins anew elsewhere has lost nothing", () => {
    const frames = [send(0, 10), send(1, 11), send(2, 9_000_000), send(3, 9_000_001)]
    expect(diagnosed(captured(frames)).findings).toEqual([])
  })

  it("a READ of unknown MTU is no gap", () => {
    const reth = { virtualAddress: 0n, remoteKey: 1, dmaBytes: 1 << 20 }
    const frames = [roce({ timeNs: 0, psn: 5, operation: Operation.ReadRequest, headers: { reth } }), send(1, 5 + 256)]
    const analysis = new CaptureAnalysis(crc32)
    for (const packet of captured(frames)) analysis.packet(packet)
    expect(flowRows(analysis)[0]).toMatchObject({ gaps: 0, messages: 2 })
  })
})

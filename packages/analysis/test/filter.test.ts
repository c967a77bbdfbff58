import { optionCodes, PcapngWriter, textOption } from "@rdmakit/pcap"
import { describe, expect, it, test } from "vitest"
import { FilterError, Observer, PacketFilter } from "../src/index.ts"
import { packetsOf, readPackets } from "./capture.ts"

const framesOf = (name: string, ...terms: ReadonlyArray<string>): ReadonlyArray<number> => {
  const observer = new Observer()
  const filter = new PacketFilter(terms, observer)
  return readPackets(name).flatMap((packet) => (filter.passes(observer.observe(packet)) ? [packet.frame] : []))
}

describe("a filter", () => {
  test.each<readonly [string, ReadonlyArray<number>]>([
    ["is=nak", [13]],
    ["is=roce", [12, 13]],
    ["frame=12..13 source=10.0.0.1", [12]],
    ["opcode=write_only", [12]],
    ["opcode=0x11", [13]],
    ["qp=0x17&is=roce destination=10.0.0.1", [13]],
    ["psn=4247..4247", [12, 13]],
    ["time=17473us..19ms is=roce", [12]],
    ["time=2026-11-29T15:12:09.380..2026-11-29T15:12:09.381Z", [13]],
    ["time=..0", [1]],
    ["psn=0xffffff..4247", [12, 13]],
    ["psn=4248..4246", []],
    ["address=10.0.0.9", []],
    ["address=52:54:00:00:00:01", []],
    ["address=lid5", []],
  ])("%s", (terms, frames) => {
    expect(framesOf("v_badrkey", terms)).toEqual(frames)
    expect(framesOf("v_badrkey", ...terms.split(" "))).toEqual(frames)
  })

  test.each([
    "qp",
    "qp=x",
    "qp=0x1000000",
    "time=soon",
    "time=2026-13-01T00:00:00",
    "time=1..2..3",
    "psn=..",
    "is=lost",
    "port=1",
    "time=20ms..10ms",
    "time=2026-11-29T15:12:10..2026-11-29T15:12:09",
    "frame=9..1",
    "address=10.0.0.300",
    "source=client",
    "opcode=wirte",
    "opcode=",
    "interface=",
  ])("%s is refused", (terms) => expect(() => framesOf("v_badrkey", terms)).toThrow(FilterError))

  it("knows the days of 1970 and 2000, leap years among them", () => {
    const at = (time: string) => framesOf("v_badrkey", `time=${time}..`).length
    expect(at("1970-01-01T00:00:00")).toBe(18)
    expect(at("2026-11-29T15:12:09.361884Z")).toBe(18)
    expect(at("2026-11-29T15:12:09.361885Z")).toBe(17)
  })

  it.each([
    ["16:1", [1, 3]],
    ["0", [1, 3]],
    ["16:2", [2]],
    ["2", [4]],
    ["eth0", []],
  ])("takes the packets of interface %s", (name, frames) => {
    const chunks: Array<Uint8Array> = []
    const writer = new PcapngWriter({}, (octets) => chunks.push(octets))
    for (const port of ["16:1", "16:2"]) {
      writer.interface({ linkType: 1, options: [textOption(optionCodes.interface.name, port)] })
    }
    writer.interface({ linkType: 1 })
    for (const id of [0, 1, 0, 2]) writer.packet(id, 0n, new Uint8Array(60))
    writer.flush()
    const observer = new Observer()
    const filter = new PacketFilter([`interface=${name}`], observer)
    const packets = packetsOf(new Uint8Array(Buffer.concat(chunks)))
    expect(packets.flatMap((packet) => (filter.passes(observer.observe(packet)) ? [packet.frame] : []))).toEqual(frames)
  })

  it("leaves queue pairs aside when asked", () => {
    const filter = new PacketFilter(["qp=1,2"], new Observer(), true)
    expect([...filter.queuePairs!]).toEqual([1, 2])
    expect(filter.isEmpty).toBe(true)
  })
})

import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { expect, it } from "vitest"
import { type MpaEvent, MpaHandshake, type MpaParameters } from "../../src/mpa/index.ts"

/** The first octets that each side of the first TCP connection of a capture sent: the opening frames. */
const openings = (name: string): readonly [Uint8Array, Uint8Array] => {
  const file = gunzipSync(readFileSync(new URL(`../../../../testdata/captures/${name}.pcap.gz`, import.meta.url)))
  const found: Array<Uint8Array> = []
  for (let at = 24; at < file.length && found.length < 2; at += 16 + file.readUInt32LE(at + 8)) {
    const frame = file.subarray(at + 16, at + 16 + file.readUInt32LE(at + 8))
    const start = frame.indexOf("MPA ID Re")
    if (start >= 0) found.push(new Uint8Array(frame.subarray(start)))
  }
  return [found[0]!, found[1]!]
}

const eventsOf = (machine: MpaHandshake): ReadonlyArray<MpaEvent> => {
  const events: Array<MpaEvent> = []
  for (let event = machine.pollEvent(); event !== undefined; event = machine.pollEvent()) events.push(event)
  return events
}

it.each(["siw_rping_v4", "siw_crc_rping_v4"])(
  "the frames of Linux's siw in %s are understood, and ours are the same",
  (name) => {
    const [request, reply] = openings(name)
    const responder = new MpaHandshake(0, { role: "responder", parameters: peer(request) })
    responder.handleOctets(0, request)
    const [asked] = eventsOf(responder)
    expect(asked?.type).toBe("request")
    if (asked?.type !== "request") return
    // A machine that asks for the same sends the same octets.
    const initiator = new MpaHandshake(0, { role: "initiator", parameters: asked.peer, privateData: asked.privateData })
    expect(initiator.pollTransmit()).toEqual(request)
    initiator.handleOctets(0, reply)
    const [established] = eventsOf(initiator)
    expect(established).toMatchObject({ type: "established", agreement: { crc: name.includes("crc") } })
  },
)

/** Parameters that go with a request: those of a responder that has all there is. */
const peer = (request: Uint8Array): MpaParameters => ({
  dialect: "iwarp",
  markers: false,
  crc: false,
  enhanced:
    request[17] === 2
      ? {
          inboundReads: 128,
          outboundReads: 128,
          peerToPeer: true,
          readyBySend: true,
          readyByWrite: true,
          readyByRead: true,
        }
      : undefined,
})

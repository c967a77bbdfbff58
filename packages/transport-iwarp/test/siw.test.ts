import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { type Memory, MemoryFault, QpState, type SendRequest, WrOpcode } from "@rdmakit/protocol"
import { parseMpa } from "@rdmakit/wire/mpa"
import { parseRdmap, type Rdmap } from "@rdmakit/wire/rdmap"
import { describe, expect, it } from "vitest"
import { FpduReader, type IwarpQueuePair, iwarpVerbs } from "../src/index.ts"
import { bring } from "./pair.ts"

interface Piece {
  readonly from: "client" | "server"
  readonly octets: Uint8Array
}

const ETHERNET_BYTES = 14

/** What each side of the capture's MPA connection sent, as it came. */
const piecesOf = (name: string): ReadonlyArray<Piece> => {
  const file = gunzipSync(readFileSync(new URL(`../../../testdata/captures/${name}.pcap.gz`, import.meta.url)))
  const pieces: Array<Piece> = []
  let clientPort = -1
  let serverPort = -1
  for (let at = 24; at < file.length; at += 16 + file.readUInt32LE(at + 8)) {
    const frame = file.subarray(at + 16, at + 16 + file.readUInt32LE(at + 8))
    const ip = ETHERNET_BYTES
    if (frame.readUInt16BE(12) !== 0x0800 || frame[ip + 9] !== 6) continue
    const tcp = ip + 4 * (frame[ip]! & 15)
    const [source, destination] = [frame.readUInt16BE(tcp), frame.readUInt16BE(tcp + 2)]
    const payload = frame.subarray(tcp + 4 * (frame[tcp + 12]! >> 4), ip + frame.readUInt16BE(ip + 2))
    if (payload.length === 0) continue
    if (clientPort < 0 && payload.includes("MPA ID Req Frame")) [clientPort, serverPort] = [source, destination]
    const octets = new Uint8Array(payload)
    if (source === clientPort && destination === serverPort) pieces.push({ from: "client", octets })
    else if (source === serverPort && destination === clientPort) pieces.push({ from: "server", octets })
  }
  return pieces
}

/** Memory under whatever key: octets by address, which are what the capture says. */
const anyMemory = () => {
  const octetsAt = new Map<number, number>()
  const memory: Memory = {
    original: 0n,
    check: () => MemoryFault.None,
    read: (_user, _key, _remote, address, bytes, out, start) => {
      for (let at = 0; at < bytes; at++) out[start + at] = octetsAt.get(address + at) ?? 0
      return MemoryFault.None
    },
    write: (_user, _key, _remote, address, octets, start, bytes) => {
      for (let at = 0; at < bytes; at++) octetsAt.set(address + at, octets[start + at]!)
      return MemoryFault.None
    },
    compareAndSwap: () => MemoryFault.Access,
    fetchAndAdd: () => MemoryFault.Access,
    invalidate: () => MemoryFault.None,
    bind: () => MemoryFault.Key,
  }
  return { memory, octetsAt }
}

/** The work that siw did when it sent this; undefined: it answered. */
const workOf = (header: Rdmap, payload: Uint8Array): SendRequest | undefined => {
  const common = { id: 1, signaled: true, sges: [] }
  switch (header.kind) {
    case "send":
      return { ...common, opcode: WrOpcode.Send, inline: payload, solicited: header.solicited }
    case "write":
      return {
        ...common,
        opcode: WrOpcode.RdmaWrite,
        inline: payload,
        remoteAddress: header.sinkOffset,
        remoteKey: header.sinkStag,
      }
    case "readRequest":
      return {
        ...common,
        opcode: WrOpcode.RdmaRead,
        sges: [{ address: Number(header.sinkOffset), length: header.bytes, lkey: header.sinkStag }],
        remoteAddress: header.sourceOffset,
        remoteKey: header.sourceStag,
      }
    default:
      return undefined
  }
}

const unitsOf = (octets: Uint8Array): ReadonlyArray<{ readonly header: Rdmap; readonly payload: Uint8Array }> => {
  const reader = new FpduReader(false)
  reader.push(octets)
  const units = []
  for (let unit = reader.next(); unit instanceof Uint8Array; unit = reader.next()) {
    const parsed = parseRdmap(unit)
    if (!parsed.ok) throw new Error(parsed.error.field)
    units.push({ header: parsed.value, payload: unit.slice(parsed.payloadStart) })
  }
  return units
}

const openingOf = (octets: Uint8Array) => {
  const parsed = parseMpa(octets)
  if (!parsed.ok) throw new Error(parsed.error.field)
  return { crc: parsed.value.crc, bytes: parsed.payloadStart }
}

/** Plays one side of a capture, against what the other one sent: what this side says, and what siw said. */
const replay = (name: string, side: Piece["from"]) => {
  const pieces = piecesOf(name)
  const openings = (["client", "server"] as const).map((from) => pieces.find((piece) => piece.from === from)!)
  const crc = openings.some(({ octets }) => openingOf(octets).crc)
  const { memory, octetsAt } = anyMemory()
  const engine = iwarpVerbs().makeEngine(0, {
    type: "rc",
    qpn: 1,
    user: { domain: 1, qpn: 1 },
    memory,
    sharedReceives: undefined,
    sendMax: 256,
    receiveMax: 256,
    signalAll: true,
  }) as IwarpQueuePair
  bring(engine)
  const sink = { address: 2 ** 40, length: 65_536, lkey: 0 }
  for (let id = 0; id < 100; id++) engine.command(0, { type: "receive", request: { id, sges: [sink] } })
  engine.attach(0, { initiator: side === "client", crc, markers: false, ready: false })
  const said: Array<number> = []
  const expected: Array<number> = []
  let works = 0
  let source = 0
  for (const piece of pieces) {
    const { from, octets } = piece
    const stream = openings.includes(piece) ? octets.subarray(openingOf(octets).bytes) : octets
    if (from !== side) {
      for (const { header } of unitsOf(stream)) if (header.kind === "readRequest") source = Number(header.sourceOffset)
      engine.handleOctets(0, stream)
      continue
    }
    expected.push(...stream)
    for (const { header, payload } of unitsOf(stream)) {
      const work = workOf(header, payload)
      if (work !== undefined) {
        works++
        engine.command(0, { type: "send", request: work })
      } else for (const [at, octet] of payload.entries()) octetsAt.set(source + at, octet)
      for (let out = engine.pollOctets(0); out !== undefined; out = engine.pollOctets(0)) said.push(...out)
    }
  }
  return { said: Uint8Array.from(said), expected: Uint8Array.from(expected), works, state: engine.state }
}

describe.each(["siw_rping_v4", "siw_crc_rping_v4"])(
  "against what two of Linux's siw said to each other in %s",
  (name) => {
    it.each(["client", "server"] as const)("as the %s it says the same octets", (side) => {
      const { said, expected, works, state } = replay(name, side)
      expect(works).toBeGreaterThan(2)
      expect(expected.length).toBeGreaterThan(300)
      expect(Buffer.compare(said, expected)).toBe(0)
      expect(state).toBe(QpState.Rts)
    })
  },
)

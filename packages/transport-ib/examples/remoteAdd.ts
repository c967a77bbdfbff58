// FETCH & ADD over a network that loses the first answer: asked for twice, carried out once. The memory behind the engines
// is one counter; the world is `EnginePair`, with a microsecond each way.
import { EnginePair } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import {
  type Memory,
  MemoryFault,
  type PeerPath,
  QpState,
  type VerbsCommand,
  type VerbsEvent,
  WrOpcode,
} from "@rdmakit/protocol"
import { verbsTransport } from "@rdmakit/transport-ib"

/** Eight octets at address 0, under any key: a device's memory checks keys, bounds and rights here. */
class Counter implements Memory {
  value = 40n
  original = 0n
  check = () => MemoryFault.None
  read = () => MemoryFault.Access
  write: Memory["write"] = (_user, _key, _remote, _address, octets, start) => {
    this.value = new DataView(octets.buffer).getBigUint64(start, true)
    return MemoryFault.None
  }
  compareAndSwap = () => MemoryFault.Access
  fetchAndAdd: Memory["fetchAndAdd"] = (_user, _key, _address, add) => {
    this.original = this.value
    this.value += add
    return MemoryFault.None
  }
  invalidate = () => MemoryFault.Key
  bind = () => MemoryFault.Key
}

const memories = [new Counter(), new Counter()] as const
const transport = verbsTransport({ ackEvery: 1 })
const engineOf = (qpn: number, memory: Memory) =>
  transport.makeEngine(0, {
    type: "rc",
    qpn,
    user: { domain: 1, qpn },
    memory,
    sharedReceives: undefined,
    sendMax: 16,
    receiveMax: 16,
    signalAll: false,
  })

const pair = new EnginePair<VerbsCommand, VerbsEvent>({
  pool: new PacketPool(),
  ends: [engineOf(7, memories[0]), engineOf(9, memories[1])],
  path: ({ from, ordinal }) => (from === 1 && ordinal === 0 ? [] : [1e6]),
})

const gid = (last: number) => Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last)
const pathOf = (node: number, peer: number): PeerPath => ({
  node,
  peer,
  flow: node,
  udpSourcePort: 49152,
  trafficClass: 0,
  hopLimit: 64,
  flowLabel: 0,
  priority: 3,
  sourceGid: gid(node),
  destinationGid: gid(peer),
  lineRateBps: 100e9,
  baseRttPs: 2e6,
})
const both = { accessFlags: 8, pathMtuBytes: 1024, receivePsn: 0, responderResources: 1, minRnrTimer: 12 }
const toRts = { sendPsn: 0, timeout: 14, retryCount: 7, rnrRetry: 7, initiatorDepth: 1 }
for (const end of [0, 1] as const) {
  const receiving = { ...both, path: pathOf(end, 1 - end), destinationQp: end === 0 ? 9 : 7 }
  pair.command(end, { type: "modify", state: QpState.Init, settings: {} })
  pair.command(end, { type: "modify", state: QpState.Rtr, settings: receiving })
  pair.command(end, { type: "modify", state: QpState.Rts, settings: toRts })
}

const request = { id: 1, opcode: WrOpcode.AtomicFetchAndAdd, signaled: true, remoteAddress: 0, remoteKey: 5 }
pair.command(0, { type: "send", request: { ...request, compareAdd: 2n, sges: [{ address: 0, length: 8, lkey: 4 }] } })
pair.run()

/** Opcodes as they were sent: FETCH_ADD, the answer that is lost, and both again. */
export const opcodes = pair.sent.map(({ opcode }) => opcode)
/** Success of request 1, after one timeout of 67 ms. */
export const completion = pair.events[0]
/** 40 was found, 42 is there. */
export const found = memories[0].value
export const there = memories[1].value

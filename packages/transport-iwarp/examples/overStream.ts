// Two queue pairs at the ends of a stream; it carries octets in pieces of ten.
import { BASE, LOCAL_KEY, REMOTE_KEY, TestMemory } from "@rdmakit/conformance"
import { QpState, WrOpcode } from "@rdmakit/protocol"
import { type IwarpQueuePair, iwarpVerbs } from "@rdmakit/transport-iwarp"

const transport = iwarpVerbs({ segmentBytes: 1000 })
const end = (qpn: number, initiator: boolean) => {
  const memory = new TestMemory(4096)
  const engine = transport.makeEngine(0, {
    type: "rc",
    qpn,
    user: { domain: 1, qpn },
    memory,
    sharedReceives: undefined,
    sendMax: 16,
    receiveMax: 16,
    signalAll: true,
  }) as IwarpQueuePair
  engine.command(0, { type: "modify", state: QpState.Init, settings: { accessFlags: 14 } })
  engine.command(0, { type: "modify", state: QpState.Rtr, settings: { responderResources: 1 } })
  engine.command(0, { type: "modify", state: QpState.Rts, settings: { initiatorDepth: 1 } })
  engine.attach(0, { initiator, crc: true, markers: false, ready: true })
  return { memory, engine }
}

const [left, right] = [end(1, true), end(2, false)]
right.memory.octets.fill(7, 0, 3000)
left.engine.command(0, {
  type: "send",
  request: {
    id: 1,
    opcode: WrOpcode.RdmaRead,
    signaled: true,
    sges: [{ address: BASE, length: 3000, lkey: LOCAL_KEY }],
    remoteAddress: BASE,
    remoteKey: REMOTE_KEY,
  },
})

/** Octets that went each way: the ready-to-receive and the request; the response in three segments. */
export const carried = [0, 0]
for (let moved = true; moved; ) {
  moved = false
  for (const index of [0, 1] as const) {
    const [from, to] = index === 0 ? [left.engine, right.engine] : [right.engine, left.engine]
    for (let octets = from.pollOctets(0); octets !== undefined; octets = from.pollOctets(0)) {
      carried[index]! += octets.length
      for (let at = 0; at < octets.length; at += 10) to.handleOctets(0, octets.subarray(at, at + 10))
      moved = true
    }
  }
}
export const read = left.memory.octets.subarray(0, 3000)

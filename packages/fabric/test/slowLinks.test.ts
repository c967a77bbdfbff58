import { tcp } from "@rdmakit/cc-cubic"
import { hpccFamily } from "@rdmakit/cc-erdma"
import { srd } from "@rdmakit/cc-srd"
import { Flag } from "@rdmakit/packet"
import type { ControllerFactory, FlowTransport, VerbsTransport } from "@rdmakit/protocol"
import { WcStatus, WrOpcode } from "@rdmakit/protocol"
import { star } from "@rdmakit/topology"
import { erdmaFlows, erdmaVerbs } from "@rdmakit/transport-erdma"
import { srdConfig, srdFlows, srdVerbs } from "@rdmakit/transport-srd"
import { tcpConfig, tcpFlows } from "@rdmakit/transport-tcp"
import { describe, expect, it } from "vitest"
import { sharedBufferSwitches, VerbsNetwork } from "../src/index.ts"
import { incast, runFlows } from "./runs.ts"
import { connect, makeEnd, polled } from "./verbs/connected.ts"
import { remoteOf, type SrdEnd, sgeOf, srdEnds, toEnd } from "./verbs/srdEnds.ts"

const BYTES = 20_000
const rates = ["1kbps", "100kbps", "10Mbps", "1Gbps", "10Gbps", "100Gbps", "400Gbps"]
const switches = sharedBufferSwitches({ loadBalancer: "entropy" })
const hpcc = hpccFamily({ variant: "rtt" })
const starOf = (senders: number, rate: string) => star(senders + 1, { rate, delay: "1us" })

type Flows = readonly [ControllerFactory, (controller: ControllerFactory) => FlowTransport]
const transports: Readonly<Record<string, Flows>> = {
  srd: [srd(), (controller) => srdFlows(srdConfig({ controller }))],
  erdma: [hpcc, (controller) => erdmaFlows({ controller })],
  tcp: [tcp({ variant: "cubic" }), (controller) => tcpFlows(tcpConfig({ controller }))],
}

describe.each(Object.entries(transports))("flows of %s", (_name, [controller, makeTransport]) => {
  it.each(rates)("nothing is sent again where nothing is lost, at %s", (rate) => {
    for (const senders of [2, 8]) {
      const { outcome } = runFlows(
        { graph: starOf(senders, rate), controller, makeTransport, switches },
        incast(senders, BYTES),
      )
      expect([outcome.flowsFinished, outcome.retransmissions]).toEqual([senders, 0])
    }
  })
})

/** A network of devices, and how many packets its hosts have sent again. */
const watched = (senders: number, rate: string, transport: VerbsTransport) => {
  const repeated = { packets: 0 }
  const network = new VerbsNetwork({
    graph: starOf(senders, rate),
    switches,
    transport,
    onPacket: (_now, _node, packet, outward) => {
      if (outward && packet.has(Flag.Retransmission)) repeated.packets++
    },
  })
  return { network, repeated }
}

describe.each([
  ["WRITE", WrOpcode.RdmaWrite],
  ["READ", WrOpcode.RdmaRead],
] as const)("a %s", (_name, opcode) => {
  it.each(rates)("of SRD's queue pairs sends nothing again where nothing is lost, at %s", (rate) => {
    for (const senders of [2, 8]) {
      const { network, repeated } = watched(senders, rate, srdVerbs({ controller: srd() }))
      const ends = srdEnds(network.devices, { bytes: senders * BYTES })
      const target = ends[senders] as SrdEnd
      const requesters = ends.slice(0, senders)
      requesters.forEach((end, id) => {
        const remote = { ...remoteOf(target, id * BYTES), datagram: toEnd(end, ends, senders) }
        end.qp.postSend({ id, opcode, signaled: true, sges: [sgeOf(end, 0, BYTES)], ...remote })
      })
      network.run()
      expect(requesters.map(({ cq }) => cq.pollOne()?.status)).toEqual(new Array(senders).fill(WcStatus.Success))
      expect(repeated.packets).toBe(0)
    }
  })

  it.each(rates)("of eRDMA's queue pairs sends nothing again where nothing is lost, at %s", (rate) => {
    for (const senders of [2, 8]) {
      const { network, repeated } = watched(senders, rate, erdmaVerbs({ controller: hpcc }))
      const { devices } = network
      const requesters = devices.slice(0, senders).map((device, id) => {
        const [here, there] = [makeEnd(device, "rc"), makeEnd(devices[senders]!, "rc")]
        connect(here, there, { pathMtuBytes: 4096 })
        const sges = [{ address: here.mr.address, length: BYTES, lkey: here.mr.lkey }]
        const remote = { remoteAddress: there.mr.address, remoteKey: there.mr.rkey }
        here.qp.postSend({ id, opcode, signaled: true, sges, ...remote })
        return here
      })
      network.run()
      expect(requesters.map((end) => polled(end)[0]?.status)).toEqual(new Array(senders).fill(WcStatus.Success))
      expect(repeated.packets).toBe(0)
    }
  })
})

// A datagram from one device to another, both of this process, each with a UDP socket of its own; and its packets in words.
import { Tracer } from "@rdmakit/codec/cable"
import type { Device } from "@rdmakit/device"
import { Provider } from "@rdmakit/device/layer"
import { Access, QpState, WrOpcode } from "@rdmakit/protocol"
import { layer, type SoftnicOptions } from "@rdmakit/softnic"
import { Effect } from "effect"

const QUEUE_KEY = 0x11111111
const lines: Array<string> = []

const device = (address: string, seed: number): SoftnicOptions => ({
  link: { udp: { address, port: 47_910 } },
  device: { name: `soft${seed}`, seed },
  through: (cable) => new Tracer(cable, (line) => lines.push(line)),
})

/** Memory of 4,096 octets and a queue pair for datagrams, ready to send. */
const open = (device: Device) => {
  const pd = device.allocPd()
  const cq = device.createCq(16)
  const memory = device.allocate(4096)
  const region = pd.regMr({ address: memory.address, length: 4096, access: Access.LocalWrite })
  const capabilities = { maxSendWr: 8, maxRecvWr: 8, maxSendSge: 1, maxRecvSge: 1, maxInlineBytes: 64 }
  const qp = pd.createQp({ type: "ud", sendCq: cq, recvCq: cq, capabilities })
  qp.modify({ state: QpState.Init, pkeyIndex: 0, port: 1, queueKey: QUEUE_KEY })
  qp.modify({ state: QpState.Rtr })
  qp.modify({ state: QpState.Rts, sendPsn: 0 })
  return { device, pd, cq, memory, region, qp }
}

const program = Effect.gen(function* () {
  const { devices } = yield* Provider
  const [from, to] = [open(devices[0]!), open(devices[1]!)]
  to.qp.postRecv({ id: 1, sges: [{ address: to.region.iova, length: 100, lkey: to.region.lkey }] })
  const vector = { port: 1, sourceGidIndex: 0, trafficClass: 0, hopLimit: 64, flowLabel: 0, serviceLevel: 0 }
  const address = from.pd.createAh({ ...vector, destinationGid: to.device.gids[0]!.gid })
  from.qp.postSend({
    id: 2,
    opcode: WrOpcode.Send,
    sges: [],
    inline: new TextEncoder().encode("hello"),
    signaled: false,
    datagram: { address, qpn: to.qp.qpn, queueKey: QUEUE_KEY },
  })
  yield* Effect.callback<void>((resume) => to.cq.arm("next", () => resume(Effect.void)))
  const { byteLength } = to.cq.pollOne()!
  // Forty octets of the network's header come before a datagram's own.
  return { text: new TextDecoder().decode(to.memory.octets.subarray(40, byteLength)), lines }
})

/** { text: "hello", lines: [two: the packet as it left, and as it came] } */
export const said = await Effect.runPromise(
  program.pipe(Effect.provide(layer([device("127.0.0.1", 1), device("127.0.0.2", 2)])), Effect.scoped),
)

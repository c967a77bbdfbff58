// Two queue pairs on one port: one sends whenever it may, the other four packets' time after its last one at the soonest.
import { Endpoints, type NicQueuePair, ReadyListNic } from "@rdmakit/nic"
import { Opcode, Packet, PacketPool } from "@rdmakit/packet"
import { NEVER, type NicPorts, type Time } from "@rdmakit/protocol"

const PACKET_PS = 80e3

/** An engine that has nothing but packets to send, `gapPs` apart; a transport's would stand here. */
const sender = (flow: number, gapPs: Time): NicQueuePair<never, never> => {
  let next = 0
  return {
    node: 0,
    flow,
    priority: 3,
    port: 0,
    place: -1,
    rateChanged: false,
    controlPending: false,
    hasData: true,
    windowBound: false,
    finished: false,
    nextTimeout: NEVER,
    get paceTime() {
      return next
    },
    get nextSend() {
      return next
    },
    command: () => {},
    handlePacket: () => {},
    handleTimeout: () => {},
    timers: undefined,
    lendTimers: () => {},
    handleTimer: () => {},
    pollEvent: () => undefined,
    pollTransmit: (now, out) => {
      out.opcode = Opcode.WriteOnly
      out.flow = flow
      next = now + gapPs
      return true
    },
  }
}

/** A kernel with one port, which is asked for a packet whenever the last one is out. */
const pool = new PacketPool()
let wake = NEVER
const ports: NicPorts = {
  pool,
  policyWords: new Int32Array(32),
  policyAt: () => 0,
  kick: () => {},
  wakeTime: () => wake,
  wakeAt: (_port, time) => {
    wake = time
  },
  timerAt: () => 0,
  cancelTimer: () => {},
}

const endpoints = new Endpoints<never, never>()
const nic = new ReadyListNic({ ports, endpoints, portIds: [0], controlPauseMask: 0, onEvent: () => {} })
for (const each of [sender(0, 0), sender(2, 4 * PACKET_PS)]) {
  endpoints.add(each)
  nic.add(0, each)
}

/** Flows in the order they sent: 0, 2, 0, 0, 0, 0, 2 …; when its time has come, it stands behind the one that was ready */
export const turns = Array.from({ length: 12 }, (_, i) => {
  const packet = new Packet(pool).at(nic.pull(i * PACKET_PS, 0, 0))
  pool.release(packet.handle)
  return packet.flow
})

import type { AddressHandle, Device } from "@rdmakit/device"
import { type Completion, QpState, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { Effect } from "effect"
import { vectorTo } from "../verbs/connected.ts"
import {
  type Complaints,
  drained,
  fillPattern,
  makeSide,
  nextOf,
  type Side,
  sameOctets,
  sgeOf,
  statusName,
  unmakeSide,
} from "./Ends.ts"
import type { DatagramPlan } from "./Plan.ts"

const KEY = 0x1234
const GRH = 40
const MESSAGE = 1024
const SLOTS = 64
const LAST = "20 millis"
const GROUP = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 0, 0, 1])

/**
 * Datagrams among all hosts. They may be lost, come twice and in any order, but only whole, from whom they say, and with the
 * right key.
 *
 * @param clean the network loses and repeats nothing: each comes exactly once
 */
export const runDatagrams = (
  plan: DatagramPlan,
  devices: ReadonlyArray<Device>,
  clean: boolean,
  complaints: Complaints,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { messages } = plan
    const outBytes = messages.length * MESSAGE
    const sides = devices.map((device) =>
      makeSide(device, {
        type: "ud",
        memoryBytes: outBytes + SLOTS * (GRH + MESSAGE),
        sendDepth: messages.length,
        receiveDepth: SLOTS,
        shared: undefined,
      }),
    )
    const handles: Array<AddressHandle> = []
    for (const side of sides) {
      fillPattern(side.memory.allocation.octets, plan.seed, 0, outBytes)
      const { qp } = side
      qp.modify({ state: QpState.Init, pkeyIndex: 0, port: 1, queueKey: KEY })
      for (let id = 0; id < SLOTS; id++) {
        qp.postRecv({ id, sges: [sgeOf(side, outBytes + id * (GRH + MESSAGE), GRH + MESSAGE)] })
      }
      qp.modify({ state: QpState.Rtr })
      qp.modify({ state: QpState.Rts, sendPsn: 0 })
      qp.attachMulticast(GROUP)
    }
    const sent = sides.map(() => 0)
    for (const [index, { from, to, bytes, wrongKey, pauseNs }] of messages.entries()) {
      if (pauseNs > 0) yield* Effect.sleep(`${pauseNs} nanos`)
      const side = sides[from]!
      const vector =
        to < 0 ? { ...vectorTo(side.device), destinationGid: GROUP } : vectorTo(sides[to]!.device, index % 2)
      const address = side.pd.createAh(vector)
      handles.push(address)
      new DataView(side.memory.allocation.octets.buffer).setUint32(index * MESSAGE, index)
      sent[from]!++
      side.qp.postSend({
        id: index,
        signaled: true,
        opcode: index % 3 === 0 ? WrOpcode.SendWithImm : WrOpcode.Send,
        immediate: index,
        sges: [sgeOf(side, index * MESSAGE, bytes)],
        datagram: { address, qpn: to < 0 ? 0xffffff : sides[to]!.qp.qpn, queueKey: wrongKey ? KEY + 1 : KEY },
      })
    }
    for (const [from, side] of sides.entries()) {
      const mine = messages.flatMap((message, index) => (message.from === from ? [index] : []))
      for (const index of mine) {
        const { id, status } = yield* nextOf(side.sendCq)
        complaints.expect(
          id === index && status === WcStatus.Success,
          () => `ud: send ${id} completed with ${statusName(status)}, expected ${index}`,
        )
      }
    }
    yield* Effect.sleep(LAST)
    for (const [host, side] of sides.entries()) {
      checkHost(plan, sides, host, drained(side.recvCq), clean, complaints)
      side.qp.detachMulticast(GROUP)
      side.qp.modify({ state: QpState.Err })
    }
    yield* Effect.sleep("1 millis")
    for (const handle of handles) handle.destroy()
    for (const side of sides) {
      const left = drained(side.recvCq)
      complaints.expect(
        left.every(({ status }) => status === WcStatus.WrFlushErr),
        () => "ud: a receive that was flushed has another status",
      )
      unmakeSide(side)
    }
  })

const checkHost = (
  { messages }: DatagramPlan,
  sides: ReadonlyArray<Side>,
  host: number,
  completions: ReadonlyArray<Completion>,
  clean: boolean,
  complaints: Complaints,
): void => {
  const { octets } = sides[host]!.memory.allocation
  const view = new DataView(octets.buffer)
  const came = messages.map(() => 0)
  for (const { id, status, byteLength, sourceQp, immediate, grh } of completions) {
    const at = messages.length * MESSAGE + id * (GRH + MESSAGE) + GRH
    const index = view.getUint32(at)
    const message = messages[index]
    complaints.expect(
      status === WcStatus.Success && message !== undefined,
      () => `ud: host ${host}: receive ${id} is nobody's`,
    )
    if (message === undefined) continue
    came[index]!++
    const { from, to, bytes, wrongKey } = message
    const what = `ud: host ${host}: message ${index} of host ${from}`
    complaints.expect(to < 0 || to === host, () => `${what} was for host ${to}`)
    complaints.expect(!wrongKey, () => `${what} has another key`)
    complaints.expect(grh && byteLength === GRH + bytes, () => `${what} has ${byteLength} bytes, not ${GRH + bytes}`)
    complaints.expect(sourceQp === sides[from]!.qp.qpn, () => `${what} came from queue pair ${sourceQp}`)
    complaints.expect(immediate === (index % 3 === 0 ? index : undefined), () => `${what} has immediate ${immediate}`)
    const theirs = sides[from]!.memory.allocation.octets
    complaints.expect(sameOctets(octets, at, theirs, index * MESSAGE, bytes), () => `${what}: wrong octets`)
  }
  if (!clean) return
  for (const [index, { to, wrongKey }] of messages.entries()) {
    const expected = !wrongKey && (to < 0 || to === host) ? 1 : 0
    complaints.expect(came[index] === expected, () => `ud: host ${host}: message ${index} came ${came[index]} times`)
  }
}

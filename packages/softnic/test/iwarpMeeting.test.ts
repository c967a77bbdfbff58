import { createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { AsyncEvent } from "@rdmakit/device"
import { NEVER, QpState, WcOpcode, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { afterEach, describe, expect, it } from "vitest"
import { type IwarpDeviceOptions, type IwarpNic, openIwarp, type Softnic } from "../src/index.ts"
import { Endpoint } from "./pair.ts"

const PORT = 21_025 + (process.pid % 300) * 40
const LEFT = "127.0.0.16"
const RIGHT = "127.0.0.17"
const opened: Array<IwarpNic> = []

const open = async (address: string, options: Partial<IwarpDeviceOptions> = {}): Promise<Endpoint> => {
  const nic = await openIwarp({ address, meetingPort: PORT, device: { seed: 1 }, ...options })
  opened.push(nic)
  return new Endpoint(nic as unknown as Softnic, "rc", 0, 4096)
}
afterEach(() => {
  for (const nic of opened.splice(0)) nic.close()
})

const PSN = { psn: 0, peerPsn: 0, timeout: 14 }
/** A peer that nobody is at. */
const nobody = {
  gid: new Uint8Array([...new Array(10).fill(0), 0xff, 0xff, 127, 0, 0, 18]),
  qp: { qpn: 9 },
} as Endpoint

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await sleep(2)
}
const eventsOf = ({ device }: Endpoint): ReadonlyArray<string> => {
  const types: Array<string> = []
  for (let event = device.pollAsyncEvent(); event !== undefined; event = device.pollAsyncEvent())
    types.push((event as AsyncEvent).type)
  return types
}
const drained = ({ cq }: Endpoint) => {
  const told = []
  for (let each = cq.pollOne(); each !== undefined; each = cq.pollOne()) told.push([each.id, each.opcode, each.status])
  return told
}

describe("a queue pair that is connected by number", () => {
  // Of two addresses the lower one's queue pair asks, and the other's waits to be asked.
  it.each([
    ["asks", LEFT, nobody],
    ["is asked", "127.0.0.19", nobody],
  ])("fails when its peer does not come: it %s", async (_role, address, peer) => {
    const end = await open(address, { meetingTimeoutPs: 200e9 })
    end.connect(peer, PSN)
    end.qp.postRecv({ id: 1, sges: [end.sge(0, 8)] })
    end.qp.postSend({ id: 2, opcode: WrOpcode.Send, sges: [end.sge(0, 8)], signaled: true })
    await sleep(20)
    expect([end.qp.state, drained(end)]).toEqual([QpState.Rts, []])
    await until(() => end.qp.state === QpState.Err)
    expect(eventsOf(end)).toEqual(["QP_FATAL"])
    expect(drained(end)).toEqual([
      [2, WcOpcode.Send, WcStatus.WrFlushErr],
      [1, WcOpcode.Recv, WcStatus.WrFlushErr],
    ])
    await sleep(100)
    expect(eventsOf(end)).toEqual([])
  })

  it("is not failed once it is connected, and counts anew after a reset", async () => {
    const left = await open(LEFT, { meetingTimeoutPs: 600e9 })
    const right = await open(RIGHT, { meetingTimeoutPs: 600e9 })
    const exchange = async (id: number): Promise<void> => {
      right.qp.postRecv({ id, sges: [right.sge(0, 8)] })
      left.qp.postSend({ id, opcode: WrOpcode.Send, sges: [left.sge(0, 8)], signaled: true })
      expect((await right.completions(1))[0]!.id).toBe(id)
      expect((await left.completions(1))[0]!.id).toBe(id)
    }
    left.connect(right, PSN)
    right.connect(left, PSN)
    await exchange(1)
    await sleep(700)
    await exchange(2)
    // Both have been connected: a reset takes each from its stream.
    for (const end of [left, right]) end.qp.modify({ state: QpState.Reset })
    right.connect(left, PSN)
    left.connect(right, PSN)
    await exchange(3)
    expect([left, right].map(eventsOf)).toEqual([[], []])
    left.qp.modify({ state: QpState.Reset })
    await until(() => right.qp.state === QpState.Err)
    left.connect(right, PSN)
    await until(() => left.qp.state === QpState.Err)
    expect(eventsOf(left)).toEqual(["QP_FATAL"])
  })

  it("asks a peer that hangs up less and less often", async () => {
    let asked = 0
    const peer = createServer((socket) => {
      asked++
      socket.destroy()
    })
    await new Promise<void>((listening) => peer.listen(PORT, "127.0.0.18", listening))
    const end = await open(LEFT)
    end.connect(nobody, PSN)
    await sleep(1000)
    // At 0, 20, 60, 140, 300, 620 and 940 ms.
    expect(asked).toBeGreaterThan(3)
    expect(asked).toBeLessThan(8)
    peer.close()
  })

  it("waits for as long as it is there where that is asked for", async () => {
    const end = await open(LEFT, { meetingTimeoutPs: NEVER })
    end.connect(nobody, PSN)
    await sleep(100)
    expect([end.qp.state, eventsOf(end)]).toEqual([QpState.Rts, []])
  })

  it.each([0, -1, 999e6, Number.NaN, 3e21])("cannot wait for %d ps", async (meetingTimeoutPs) => {
    await expect(openIwarp({ address: LEFT, meetingPort: PORT, meetingTimeoutPs })).rejects.toThrow(
      `meetingTimeoutPs: found ${meetingTimeoutPs}, expected 1 ms to 2^31 ms in ps, or NEVER`,
    )
  })
})

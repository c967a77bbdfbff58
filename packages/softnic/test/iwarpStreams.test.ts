import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { QpState } from "@rdmakit/protocol"
import { afterAll, afterEach, describe, expect, it, vi } from "vitest"
import { type IwarpNic, openIwarp, type Softnic } from "../src/index.ts"
import { Endpoint } from "./pair.ts"

const PORT = 21_005 + (process.pid % 300) * 40
const HOST = "127.0.0.15"
const opened: Array<IwarpNic> = []
const open = async (): Promise<IwarpNic> => {
  const nic = await openIwarp({ address: HOST, meetingPort: PORT, device: { seed: 1 } })
  opened.push(nic)
  return nic
}
afterAll(() => {
  for (const nic of opened) nic.close()
})

/** What comes back until the other side closes. */
const said = (octets: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const pieces: Array<Buffer> = []
    const socket: Socket = connect({ host: HOST, port: PORT }, () => socket.write(octets))
    socket.on("data", (piece) => pieces.push(piece))
    socket.on("error", reject)
    socket.on("end", () => {
      socket.end()
      resolve(Buffer.concat(pieces))
    })
  })

const request = (revision: number, privateData: Uint8Array): Uint8Array => {
  const header = Buffer.concat([Buffer.from("MPA ID Req Frame"), Buffer.of(0x50, revision, 0, 4 + privateData.length)])
  // Peer to peer by a WRITE of no octets; one READ each way (RFC 6581 §9.1).
  return Buffer.concat([header, Buffer.of(0x80, 1, 0x80, 1), privateData])
}

/** A peer that asks in no words of MPA's, hears that it is over, and keeps its side of the connection. */
const stayer = async (): Promise<Socket> => {
  const socket = connect({ host: HOST, port: PORT, allowHalfOpen: true }, () => socket.write("A".repeat(64)))
  socket.resume()
  await new Promise((resolve) => socket.once("end", resolve))
  return socket
}

/** Whether the other side has let go: it answers what is written with a reset. */
const reset = async (socket: Socket): Promise<boolean> => {
  let said = false
  const hear = (): void => {
    said = true
  }
  socket.on("error", hear)
  for (let tries = 0; tries < 20 && !said; tries++) {
    socket.write("A")
    await sleep(5)
  }
  socket.off("error", hear)
  return said
}

/** No FPDU: no segment is of no octets. */
const WRONG = Buffer.alloc(64)
const PEER_QP = 0x17
const PEER_GID = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 80])

/** A stream that MPA has given to a queue pair which waits for one: private data are "rdmk" and both numbers. */
const given = async (qpn: number): Promise<Socket> => {
  const privateData = Buffer.alloc(12)
  privateData.write("rdmk")
  privateData.writeUInt32BE(qpn, 4)
  privateData.writeUInt32BE(PEER_QP, 8)
  const socket = connect({ host: HOST, port: PORT, localAddress: "127.0.0.80", allowHalfOpen: true })
  socket.write(request(2, privateData))
  const reply = await new Promise<Buffer>((resolve) => socket.once("data", resolve))
  expect([reply.subarray(0, 16).toString(), reply[16]! & 0x20]).toEqual(["MPA ID Rep Frame", 0])
  socket.resume()
  return socket
}

describe("streams of queue pairs", () => {
  it("are nothing to a queue pair that has been reset since", async () => {
    const nic = await open()
    const endpoint = new Endpoint(nic as unknown as Softnic, "rc", 0, 4096)
    const peer = { gid: PEER_GID, qp: { qpn: PEER_QP } } as unknown as Endpoint
    const ready = (): void => {
      endpoint.qp.modify({ state: QpState.Reset })
      endpoint.connect(peer, { psn: 0, peerPsn: 0, timeout: 14 })
    }
    ready()
    const first = await given(endpoint.qp.qpn)
    first.write(WRONG)
    await new Promise((resolve) => first.once("end", resolve))
    expect(endpoint.qp.state).toBe(QpState.Err)
    ready()
    first.write(WRONG)
    await sleep(20)
    const second = await given(endpoint.qp.qpn)
    first.write(WRONG)
    await sleep(20)
    expect(endpoint.qp.state).toBe(QpState.Rts)
    second.write(WRONG)
    await new Promise((resolve) => second.once("end", resolve))
    expect(endpoint.qp.state).toBe(QpState.Err)
    for (const socket of [first, second]) socket.destroy()
    opened.pop()!.close()
  })
})

describe("streams that are none of iWARP's", () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it("are closed, or refused in MPA's words", async () => {
    await open()
    expect((await said(Buffer.from("GET / HTTP/1.1\r\nHost: here\r\n\r\n"))).length).toBeLessThanOrEqual(24)
    // A reply with R, the bit that rejects: who asks is no queue pair.
    const refused = await said(request(2, Buffer.from("nobody")))
    expect(refused.subarray(0, 16).toString()).toBe("MPA ID Rep Frame")
    expect(refused[16]! & 0x20).toBe(0x20)
    const revision = await said(request(7, Buffer.alloc(0)))
    expect(revision[16]! & 0x20).toBe(0x20)
  })

  it("are closed from this side alone when the peer does not", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const socket = await stayer()
    vi.advanceTimersByTime(9_000)
    expect(await reset(socket)).toBe(false)
    vi.advanceTimersByTime(1_000)
    expect(await reset(socket)).toBe(true)
    socket.destroy()
  })

  it("do not outlive the device", async () => {
    const socket = await stayer()
    opened.pop()!.close()
    expect(await reset(socket)).toBe(true)
    socket.destroy()
    await open()
  })

  it("cannot be at a port that somebody has", async () => {
    await expect(openIwarp({ address: HOST, meetingPort: PORT })).rejects.toThrow(/meetingPort: found .*EADDRINUSE/)
    await expect(openIwarp({ address: "nowhere" })).rejects.toThrow("address: found nowhere, expected an address")
  })
})

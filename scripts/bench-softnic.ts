/**
 * What real packets cost: `node --conditions=@rdmakit/source scripts/bench-softnic.ts [--turns N] [--depth N] [--window N]`.
 *
 * Two processes on loopback. Throughput: WRITEs of 64 KiB at path MTU 4,096 against a bare `node:dgram` pump of datagrams
 * of the same size, unbounded and with a window, the quicker of the two. Latency: SENDs of eight bytes there and back
 * against a bare echo of datagrams of the same size. They take turns of a quarter of a second, so that whatever else the
 * machine does meets all of them; the ratios are what to quote. The processor's time at both ends is told as well, which
 * other load moves less.
 */
import { type ChildProcess, fork } from "node:child_process"
import { createSocket, type Socket } from "node:dgram"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { WrOpcode } from "../packages/protocol/src/index.ts"
import { checked, connect, type End, numbersOf, openEnd, type PeerNumbers, watch } from "./bench-softnic/End.ts"
import { cpuUs, Measure } from "./bench-softnic/Measure.ts"

const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "20" },
    role: { type: "string", default: "parent" },
    depth: { type: "string", default: "8" },
    window: { type: "string", default: "128" },
  },
})
const TURN_MS = 250
/** What passes before anything is measured: a device has some code to be compiled, where the pump has next to none. */
const WARM_PACKETS = 150_000
const WARM_ECHOES = 30_000
const WARM_MS_MAX = 90_000
const HERE = "127.0.0.1"
const THERE = "127.0.0.2"
const BUFFER_BYTES = 4 << 20
const MESSAGE_BYTES = 65_536
/** BTH, payload, ICRC. */
const DATAGRAM_BYTES = 12 + 4096 + 4
const SMALL_BYTES = 12 + 8 + 4
/** Datagrams in flight, of the device and of the windowed pump. */
const WINDOW = Number(values.window)
const ACK_EVERY = 64
/** WRITEs posted at once. */
const DEPTH = Number(values.depth)

const socketAt = async (address: string): Promise<Socket> => {
  const lookup = ((host: string, _: unknown, done: (error: null, host: string, family: number) => void) => {
    done(null, host, 4)
  }) as never
  const socket = createSocket({ type: "udp4", recvBufferSize: BUFFER_BYTES, sendBufferSize: BUFFER_BYTES, lookup })
  await new Promise<void>((bound) => {
    socket.bind(0, address, bound)
  })
  return socket
}

interface Said {
  readonly what: string
  readonly value: number
  /** Of the processor, µs since the process began. */
  readonly cpuUs?: number
  readonly peer?: PeerNumbers
}

// --- the child: what receives

const tell = (said: Said): void => {
  process.send!({ ...said, cpuUs: cpuUs() })
}

const child = async (): Promise<void> => {
  process.on("disconnect", () => process.exit(1))
  const pump = await socketAt(THERE)
  let received = 0
  let unacknowledged = 0
  pump.on("message", (octets, from) => {
    if (octets.length === SMALL_BYTES) {
      pump.send(octets, 0, octets.length, from.port, from.address)
      return
    }
    received += octets.length - 16
    if (octets[0] === 1 && ++unacknowledged === ACK_EVERY) {
      unacknowledged = 0
      pump.send(octets, 0, 48, from.port, from.address)
    }
  })
  tell({ what: "pump", value: pump.address().port })
  let end: End | undefined
  const receive = (): void =>
    end!.qp.postRecv({ id: 0, sges: [{ address: end!.region.iova, length: 64, lkey: end!.region.lkey }] })
  process.on("message", async ({ what, peer }: Said) => {
    if (what === "reset") {
      received = 0
      unacknowledged = 0
      tell({ what: "reset", value: 0 })
    } else if (what === "count") tell({ what: "count", value: received })
    else if (what === "open") {
      end = await openEnd(THERE, WINDOW)
      connect(end, HERE, peer!)
      for (let posted = 0; posted < 64; posted++) receive()
      const echo = new Uint8Array(8)
      watch(end, (completion) => {
        checked(completion)
        if (completion.opcode !== 128) return
        receive()
        end!.qp.postSend({ id: 0, opcode: WrOpcode.Send, sges: [], inline: echo, signaled: false })
      })
      tell({ what: "open", value: 0, peer: numbersOf(end) })
    } else if (what === "close") end?.softnic.close()
    else process.exit(0)
  })
}

// --- the parent: what sends and measures

const ask = async (to: ChildProcess, said: Said): Promise<Said> => {
  const answer = once(to, "message")
  to.send(said)
  return ((await answer) as [Said])[0]
}

/** A bare socket that sends datagrams, with a window as the device has it, or without. */
class Pump {
  private readonly to: ChildProcess
  private readonly socket: Socket
  private readonly port: number
  private readonly octets = new Uint8Array(DATAGRAM_BYTES)
  private onMessage: () => void = () => {}

  constructor(to: ChildProcess, socket: Socket, port: number) {
    this.to = to
    this.socket = socket
    this.port = port
    socket.on("message", () => {
      this.onMessage()
    })
  }

  /** Bytes of payload that arrive. */
  async run(windowed: boolean): Promise<readonly [amount: number, ms: number]> {
    await ask(this.to, { what: "reset", value: 0 })
    const { octets, socket, port } = this
    octets[0] = windowed ? 1 : 0
    const start = performance.now()
    await new Promise<void>((done) => {
      let flying = 0
      const over = (): boolean => performance.now() - start >= TURN_MS
      const turn = (): void => {
        for (let sent = 0; sent < 64; sent++) {
          if (windowed && flying >= WINDOW) return
          flying++
          socket.send(octets, 0, DATAGRAM_BYTES, port, THERE)
        }
        if (over()) done()
        else setImmediate(turn)
      }
      this.onMessage = () => {
        const waited = flying >= WINDOW
        flying -= ACK_EVERY
        if (over()) done()
        else if (waited) turn()
      }
      turn()
    })
    const ms = performance.now() - start
    const { value } = await ask(this.to, { what: "count", value: 0 })
    // What is still under way is no part of the next turn.
    await new Promise((resolve) => setTimeout(resolve, 50))
    return [value, ms]
  }

  /** Milliseconds there and back. */
  async echo(times: Array<number>): Promise<void> {
    const { octets, socket, port } = this
    const until = performance.now() + TURN_MS
    await new Promise<void>((done) => {
      let sent = performance.now()
      this.onMessage = () => {
        const now = performance.now()
        times.push(now - sent)
        sent = now
        if (now >= until) done()
        else socket.send(octets, 0, SMALL_BYTES, port, THERE)
      }
      socket.send(octets, 0, SMALL_BYTES, port, THERE)
    })
  }
}

/** The device at this end, connected to the one at the other. */
class Sending {
  readonly end: End
  private readonly peer: PeerNumbers
  private take: () => void = () => {}
  private readonly small = new Uint8Array(8)

  constructor(end: End, peer: PeerNumbers) {
    this.end = end
    this.peer = peer
    watch(end, (completion) => {
      checked(completion)
      this.take()
    })
    this.receive()
    this.receive()
  }

  private receive(): void {
    const { qp, region } = this.end
    qp.postRecv({ id: 0, sges: [{ address: region.iova, length: 64, lkey: region.lkey }] })
  }

  /** Bytes of WRITEs that complete. */
  async write(): Promise<readonly [amount: number, ms: number]> {
    const { qp, region } = this.end
    const work = {
      id: 0,
      opcode: WrOpcode.RdmaWrite,
      sges: [{ address: region.iova, length: MESSAGE_BYTES, lkey: region.lkey }],
      signaled: true,
      remoteAddress: this.peer.address,
      remoteKey: this.peer.key,
    }
    const start = performance.now()
    let done = 0
    await new Promise<void>((finished) => {
      let flying = DEPTH
      this.take = () => {
        done++
        if (performance.now() - start < TURN_MS) qp.postSend(work)
        else if (--flying === 0) finished()
      }
      for (let posted = 0; posted < DEPTH; posted++) qp.postSend(work)
    })
    return [done * MESSAGE_BYTES, performance.now() - start]
  }

  /** Milliseconds there and back. */
  async echo(times: Array<number>): Promise<void> {
    const { qp } = this.end
    const work = { id: 0, opcode: WrOpcode.Send, sges: [], inline: this.small, signaled: false }
    const until = performance.now() + TURN_MS
    await new Promise<void>((finished) => {
      let sent = performance.now()
      this.take = () => {
        const now = performance.now()
        times.push(now - sent)
        sent = now
        this.receive()
        if (now >= until) finished()
        else qp.postSend(work)
      }
      qp.postSend(work)
    })
  }
}

const median = (numbers: ReadonlyArray<number>): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!

const parent = async (): Promise<void> => {
  const args = ["--role", "child", "--window", values.window]
  const to = fork(fileURLToPath(import.meta.url), args, { execArgv: process.execArgv })
  const [{ value: port }] = (await once(to, "message")) as [Said]
  const pump = new Pump(to, await socketAt(HERE), port)
  const end = await openEnd(HERE, WINDOW)
  const { peer } = await ask(to, { what: "open", value: 0, peer: numbersOf(end) })
  connect(end, THERE, peer!)
  const device = new Sending(end, peer!)
  const warmUntil = performance.now() + WARM_MS_MAX
  const warmEchoes: Array<number> = []
  await pump.run(true)
  await pump.echo([])
  while (end.softnic.counters.txPackets < WARM_PACKETS && performance.now() < warmUntil) await device.write()
  while (warmEchoes.length < WARM_ECHOES && performance.now() < warmUntil) await device.echo(warmEchoes)
  const there = async (): Promise<number> => (await ask(to, { what: "count", value: 0 })).cpuUs!
  const [free, windowed, writes] = [new Measure(there), new Measure(there), new Measure(there)]
  const [bareCpu, sendCpu] = [new Measure(there), new Measure(there)]
  const [bare, sends]: [Array<number>, Array<number>] = [[], []]
  let posted = 0
  for (let turn = 0; turn < Number(values.turns); turn++) {
    await free.of(() => pump.run(false))
    await windowed.of(() => pump.run(true))
    const sentBefore = end.softnic.counters.txPackets
    await writes.of(() => device.write())
    posted += end.softnic.counters.txPackets - sentBefore
    await bareCpu.of(() => pump.echo(bare).then(() => [bare.length - bareCpu.amount, 1]))
    await sendCpu.of(() => device.echo(sends).then(() => [sends.length - sendCpu.amount, 1]))
  }
  const rate = (measure: Measure): string => `${(measure.perSecond / 1e6).toFixed(1)} MB/s`
  const best = Math.max(free.perSecond, windowed.perSecond)
  const ratio = writes.perSecond / best
  const again = posted - (writes.amount / MESSAGE_BYTES) * 16
  console.log(
    `pump ${rate(free)}, with a window ${rate(windowed)}; softnic ${rate(writes)}: ${ratio.toFixed(2)} of it (bar 0.60), ${again} packets sent again`,
  )
  const [bareUs, sendUs] = [1000 * median(bare), 1000 * median(sends)]
  console.log(
    `echo ${bareUs.toFixed(1)} us; softnic ${sendUs.toFixed(1)} us: ${(sendUs / bareUs).toFixed(2)} of it (bar 2.00)`,
  )
  console.log(`cpu per datagram: pump ${free.cpu(4096)}, window ${windowed.cpu(4096)}, softnic ${writes.cpu(4096)}`)
  console.log(`cpu per round trip: ${bareCpu.cpu(1)}; softnic ${sendCpu.cpu(1)}`)
  to.send({ what: "end", value: 0 })
  end.softnic.close()
  process.exit(0)
}

await (values.role === "child" ? child() : parent())

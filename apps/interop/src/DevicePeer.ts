import {
  type AddressHandle,
  type Allocation,
  type AsyncEvent,
  type CompletionQueue,
  type Device,
  DeviceError,
  type MemoryRegion,
  type MemoryWindow,
  type ProtectionDomain,
  type QueuePair,
  type SendWork,
  type SharedReceiveQueue,
} from "@rdmakit/device"
import type { Sge, WrOpcode } from "@rdmakit/protocol"
import { completionAnswer, ERRNO, EVENTS } from "./Answers.ts"
import { attributesOf, FieldReader, vectorOf } from "./FieldReader.ts"
import type { Answer, CompletionAnswer, Fields, VerbsPeer } from "./VerbsPeer.ts"

const SIGNALED = 2
const SOLICITED = 4
const INLINE = 8
const FENCE = 1

interface Region {
  readonly region: MemoryRegion
  readonly memory: Allocation
}

/** The octet at a place of a pattern, as `guest/peer.c` computes it. */
export const patternOctet = (at: number, seed: number): number =>
  (at * 7 + Math.floor(at / 256) * 3 + Math.floor(at / 65_536) * 5 + seed) & 0xff

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** The verbs of one of our devices, without Effect: what is tried is the device, its transport and its world. */
export class DevicePeer implements VerbsPeer {
  readonly name: string
  readonly #device: Device
  #domains = new Map<string, ProtectionDomain>()
  #regions = new Map<string, Region>()
  /** Regions whose name another took. */
  #unnamed: Array<Region> = []
  #windows = new Map<string, MemoryWindow>()
  #completions = new Map<string, CompletionQueue>()
  #events = new Map<string, number>()
  #shared = new Map<string, SharedReceiveQueue>()
  #pairs = new Map<string, QueuePair>()
  #handles = new Map<string, AddressHandle>()

  constructor(device: Device, name = device.name) {
    this.#device = device
    this.name = name
  }

  async do(word: string, fields: Fields = {}): Promise<Answer> {
    try {
      return await this.#do(word, new FieldReader(fields))
    } catch (cause) {
      if (!(cause instanceof DeviceError)) throw cause
      return { ok: false, errno: ERRNO[cause.errno] ?? -1, error: cause.message }
    }
  }

  async leave(): Promise<void> {
    for (const qp of this.#pairs.values()) qp.destroy()
    for (const ah of this.#handles.values()) ah.destroy()
    for (const mw of this.#windows.values()) mw.dealloc()
    for (const { region, memory } of [...this.#regions.values(), ...this.#unnamed]) {
      region.dereg()
      this.#device.release(memory)
    }
    for (const srq of this.#shared.values()) srq.destroy()
    for (const cq of this.#completions.values()) cq.destroy()
    for (const pd of this.#domains.values()) pd.dealloc()
    this.#pairs = new Map()
    this.#handles = new Map()
    this.#windows = new Map()
    this.#regions = new Map()
    this.#unnamed = []
    this.#shared = new Map()
    this.#completions = new Map()
    this.#events = new Map()
    this.#domains = new Map()
    while (this.#device.pollAsyncEvent() !== undefined) {
      // What concerned this case.
    }
    const left = Object.entries(this.#device.resources).filter(([, count]) => count !== 0)
    if (left.length > 0) throw new Error(`${this.name}: left behind: ${left.map((one) => one.join(" ")).join(", ")}`)
  }

  async #do(word: string, f: FieldReader): Promise<Answer> {
    switch (word) {
      case "open": {
        const gids = this.#device.gids.map(({ index, gid }) => ({ index, gid: Buffer.from(gid).toString("hex") }))
        return { ok: true, device: this.#device.name, gids }
      }
      case "pd":
        this.#domains.set(f.text("name", "pd"), this.#device.allocPd())
        return OK
      case "cq": {
        const cq = this.#device.createCq(f.number("size", 256))
        this.#completions.set(f.text("name", "cq"), cq)
        return { ok: true, size: cq.capacity }
      }
      case "mr":
        return this.#register(f)
      case "mw": {
        const mw = this.#domain(f).allocMw(f.number("type", 2) as 1 | 2)
        this.#windows.set(f.text("name", "mw"), mw)
        return { ok: true, rkey: mw.rkey }
      }
      case "srq": {
        const limit = f.number("limit", 0)
        const srq = this.#domain(f).createSrq({ maxWr: f.number("size", 64), maxSge: f.number("sges", 4), limit })
        this.#shared.set(f.text("name", "srq"), srq)
        return OK
      }
      case "qp":
        return this.#makeQueuePair(f)
      case "ah":
        this.#handles.set(f.text("name", "ah"), this.#domain(f).createAh(vectorOf(f)))
        return OK
      case "destroy":
        return this.#destroy(f)
      case "modify":
        this.#pair(f).modify(attributesOf(f))
        return OK
      case "query": {
        const qp = this.#pair(f)
        return { ok: true, state: qp.state }
      }
      case "send":
        return this.#send(f)
      case "receive":
        return this.#receive(f)
      case "poll":
        return this.#poll(f)
      case "notify": {
        const name = f.text("cq", "cq")
        find(this.#completions, name).arm(f.number("solicited", 0) === 1 ? "solicited" : "next", () => {
          this.#events.set(name, (this.#events.get(name) ?? 0) + 1)
        })
        return OK
      }
      case "event":
        return this.#event(f)
      case "async":
        return this.#async(f)
      case "attach":
        this.#pair(f).attachMulticast(f.gid())
        return OK
      case "detach":
        this.#pair(f).detachMulticast(f.gid())
        return OK
      default:
        return this.#memory(word, f)
    }
  }

  #domain(f: FieldReader): ProtectionDomain {
    const name = f.text("pd", "pd")
    let pd = this.#domains.get(name)
    if (pd === undefined) {
      pd = this.#device.allocPd()
      this.#domains.set(name, pd)
    }
    return pd
  }

  #pair(f: FieldReader): QueuePair {
    return find(this.#pairs, f.text("qp", "qp"))
  }

  #register(f: FieldReader): Answer {
    const bytes = f.number("bytes", 65_536)
    const memory = this.#device.allocate(Math.max(1, bytes))
    try {
      const access = f.number("access", 15)
      const region = this.#domain(f).regMr({ address: memory.address, length: bytes, access })
      const name = f.text("name", "m")
      const before = this.#regions.get(name)
      if (before !== undefined) this.#unnamed.push(before)
      this.#regions.set(name, { region, memory })
      return { ok: true, lkey: region.lkey, rkey: region.rkey, address: String(memory.address) }
    } catch (cause) {
      this.#device.release(memory)
      throw cause
    }
  }

  #makeQueuePair(f: FieldReader): Answer {
    const cq = f.text("cq", "cq")
    const srq = f.has("srq") ? find(this.#shared, f.text("srq", "")) : undefined
    const qp = this.#domain(f).createQp({
      type: f.text("type", "rc") as "rc" | "uc" | "ud",
      sendCq: find(this.#completions, cq),
      recvCq: find(this.#completions, f.text("rcq", cq)),
      ...(srq === undefined ? {} : { srq }),
      signalAll: f.number("all", 0) === 1,
      capabilities: {
        maxSendWr: f.number("sends", 32),
        maxRecvWr: srq === undefined ? f.number("receives", 32) : 0,
        maxSendSge: f.number("sges", 4),
        maxRecvSge: f.number("rsges", 4),
        maxInlineBytes: f.number("inline", 128),
      },
    })
    this.#pairs.set(f.text("name", "qp"), qp)
    return { ok: true, qpn: qp.qpn }
  }

  #destroy(f: FieldReader): Answer {
    const take = <A>(key: string, map: Map<string, A>, free: (one: A) => void): boolean => {
      if (!f.has(key)) return false
      free(find(map, f.text(key, "")))
      map.delete(f.text(key, ""))
      return true
    }
    const done =
      take("pd", this.#domains, (pd) => pd.dealloc()) ||
      take("mr", this.#regions, ({ region, memory }) => {
        region.dereg()
        this.#device.release(memory)
      }) ||
      take("mw", this.#windows, (mw) => mw.dealloc()) ||
      take("cq", this.#completions, (cq) => cq.destroy()) ||
      take("srq", this.#shared, (srq) => srq.destroy()) ||
      take("qp", this.#pairs, (qp) => qp.destroy()) ||
      take("ah", this.#handles, (ah) => ah.destroy())
    return done ? OK : { ok: false, errno: 22 }
  }

  #sges(f: FieldReader): ReadonlyArray<Sge> {
    const list = f.text("sge", "")
    if (list === "") return []
    return list.split(",").map((one) => {
      const [name, offset = "0", bytes, lkey] = one.split(":")
      const { region } = find(this.#regions, name!)
      return {
        address: region.iova + Number(offset),
        length: bytes === undefined ? region.length : Number(bytes),
        lkey: lkey === undefined ? region.lkey : Number(lkey),
      }
    })
  }

  /** Octets of a list, as a program would give them inline. */
  #gather(sges: ReadonlyArray<Sge>): Uint8Array {
    return Buffer.concat(
      sges.map(({ address, length }) => {
        for (const { memory } of this.#regions.values()) {
          const at = address - memory.address
          if (at >= 0 && at + length <= memory.octets.length) return memory.octets.subarray(at, at + length)
        }
        throw new Error(`${this.name}: no memory at ${address}`)
      }),
    )
  }

  #send(f: FieldReader): Answer {
    const qp = this.#pair(f)
    const opcode = f.number("op", 2) as WrOpcode
    const flags = f.number("flags", SIGNALED)
    const sges = this.#sges(f)
    const octets = Buffer.alloc(8)
    octets.writeBigUInt64LE(BigInt.asUintN(64, f.big("value", 0n)))
    const atomicWrite = opcode === 15
    const work: SendWork = {
      id: f.number("id", 0),
      opcode,
      sges: (flags & INLINE) !== 0 ? [] : sges,
      inline: atomicWrite ? octets : (flags & INLINE) !== 0 ? this.#gather(sges) : undefined,
      signaled: (flags & SIGNALED) !== 0,
      solicited: (flags & SOLICITED) !== 0,
      fence: (flags & FENCE) !== 0,
      remoteAddress: BigInt.asUintN(64, f.big("address", 0n)),
      remoteKey: f.number("rkey", 0),
      immediate: f.number("imm", 0),
      invalidateKey: f.number("inv", 0),
      compareAdd: BigInt.asUintN(64, f.big("add", 0n)),
      swap: BigInt.asUintN(64, f.big("swap", 0n)),
      ...(qp.type === "ud"
        ? {
            datagram: {
              address: find(this.#handles, f.text("ah", "ah")),
              qpn: f.number("peer", 0),
              queueKey: f.number("qkey", 0),
            },
          }
        : {}),
      ...(opcode === 8
        ? {
            bind: {
              window: find(this.#windows, f.text("mw", "mw")),
              remoteKey: f.number("key", 0),
              region: find(this.#regions, f.text("mr", "m")).region,
              address: find(this.#regions, f.text("mr", "m")).region.iova + f.number("offset", 0),
              length: f.number("bytes", find(this.#regions, f.text("mr", "m")).region.length),
              access: f.number("access", 0),
            },
          }
        : {}),
    }
    for (let i = 0; i < f.number("count", 1); i++) qp.postSend({ ...work, id: work.id + i })
    return OK
  }

  #receive(f: FieldReader): Answer {
    const sges = this.#sges(f)
    const target = f.has("srq") ? find(this.#shared, f.text("srq", "")) : undefined
    for (let i = 0; i < f.number("count", 1); i++) {
      const request = { id: f.number("id", 0) + i, sges }
      if (target === undefined) this.#pair(f).postRecv(request)
      else target.post(request)
    }
    return OK
  }

  async #poll(f: FieldReader): Promise<Answer> {
    const cq = find(this.#completions, f.text("cq", "cq"))
    const count = f.number("count", 1)
    const end = performance.now() + f.number("ms", 5000)
    const completions: Array<CompletionAnswer> = []
    for (;;) {
      while (completions.length < count) {
        const one = cq.pollOne()
        if (one === undefined) break
        completions.push(completionAnswer(one))
      }
      if (completions.length >= count || performance.now() > end) return { ok: true, completions }
      await sleep(1)
    }
  }

  async #event(f: FieldReader): Promise<Answer> {
    const name = f.text("cq", "cq")
    const end = performance.now() + f.number("ms", 1000)
    while ((this.#events.get(name) ?? 0) === 0 && performance.now() < end) await sleep(1)
    const count = this.#events.get(name) ?? 0
    this.#events.set(name, Math.max(0, count - 1))
    return { ok: true, event: count > 0 }
  }

  async #async(f: FieldReader): Promise<Answer> {
    await sleep(f.number("ms", 100))
    const events: Array<{ name: string; element: string }> = []
    for (let one = this.#device.pollAsyncEvent(); one !== undefined; one = this.#device.pollAsyncEvent()) {
      events.push({ name: EVENTS[one.type] ?? one.type, element: this.#nameOf(one) })
    }
    return { ok: true, events }
  }

  #nameOf(event: AsyncEvent): string {
    const of = <A>(map: Map<string, A>, one: A) => [...map].find(([, each]) => each === one)?.[0] ?? ""
    if ("qp" in event) return of(this.#pairs, event.qp)
    if ("cq" in event) return of(this.#completions, event.cq)
    return "srq" in event ? of(this.#shared, event.srq) : ""
  }

  #memory(word: string, f: FieldReader): Answer {
    const { octets } = find(this.#regions, f.text("mr", "m")).memory
    const start = f.number("offset", 0)
    const bytes = f.number("bytes", octets.length - start)
    const seed = f.number("seed", 0)
    const origin = f.number("origin", 0)
    switch (word) {
      case "fill":
        for (let i = 0; i < bytes; i++) octets[start + i] = patternOctet(origin + i, seed)
        return OK
      case "clear":
        octets.fill(seed, start, start + bytes)
        return OK
      case "check":
        for (let i = 0; i < bytes; i++) {
          const wanted = patternOctet(origin + i, seed)
          const found = octets[start + i]
          if (found !== wanted) return { ok: true, equal: false, at: i, found, wanted }
        }
        return { ok: true, equal: true }
      case "peek":
        return { ok: true, octets: Buffer.from(octets.subarray(start, start + bytes)).toString("hex") }
      case "poke":
        octets.set(Buffer.from(f.text("octets", ""), "hex"), start)
        return OK
      default:
        throw new Error(`there is no word ${word}`)
    }
  }
}

const OK: Answer = { ok: true }

const find = <A>(map: Map<string, A>, name: string): A => {
  const one = map.get(name)
  if (one === undefined) throw new Error(`there is no ${name}`)
  return one
}

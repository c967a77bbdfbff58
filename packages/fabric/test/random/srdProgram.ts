import { srd } from "@rdmakit/cc-srd"
import { type Completion, QpState, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { efaGenerations, srdVerbs } from "@rdmakit/transport-srd"
import { Random } from "@rdmakit/units"
import { sharedBufferSwitches, VerbsNetwork } from "../../src/index.ts"
import { remoteOf, type SrdEnd, sgeOf, srdEnds, toEnd, unmakeEnd } from "../verbs/srdEnds.ts"
import { Complaints, fillPattern, sameOctets, statusName } from "./Ends.ts"
import { type Plan, planOf } from "./Plan.ts"
import type { SeedOutcome } from "./randomProgram.ts"

const STREAM = 0x737264
const MTU = 1024
const LARGEST = 20_000
const NS = 1000
const MS = 1e9

const kinds = ["send", "write", "writeImm", "read"] as const

interface Message {
  readonly kind: (typeof kinds)[number]
  readonly from: number
  readonly to: number
  readonly bytes: number
  /** Where its octets lie in the area of what is sent, and of what comes. */
  readonly place: number
  /** It goes out in this round. */
  readonly round: number
}

const ROUNDS = 4

const messagesOf = (random: Random, hosts: number): ReadonlyArray<Message> => {
  let place = 0
  return Array.from({ length: 20 + random.int(60) }, () => {
    const kind = kinds[random.int(kinds.length)]!
    const most = kind === "send" ? MTU : LARGEST
    const bytes = random.int(4) === 0 ? random.int(9) : random.int(most + 1)
    const message = { kind, from: random.int(hosts), to: random.int(hosts), bytes, place, round: random.int(ROUNDS) }
    place += bytes
    return message
  })
}

/** Links that go down and come up again, by time. */
const flapsOf = ({ flaps }: Plan) =>
  flaps
    .flatMap(({ link, afterNs, forNs }) => [
      { time: afterNs * NS, link, up: false },
      { time: (afterNs + forNs) * NS, link, up: true },
    ])
    .sort((a, b) => a.time - b.time)

const DOOMED_REQUESTS = 12
const DOOMED_BYTES = 6000

/**
 * Queue pairs beside the others, on the same contexts, that go to ERR in the midst of things, and whose memory goes too:
 * each request ends once, well or flushed.
 */
class Doomed {
  private readonly ends: ReadonlyArray<SrdEnd>
  private readonly random: Random
  private readonly complaints: Complaints

  constructor(network: VerbsNetwork, random: Random, complaints: Complaints) {
    this.ends = srdEnds(network.devices, { bytes: 2 * DOOMED_BYTES })
    this.random = random
    this.complaints = complaints
  }

  post(): void {
    const { ends, random } = this
    for (const end of ends) {
      for (let id = 0; id < DOOMED_REQUESTS; id++) {
        const to = random.int(ends.length)
        const opcode = [WrOpcode.RdmaWrite, WrOpcode.RdmaRead][random.int(2)]!
        const sges = [sgeOf(end, DOOMED_BYTES, 1 + random.int(DOOMED_BYTES))]
        const where = { sges, ...remoteOf(ends[to]!, 0), datagram: toEnd(end, ends, to) }
        end.qp.postSend({ id, signaled: true, opcode, ...where })
      }
    }
  }

  end(): void {
    for (const end of this.ends) {
      end.qp.modify({ state: QpState.Err })
      end.mr.dereg()
    }
  }

  check(): void {
    for (const [host, end] of this.ends.entries()) {
      const ended = new Set<number>()
      for (let one = end.cq.pollOne(); one !== undefined; one = end.cq.pollOne()) {
        const { id, status } = one
        this.complaints.expect(!ended.has(id), () => `doomed request ${id} of host ${host} ended twice`)
        this.complaints.expect(LEGAL.has(status), () => `doomed request ${id} ended with ${statusName(status)}`)
        ended.add(id)
      }
      this.complaints.expect(ended.size === DOOMED_REQUESTS, () => `host ${host}: ${ended.size} doomed requests ended`)
    }
    for (const end of this.ends) unmakeEnd(end, true)
  }
}

const LEGAL: ReadonlySet<WcStatus> = new Set([WcStatus.Success, WcStatus.WrFlushErr])

/** All hosts send to all, in rounds; receives come half a round late, and requests wait for them. */
class Program {
  readonly complaints = new Complaints()
  readonly network: VerbsNetwork
  private readonly doomed: Doomed
  private readonly plan: Plan
  private readonly random: Random
  private readonly messages: ReadonlyArray<Message>
  private readonly ends: ReadonlyArray<SrdEnd>
  private readonly areaBytes: number
  private readonly sent: ReadonlyArray<Array<Completion>>
  private readonly received: ReadonlyArray<Array<Completion>>

  constructor(seed: number) {
    this.plan = planOf(seed)
    this.random = new Random(seed, STREAM)
    const { graph, kernel, lossless } = this.plan
    const controller = srd()
    this.network = new VerbsNetwork({
      graph,
      seed,
      kernel,
      mtuBytes: MTU,
      switches: sharedBufferSwitches({ bufferBytes: 1 << 20, lossless, loadBalancer: "entropy" }),
      controller,
      transport: srdVerbs({ controller, seed, capabilities: efaGenerations.v3 }),
    })
    const { devices } = this.network
    this.doomed = new Doomed(this.network, this.random, this.complaints)
    this.messages = messagesOf(this.random, devices.length)
    this.areaBytes = this.messages.reduce((sum, { bytes }) => sum + bytes, 1)
    this.ends = srdEnds(devices, { bytes: 2 * this.areaBytes + this.messages.length * MTU, rnrRetry: 7 })
    this.sent = devices.map(() => [])
    this.received = devices.map(() => [])
    for (const [host, { memory }] of this.ends.entries()) fillPattern(memory.octets, seed + host, 0, this.areaBytes)
  }

  /** Where a receive's octets go. */
  private slotAt(id: number): number {
    return 2 * this.areaBytes + id * MTU
  }

  run(): void {
    const { network, plan, messages, ends } = this
    // A tenth of the packets are lost on some links.
    for (const [link, impairment] of plan.impairments.entries())
      network.links.impair(link, { ...impairment, loss: 10 * (impairment.loss ?? 0) })
    const flaps = flapsOf(plan)
    for (let round = 0; round < ROUNDS; round++) {
      if (round === 1) this.doomed.post()
      for (const [id, message] of messages.entries()) if (message.round === round) this.post(id, message)
      if (round === 1) {
        this.advance((round + 0.02 * this.random.int(20)) * 0.1 * MS, flaps)
        this.doomed.end()
      }
      // Receives come half a round after what needs them.
      this.advance((round + 0.5) * 0.1 * MS, flaps)
      for (const [id, { kind, to, round: its }] of messages.entries()) {
        if (its !== round || kind === "write" || kind === "read") continue
        const end = ends[to]!
        end.qp.postRecv({ id, sges: [sgeOf(end, this.slotAt(id), MTU)] })
      }
      this.advance((round + 1) * 0.1 * MS, flaps)
    }
    this.advance(Number.POSITIVE_INFINITY, flaps)
    this.collect()
    for (const host of ends.keys()) this.check(host)
    this.doomed.check()
    for (const end of ends) unmakeEnd(end)
    network.run()
    this.checkLeft()
  }

  private advance(until: number, flaps: Array<{ time: number; link: number; up: boolean }>): void {
    const { network } = this
    for (let flap = flaps[0]; flap !== undefined && flap.time <= until; flap = flaps[0]) {
      network.run(flap.time)
      flaps.shift()
      network.links.set(flap.link, flap.up)
    }
    network.run(until)
  }

  private post(id: number, { kind, from, to, bytes, place }: Message): void {
    const { ends, areaBytes, random } = this
    const end = ends[from]!
    const cut = random.int(bytes + 1)
    const at = kind === "read" ? areaBytes + place : place
    const sges = kind === "read" ? [sgeOf(end, at, bytes)] : [sgeOf(end, at, cut), sgeOf(end, at + cut, bytes - cut)]
    const opcode = {
      send: WrOpcode.SendWithImm,
      write: WrOpcode.RdmaWrite,
      writeImm: WrOpcode.RdmaWriteWithImm,
      read: WrOpcode.RdmaRead,
    }[kind]
    const there = remoteOf(ends[to]!, kind === "read" ? place : areaBytes + place)
    end.qp.postSend({ id, signaled: true, opcode, sges, immediate: id, ...there, datagram: toEnd(end, ends, to) })
  }

  private collect(): void {
    for (const [host, { cq, recvCq }] of this.ends.entries()) {
      for (let one = cq.pollOne(); one !== undefined; one = cq.pollOne()) this.sent[host]!.push(one)
      for (let one = recvCq.pollOne(); one !== undefined; one = recvCq.pollOne()) this.received[host]!.push(one)
    }
  }

  /** Each request of a host ended well and once, and its octets are where they belong. */
  private check(host: number): void {
    const { complaints, ends, messages, areaBytes } = this
    const ended = new Map<number, number>()
    for (const { id, status, byteLength } of this.sent[host]!) {
      ended.set(id, (ended.get(id) ?? 0) + 1)
      complaints.expect(status === WcStatus.Success, () => `request ${id} ended with ${statusName(status)}`)
      complaints.expect(byteLength === messages[id]!.bytes, () => `request ${id} tells of ${byteLength} bytes`)
    }
    const told = new Map<number, number>()
    for (const { id: slot, status, immediate, byteLength, sourceQp, sourceGid } of this.received[host]!) {
      const id = immediate ?? -1
      const message = messages[id]
      complaints.expect(status === WcStatus.Success && message?.to === host, () => `host ${host} has message ${id}`)
      if (message === undefined) continue
      told.set(id, (told.get(id) ?? 0) + 1)
      const from = ends[message.from]!
      complaints.expect(byteLength === message.bytes, () => `message ${id} has ${byteLength} bytes`)
      const isFrom = sourceQp === from.qp.qpn && from.device.gids.some(({ gid }) => sameGid(gid, sourceGid))
      complaints.expect(isFrom, () => `message ${id} came from ${sourceQp}`)
      if (message.kind !== "send") continue
      const { octets } = ends[host]!.memory
      const same = sameOctets(octets, this.slotAt(slot), from.memory.octets, message.place, message.bytes)
      complaints.expect(same, () => `message ${id} has other octets`)
    }
    for (const [id, { kind, from, to, bytes, place }] of messages.entries()) {
      if (from === host) complaints.expect(ended.get(id) === 1, () => `request ${id} ended ${ended.get(id)} times`)
      if (to !== host || kind === "read") {
        if (from !== host || kind !== "read") continue
        const same = sameOctets(ends[from]!.memory.octets, areaBytes + place, ends[to]!.memory.octets, place, bytes)
        complaints.expect(same, () => `READ ${id} has other octets`)
        continue
      }
      const expected = kind === "write" ? undefined : 1
      complaints.expect(told.get(id) === expected, () => `message ${id} came ${told.get(id)} times`)
      if (kind === "send") continue
      const same = sameOctets(ends[to]!.memory.octets, areaBytes + place, ends[from]!.memory.octets, place, bytes)
      complaints.expect(same, () => `WRITE ${id} has other octets`)
    }
  }

  private checkLeft(): void {
    const { complaints, network } = this
    for (const [host, { resources }] of network.devices.entries()) {
      const left = Object.entries(resources).filter(([, count]) => count !== 0)
      complaints.expect(left.length === 0, () => `host ${host} has left ${JSON.stringify(Object.fromEntries(left))}`)
    }
    const { pool } = network.kernel
    complaints.expect(network.outstanding().length === 0, () => network.outstanding().join("; "))
    complaints.expect(pool.alive === 0, () => `${pool.alive} packets are left in the pool`)
    complaints.expect(pool.payloads.alive === 0, () => `${pool.payloads.alive} payloads are left in the pool`)
  }
}

const sameGid = (a: Uint8Array, b: Uint8Array | undefined): boolean => b !== undefined && Buffer.compare(a, b) === 0

/** Runs the program of a seed over SRD: every message once, whole, and nothing left behind. */
export const runSrdSeed = (seed: number): SeedOutcome => {
  const program = new Program(seed)
  program.run()
  const { network, complaints } = program
  return { wrong: complaints.lines, digest: network.digest, events: network.kernel.events }
}

import { Cm, type CmAddress, type CmCommand, type CmDatagram } from "@rdmakit/cm"
import type { AddressHandle, Allocation, CompletionQueue, Device, ProtectionDomain, QueuePair } from "@rdmakit/device"
import { DeviceError, GSI_QPN, GSI_QUEUE_KEY } from "@rdmakit/device"
import { Access, type AddressVector, type Completion, NEVER, QpState, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { Duration, Effect, Fiber, Random, type Scope } from "effect"
import { refusalOfCm } from "./CmError.ts"
import type { CmHandler, CmService } from "./CmService.ts"
import { type Resume, waitFor } from "./Mailbox.ts"
import { attempt, type VerbsError } from "./VerbsError.ts"

/** Datagrams that may be on their way, and receives that are posted. */
const SENDS = 64
const RECEIVES = 256
/** Network header and datagram of a receive; sends have the latter alone. */
const GRH_BYTES = 40
const MAD_BYTES = 256
const SLOT_BYTES = 320
/** What a datagram has beyond that lies behind all slots, unread: a receive too short for it would end the queue pair. */
const BIN_BYTES = 4096
const MEMORY_BYTES = (SENDS + RECEIVES) * SLOT_BYTES + BIN_BYTES
/** Numbers of sends; receives have those below. */
const SEND_ID = 1 << 16
const PS_PER_US = 1e6
/** Ephemeral ports, as Linux has them. */
const PORT_FIRST = 32_768
const PORT_COUNT = 28_232
/** How long a port that nobody needs any more waits for answers to its last words. */
const LINGER = "1 second"

/**
 * Connection management of one device: queue pair 1 and its memory, the machine, and the fiber that brings them together. All
 * connection managers of the device share it.
 */
export class CmPort implements CmService {
  readonly device: Device
  readonly pd: ProtectionDomain
  readonly cm: Cm
  users = 1
  /** That of `serve`. */
  fiber: Fiber.Fiber<never> | undefined
  /** Datagrams that could not be sent, because there is no path; the machine repeats what matters. */
  unsent = 0
  private readonly cq: CompletionQueue
  private readonly qp: QueuePair
  private readonly memory: Allocation
  private readonly lkey: number
  private readonly free: () => void
  private readonly handlers = new Map<number, CmHandler>()
  private readonly freeSends: Array<number> = []
  private readonly addresses = new Map<number, AddressHandle>()
  private readonly portStart: number
  private ports = 0
  private flushing = false
  private awake = false
  private resume: Resume<void, never> | undefined
  private onQuiet: (() => void) | undefined

  /** @throws DeviceError */
  constructor(device: Device, seed: number) {
    this.device = device
    this.cm = new Cm({ caGuid: device.nodeGuid, seed })
    this.portStart = seed % PORT_COUNT
    const undo: Array<() => void> = []
    this.free = () => {
      for (let step = undo.pop(); step !== undefined; step = undo.pop()) step()
    }
    try {
      this.memory = device.allocate(MEMORY_BYTES)
      undo.push(() => device.release(this.memory))
      this.pd = device.allocPd()
      undo.push(() => this.pd.dealloc())
      const region = this.pd.regMr({
        address: this.memory.address,
        length: MEMORY_BYTES,
        access: Access.LocalWrite,
      })
      undo.push(() => region.dereg())
      this.lkey = region.lkey
      this.cq = device.createCq(SENDS + RECEIVES)
      undo.push(() => this.cq.destroy())
      this.qp = this.pd.createQp({
        type: "gsi",
        sendCq: this.cq,
        recvCq: this.cq,
        capabilities: { maxSendWr: SENDS, maxRecvWr: RECEIVES, maxSendSge: 1, maxRecvSge: 2, maxInlineBytes: 0 },
      })
      undo.push(() => this.qp.destroy())
      this.qp.modify({ state: QpState.Init, pkeyIndex: 0, queueKey: GSI_QUEUE_KEY })
      this.qp.modify({ state: QpState.Rtr })
      this.qp.modify({ state: QpState.Rts, sendPsn: 0 })
      for (let slot = 0; slot < RECEIVES; slot++) this.postReceive(slot)
      for (let slot = RECEIVES + SENDS - 1; slot >= RECEIVES; slot--) this.freeSends.push(slot)
    } catch (thrown) {
      this.free()
      throw thrown
    }
  }

  /** Tells the machine, and lets it say what it has to. @throws VerbsError */
  command(verb: string, command: CmCommand): number {
    const result = this.cm.command(this.device.world.now, command)
    if (!result.ok) throw refusalOfCm(verb, result)
    this.flush()
    this.wake()
    return result.id
  }

  /** Ends an id, in whatever state it is. */
  close(id: number): void {
    this.handlers.delete(id)
    this.command("rdma_destroy_id", { type: "close", id })
  }

  /** Its events are of no use any more. */
  unhandle(id: number): void {
    this.handlers.delete(id)
  }

  /** Nobody is left who could answer. */
  closeAll(): void {
    for (const id of [...this.handlers.keys()]) this.close(id)
  }

  /** Events of an id, or of a listener's requests, go to this handler. */
  handle(id: number, handler: CmHandler): void {
    this.handlers.set(id, handler)
  }

  opened(): Effect.Effect<void> {
    return Effect.void
  }

  nextPort(): number {
    return PORT_FIRST + ((this.portStart + this.ports++) % PORT_COUNT)
  }

  /** Until the port is given back: what came, what is due, what is to be sent. */
  readonly serve: Effect.Effect<never> = Effect.forever(
    Effect.suspend(() => {
      this.turn()
      if (this.awake) {
        this.awake = false
        return Effect.yieldNow
      }
      const next = this.cm.nextTimeout
      if (next === NEVER) return this.woken
      const micros = Math.max(1, Math.ceil((next - this.device.world.now) / PS_PER_US))
      return Effect.raceFirst(this.woken, Effect.sleep(Duration.micros(BigInt(micros))))
    }),
  )

  private readonly woken = waitFor<void, never>((resume) => {
    this.resume = resume
    return () => {
      this.resume = undefined
    }
  })

  private readonly wake = (): void => {
    const { resume } = this
    if (resume === undefined) {
      this.awake = true
      return
    }
    this.resume = undefined
    resume(() => Effect.void)
  }

  private turn(): void {
    this.cq.arm("next", this.wake)
    for (;;) {
      const completion = this.cq.pollOne()
      if (completion === undefined) break
      if (completion.id >= SEND_ID) this.sent(completion)
      else this.received(completion)
    }
    const { now } = this.device.world
    if (this.cm.nextTimeout <= now) this.cm.handleTimeout(now)
    this.flush()
    if (this.isQuiet) this.onQuiet?.()
  }

  private sent(completion: Completion): void {
    const slot = completion.id - SEND_ID
    this.addresses.get(slot)?.destroy()
    this.addresses.delete(slot)
    this.freeSends.push(slot)
  }

  private received(completion: Completion): void {
    const slot = completion.id
    if (completion.status === WcStatus.Success && completion.byteLength === GRH_BYTES + MAD_BYTES) {
      const octets = this.octetsOf(slot)
      const source = this.sourceOf(completion, octets.subarray(0, GRH_BYTES))
      if (source !== undefined && completion.sourceQp === GSI_QPN)
        this.cm.handleMad(this.device.world.now, octets.subarray(GRH_BYTES, GRH_BYTES + MAD_BYTES), source)
      this.flush()
    }
    if (this.qp.state === QpState.Rts) this.postReceive(slot)
  }

  private octetsOf(slot: number): Uint8Array {
    return this.memory.octets.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES)
  }

  private sgeOf(slot: number, length: number) {
    return { address: this.memory.address + slot * SLOT_BYTES, length, lkey: this.lkey }
  }

  private postReceive(slot: number): void {
    const bin = this.sgeOf(SENDS + RECEIVES, BIN_BYTES)
    this.qp.postRecv({ id: slot, sges: [this.sgeOf(slot, GRH_BYTES + MAD_BYTES), bin] })
  }

  /** Whom an answer would go to; a path is made when there is one. undefined: the port has no address to answer from. */
  private sourceOf(completion: Completion, grh: Uint8Array): CmAddress | undefined {
    try {
      const vector = this.device.answerVector(completion, grh)
      const { destinationGid, sourceGidIndex, trafficClass, hopLimit, flowLabel, serviceLevel } = vector
      const localGid = this.device.queryGid(1, sourceGidIndex).gid
      return { localGid, remoteGid: destinationGid, trafficClass, hopLimit, flowLabel, serviceLevel }
    } catch (thrown) {
      if (thrown instanceof DeviceError) return undefined
      throw thrown
    }
  }

  /** Events to their handlers, datagrams to the queue pair. A handler may give commands: what follows of them comes in its turn. */
  private flush(): void {
    if (this.flushing) return
    this.flushing = true
    try {
      while (this.step()) {}
    } finally {
      this.flushing = false
    }
  }

  private step(): boolean {
    const event = this.cm.pollEvent()
    if (event !== undefined) {
      this.handlers.get("listener" in event ? event.listener : event.id)?.(event)
      return true
    }
    const datagram = this.freeSends.length > 0 ? this.cm.pollTransmit() : undefined
    if (datagram !== undefined) this.post(datagram)
    return datagram !== undefined
  }

  private post({ destination, octets }: CmDatagram): void {
    const slot = this.freeSends.pop()!
    this.octetsOf(slot).set(octets)
    try {
      const address = this.pd.createAh(vectorOf(this.device, destination))
      this.addresses.set(slot, address)
      this.qp.postSend({
        id: SEND_ID + slot,
        opcode: WrOpcode.Send,
        signaled: true,
        sges: [this.sgeOf(slot, MAD_BYTES)],
        datagram: { address, qpn: GSI_QPN, queueKey: GSI_QUEUE_KEY },
      })
    } catch (thrown) {
      if (!(thrown instanceof DeviceError)) throw thrown
      this.unsent++
      this.addresses.get(slot)?.destroy()
      this.addresses.delete(slot)
      this.freeSends.push(slot)
    }
  }

  private get isQuiet(): boolean {
    return this.freeSends.length === SENDS && this.cm.open === 0
  }

  /** Everything that was to be said has been said and heard. */
  private readonly quiet = Effect.suspend(() => {
    if (this.isQuiet) return Effect.void
    return waitFor<void, never>((resume) => {
      this.onQuiet = () => {
        this.onQuiet = undefined
        resume(() => Effect.void)
      }
      return () => {
        this.onQuiet = undefined
      }
    })
  })

  /** For the last user: peers are given time to hear, and to answer. */
  readonly linger: Effect.Effect<void> = Effect.raceFirst(
    Effect.interruptible(this.quiet),
    Effect.interruptible(Effect.sleep(LINGER)),
  )

  end(): void {
    for (const address of this.addresses.values()) address.destroy()
    this.addresses.clear()
    this.free()
  }
}

/** The address of a peer as the device takes it; one that the port has lost is refused there. */
export const vectorOf = (device: Device, address: CmAddress): AddressVector => {
  const { localGid, remoteGid, trafficClass, hopLimit, flowLabel, serviceLevel } = address
  const entry = device.gids.find(({ type, gid }) => type === "rocev2" && gid.every((octet, i) => octet === localGid[i]))
  const sourceGidIndex = entry?.index ?? -1
  return { port: 1, sourceGidIndex, destinationGid: remoteGid, trafficClass, hopLimit, flowLabel, serviceLevel }
}

const shared = new WeakMap<Device, CmPort>()

/** The port of a device, made for the first who needs it and given back by the last. */
export const cmPort = (device: Device): Effect.Effect<CmPort, VerbsError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const seed = yield* Random.nextInt
      const there = shared.get(device)
      if (there !== undefined) {
        there.users++
        return there
      }
      const port = yield* attempt(() => new CmPort(device, seed >>> 0))
      shared.set(device, port)
      port.fiber = yield* Effect.forkDetach(port.serve)
      return port
    }),
    (port) =>
      Effect.gen(function* () {
        if (port.users === 1) {
          port.closeAll()
          yield* port.linger
        }
        port.users--
        if (port.users > 0) return
        shared.delete(device)
        if (port.fiber !== undefined) yield* Fiber.interrupt(port.fiber)
        port.end()
      }),
  )

import {
  type PeerPath,
  type QpSettings,
  QpState,
  type ReceiveRequest,
  type VerbsEngine,
  WrOpcode,
} from "@rdmakit/protocol"
import { unreachable } from "./AddressHandle.ts"
import type { CompletionQueue } from "./CompletionQueue.ts"
import type { Device } from "./Device.ts"
import type { DeviceCore } from "./DeviceCore.ts"
import { DeviceError } from "./DeviceError.ts"
import { checkFields, checkList, wrongType } from "./Given.ts"
import type { MemoryRegion } from "./MemoryRegion.ts"
import { MemoryWindow } from "./MemoryWindow.ts"
import { checkAttributes, checkTransition, checkValues } from "./ModifyChecks.ts"
import type { ProtectionDomain } from "./ProtectionDomain.ts"
import type { QpAttributes, QpCapabilities } from "./QpAttributes.ts"
import { checkQpOptions, DEFAULT_PARTITION, GSI_QPN, GSI_QUEUE_KEY, type QpOptions } from "./QpOptions.ts"
import { type DeviceQpType, qpStateName } from "./QpStateTable.ts"
import type { SharedReceiveQueue } from "./SharedReceiveQueue.ts"
import { checkReceive, checkSend, type SendBounds, type SendWork, sendRequestOf } from "./WorkRequests.ts"

/** What `query` tells: what was set, and how it stands. */
export interface QpQuery {
  /** `state` and `currentState` are the state now. */
  readonly attributes: QpAttributes
  readonly state: QpState
  /** The send queue drains: SQD is not complete. */
  readonly draining: boolean
  readonly type: DeviceQpType
  readonly qpn: number
  readonly capabilities: QpCapabilities
  readonly signalAll: boolean
}

/** What a window of type 1 is bound to (struct ibv_mw_bind). */
export interface WindowBind {
  readonly id: number
  readonly signaled: boolean
  readonly region: MemoryRegion
  readonly address: number
  /** 0 unbinds. */
  readonly length: number
  readonly access: number
}

/** A queue pair as its device keeps it: posted work is checked here and done by the transport's engine. */
export class QueuePair {
  readonly device: Device
  readonly pd: ProtectionDomain
  readonly type: DeviceQpType
  readonly qpn: number
  readonly sendCq: CompletionQueue
  readonly recvCq: CompletionQueue
  readonly srq: SharedReceiveQueue | undefined
  readonly capabilities: QpCapabilities
  readonly signalAll: boolean
  readonly engine: VerbsEngine
  private readonly core: DeviceCore
  private readonly bounds: SendBounds
  private attributes: QpAttributes = {}
  /** Of a connected one, from RTR until RESET. */
  private path: PeerPath | undefined = undefined
  private attachments = 0
  private alive = true

  constructor(core: DeviceCore, pd: ProtectionDomain, options: QpOptions) {
    checkQpOptions(core, pd, options)
    const { type, sendCq, recvCq, srq } = options
    core.resources.claim("queuePairs", core.limits.maxQp, "create_qp")
    const qpn = type === "gsi" ? GSI_QPN : core.nextQpn()
    if (qpn === undefined) {
      core.resources.free("queuePairs")
      throw new DeviceError("ENOMEM", "create_qp", undefined, "all queue pair numbers are taken", "destroy queue pairs")
    }
    const capabilities =
      srq === undefined ? options.capabilities : { ...options.capabilities, maxRecvWr: 0, maxRecvSge: 0 }
    this.core = core
    this.device = pd.device
    this.pd = pd
    this.type = type
    this.qpn = qpn
    this.sendCq = sendCq
    this.recvCq = recvCq
    this.srq = srq
    this.capabilities = { ...capabilities }
    this.signalAll = options.signalAll ?? false
    this.bounds = {
      maxSendSge: capabilities.maxSendSge,
      maxReadSge: core.limits.maxReadSge,
      maxInlineBytes: capabilities.maxInlineBytes,
      maxMessageBytes: core.limits.maxMessageBytes,
    }
    this.engine = core.transport.makeEngine(core.world.now, {
      type: type === "gsi" ? "ud" : type,
      qpn,
      user: { domain: pd.number, qpn },
      memory: core.memory,
      sharedReceives: srq,
      sendMax: capabilities.maxSendWr,
      receiveMax: capabilities.maxRecvWr,
      signalAll: this.signalAll,
    })
    pd.retain()
    sendCq.users += 1
    recvCq.users += 1
    if (srq !== undefined) srq.users += 1
    core.queuePairs.set(qpn, this)
  }

  /** The state now: an error moves it. */
  get state(): QpState {
    return this.engine.state
  }
  /** SQ_DRAINED was asked for. */
  get notifiesDrained(): boolean {
    return this.attributes.enableSqdNotify === true
  }

  /**
   * Changes state and attributes. What is there counts as set in the mask.
   * @throws DeviceError EINVAL, which names the attribute that is missing, forbidden or out of range; EHOSTUNREACH
   */
  modify(attributes: QpAttributes): void {
    this.refuseGone("modify_qp")
    const { engine, core } = this
    checkAttributes(attributes)
    const from = attributes.currentState ?? engine.state
    const to = attributes.state ?? from
    checkTransition(this.type, from, to, attributes)
    if (from !== engine.state) {
      throw new DeviceError(
        "EINVAL",
        "modify_qp",
        "currentState",
        `it is in ${qpStateName(engine.state)}, not ${qpStateName(from)}`,
        "query it, and leave currentState out",
      )
    }
    if (attributes.state !== undefined && engine.draining && to !== QpState.Err) {
      throw new DeviceError(
        "EINVAL",
        "modify_qp",
        "state",
        "the send queue still drains",
        "wait for SQ_DRAINED, or until query says that it no longer drains",
      )
    }
    checkValues(core, attributes)
    const settings = this.settingsOf(attributes)
    engine.command(core.world.now, { type: "modify", state: to, settings })
    if (settings.path !== undefined || to === QpState.Reset) this.keepPath(settings.path)
    this.keep(attributes, to)
    core.kick(engine)
  }

  /** What was set, and how it stands. */
  query(): QpQuery {
    this.refuseGone("query_qp")
    const { engine } = this
    return {
      attributes: { ...this.attributes, state: engine.state, currentState: engine.state },
      state: engine.state,
      draining: engine.draining,
      type: this.type,
      qpn: this.qpn,
      capabilities: this.capabilities,
      signalAll: this.signalAll,
    }
  }

  /**
   * Posts a send. The request and its list are kept, not copied: they must not change until it has completed. Octets of
   * `inline` are copied.
   * @throws DeviceError EINVAL before RTS or when the request is not in order, ENOMEM when the queue is full
   */
  postSend(work: SendWork): void {
    this.refuseGone("post_send")
    const { engine, core } = this
    // IBTA 1.7 §10.8.2: from RTS on; in SQE and ERR requests are flushed.
    if (engine.state < QpState.Rts) throw notReady("post_send", engine.state, "RTS")
    checkSend(this.type, work, this.bounds)
    if (engine.sendOutstanding >= this.capabilities.maxSendWr) {
      throw new DeviceError(
        "ENOMEM",
        "post_send",
        undefined,
        `all ${this.capabilities.maxSendWr} sends are posted`,
        "wait for a completion",
      )
    }
    engine.command(core.world.now, { type: "send", request: sendRequestOf(this, work) })
    core.kick(engine)
  }

  /**
   * Posts sends, all of them or none (ibv_wr_start to ibv_wr_complete). As `postSend` for each.
   * @throws DeviceError EINVAL, ENOMEM when the queue has not room for all
   */
  postSends(works: ReadonlyArray<SendWork>): void {
    this.refuseGone("post_send")
    const { engine, core } = this
    if (engine.state < QpState.Rts) throw notReady("post_send", engine.state, "RTS")
    checkList("post_send", "works", works, "give an array of sends")
    const requests = works.map((work) => {
      checkSend(this.type, work, this.bounds)
      return sendRequestOf(this, work)
    })
    const room = this.capabilities.maxSendWr - engine.sendOutstanding
    if (requests.length > room) {
      throw new DeviceError(
        "ENOMEM",
        "post_send",
        undefined,
        `${requests.length} sends, and room for ${room}`,
        "wait for completions, or post fewer at once",
      )
    }
    for (const request of requests) engine.command(core.world.now, { type: "send", request })
    core.kick(engine)
  }

  /** Posts a receive. It is kept, not copied. @throws DeviceError EINVAL in RESET or with a shared receive queue, ENOMEM */
  postRecv(request: ReceiveRequest): void {
    this.refuseGone("post_recv")
    const { engine, core, capabilities } = this
    if (engine.state < QpState.Init) throw notReady("post_recv", engine.state, "INIT")
    if (this.srq !== undefined) {
      throw new DeviceError("EINVAL", "post_recv", undefined, "it takes from a shared queue", "post there")
    }
    checkReceive("post_recv", request, capabilities.maxRecvSge, core.limits.maxMessageBytes)
    if (engine.receiveOutstanding >= capabilities.maxRecvWr) {
      throw new DeviceError(
        "ENOMEM",
        "post_recv",
        undefined,
        `all ${capabilities.maxRecvWr} receives are posted`,
        "wait for a completion",
      )
    }
    engine.command(core.world.now, { type: "receive", request })
    core.kick(engine)
  }

  /**
   * Posts the bind of a window of type 1 (ibv_bind_mw). @returns the key it will have
   * @throws DeviceError EINVAL, ENOMEM
   */
  bindMw(window: MemoryWindow, bind: WindowBind): number {
    if (!(window instanceof MemoryWindow)) throw wrongType("bind_mw", "window", window, "give a window of allocMw")
    checkFields("bind_mw", "bind", bind, "say what the window is bound to")
    if (window.type !== 1) {
      throw new DeviceError("EINVAL", "bind_mw", "window", "a window of type 2", "post BindMw with a key of your own")
    }
    const { id, signaled, region, address, length, access } = bind
    const remoteKey = window.promise()
    this.postSend({
      id,
      signaled,
      opcode: WrOpcode.BindMw,
      sges: [],
      bind: { window, remoteKey, region, address, length, access },
    })
    return remoteKey
  }

  /** Listens to a multicast group; once more changes nothing. @throws DeviceError EINVAL unless UD, ENOMEM */
  attachMulticast(gid: Uint8Array): void {
    this.refuseGone("attach_mcast")
    this.refuseConnected("attach_mcast")
    if (this.core.groups.attach(gid, this.engine)) this.attachments += 1
  }
  /** @throws DeviceError EINVAL */
  detachMulticast(gid: Uint8Array): void {
    this.refuseGone("detach_mcast")
    this.refuseConnected("detach_mcast")
    this.core.groups.detach(gid, this.engine)
    this.attachments -= 1
  }

  /**
   * Ends it. What was posted is dropped without a completion, and completions nobody has polled go too.
   * @throws DeviceError EBUSY while it listens to a multicast group, EINVAL the second time
   */
  destroy(): void {
    this.refuseGone("destroy_qp")
    // IBTA vol. 1, o10-2.2.3.
    if (this.attachments > 0) {
      throw new DeviceError(
        "EBUSY",
        "destroy_qp",
        undefined,
        `it listens to ${this.attachments} groups`,
        "detach it first",
      )
    }
    const { core, engine } = this
    this.alive = false
    // The engine gives back what it keeps of packets.
    engine.command(core.world.now, { type: "modify", state: QpState.Reset, settings: {} })
    core.world.detach(engine)
    this.keepPath(undefined)
    // What it owed to peers is somebody else's to send.
    if (engine.carrier !== undefined) core.kick(engine)
    core.queuePairs.delete(this.qpn)
    for (const window of core.windows) if (window.qpn === this.qpn) window.unbind()
    this.sendCq.purge(this.qpn)
    this.recvCq.purge(this.qpn)
    this.sendCq.users -= 1
    this.recvCq.users -= 1
    if (this.srq !== undefined) this.srq.users -= 1
    core.events.forget(this)
    core.resources.free("queuePairs")
    this.pd.release()
  }

  /** Moves it to ERR because one of its queues cannot work any more. False: it was there, or in RESET. */
  fail(): boolean {
    if (!this.alive || this.engine.state === QpState.Reset || this.engine.state === QpState.Err) return false
    this.engine.command(this.core.world.now, { type: "modify", state: QpState.Err, settings: {} })
    this.core.kick(this.engine)
    return true
  }

  private settingsOf(attributes: QpAttributes): Partial<QpSettings> {
    const { address } = attributes
    const settings: { -readonly [Name in keyof QpSettings]?: QpSettings[Name] } = {}
    let path: PeerPath | undefined
    if (address !== undefined) {
      path = this.core.world.resolve(address, this.qpn)
      if (path === undefined) throw unreachable("modify_qp", "address", address)
      settings.path = path
    }
    if (attributes.pkeyIndex !== undefined) settings.partition = DEFAULT_PARTITION
    if (attributes.queueKey !== undefined) settings.queueKey = this.type === "gsi" ? GSI_QUEUE_KEY : attributes.queueKey
    if (attributes.receivePsn !== undefined) settings.receivePsn = attributes.receivePsn & 0xffffff
    if (attributes.sendPsn !== undefined) settings.sendPsn = attributes.sendPsn & 0xffffff
    if (attributes.accessFlags !== undefined) settings.accessFlags = attributes.accessFlags
    if (attributes.pathMtuBytes !== undefined) settings.pathMtuBytes = attributes.pathMtuBytes
    // A datagram is one packet: the port's MTU bounds it (IBTA 1.7 §9.8).
    else if (this.type === "ud" || this.type === "gsi" || this.type === "srd")
      settings.pathMtuBytes = this.core.world.link.mtuBytes
    if (attributes.destinationQp !== undefined) settings.destinationQp = attributes.destinationQp
    if (attributes.responderResources !== undefined) settings.responderResources = attributes.responderResources
    if (attributes.initiatorDepth !== undefined) settings.initiatorDepth = attributes.initiatorDepth
    if (attributes.minRnrTimer !== undefined) settings.minRnrTimer = attributes.minRnrTimer
    if (attributes.timeout !== undefined) settings.timeout = attributes.timeout
    if (attributes.retryCount !== undefined) settings.retryCount = attributes.retryCount
    if (attributes.rnrRetry !== undefined) settings.rnrRetry = attributes.rnrRetry
    return settings
  }

  private keepPath(path: PeerPath | undefined): void {
    if (this.path !== undefined) this.core.world.release?.(this.path)
    this.path = path
  }

  private keep(attributes: QpAttributes, to: QpState): void {
    if (to === QpState.Reset) {
      this.attributes = {}
      return
    }
    const kept: { -readonly [Name in keyof QpAttributes]: QpAttributes[Name] } = { ...this.attributes }
    Object.assign(kept, Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)))
    if (attributes.receivePsn !== undefined) kept.receivePsn = attributes.receivePsn & 0xffffff
    if (attributes.sendPsn !== undefined) kept.sendPsn = attributes.sendPsn & 0xffffff
    this.attributes = kept
  }

  private refuseGone(verb: string): void {
    if (!this.alive) throw new DeviceError("EINVAL", verb, undefined, "the queue pair is gone", "make another")
  }

  private refuseConnected(verb: string): void {
    if (this.type === "ud") return
    throw new DeviceError("EINVAL", verb, undefined, `${this.type} has no multicast`, "use a UD queue pair")
  }
}

const notReady = (verb: string, state: QpState, from: string): DeviceError =>
  new DeviceError("EINVAL", verb, undefined, `the queue pair is in ${qpStateName(state)}`, `modify it to ${from} first`)

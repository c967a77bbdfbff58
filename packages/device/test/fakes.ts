import { PacketPool } from "@rdmakit/packet"
import {
  type Adapter,
  type AddressVector,
  type Completion,
  type GidEntry,
  NEVER,
  type PeerPath,
  QpState,
  type Time,
  type VerbsCommand,
  type VerbsEngine,
  type VerbsEngineOptions,
  type VerbsTransport,
  WcOpcode,
  WcStatus,
  type World,
} from "@rdmakit/protocol"
import {
  type CompletionQueue,
  Device,
  type DeviceError,
  type DeviceOptions,
  type ProtectionDomain,
  type QpOptions,
  type QueuePair,
} from "../src/index.ts"

/** An engine that remembers what it was told, and does as the test says. */
export class FakeEngine implements VerbsEngine {
  readonly options: VerbsEngineOptions
  readonly type: VerbsEngine["type"]
  readonly qpn: number
  readonly commands: Array<VerbsCommand> = []
  state: QpState = QpState.Reset
  sendOutstanding = 0
  receiveOutstanding = 0
  draining = false
  readonly flow = -1
  readonly node = 0
  readonly priority = 0
  readonly controlPending = false
  readonly hasData = false
  readonly windowBound = false
  readonly paceTime = NEVER
  readonly nextSend = NEVER
  readonly nextTimeout = NEVER
  readonly finished = true
  readonly timers = undefined

  constructor(options: VerbsEngineOptions) {
    this.options = options
    this.type = options.type
    this.qpn = options.qpn
  }
  command(_now: Time, command: VerbsCommand): void {
    this.commands.push(command)
    if (command.type === "modify") this.state = command.state
    if (command.type === "send") this.sendOutstanding += 1
    if (command.type === "receive") this.receiveOutstanding += 1
  }
  handlePacket(): void {}
  handleTimeout(): void {}
  pollTransmit(): boolean {
    return false
  }
  pollEvent(): undefined {
    return undefined
  }
  lendTimers(): void {}
  handleTimer(): void {}
}

export const gidOf = (last: number): Uint8Array => {
  const gid = new Uint8Array(16)
  gid[10] = 0xff
  gid[11] = 0xff
  gid.set([10, 0, 0, last], 12)
  return gid
}

export class FakeWorld implements World {
  now = 1000
  gids: ReadonlyArray<GidEntry> = [
    { index: 0, gid: gidOf(9), type: "rocev1" },
    { index: 1, gid: gidOf(9), type: "rocev2" },
  ]
  link = { lineRateBps: 25e9, mtuBytes: 1024, up: true }
  adapter: Adapter | undefined
  readonly kicked: Array<VerbsEngine> = []
  readonly detached: Array<VerbsEngine> = []
  readonly groups: Array<string> = []
  resolved = 0
  released = 0
  attach(adapter: Adapter): void {
    this.adapter = adapter
  }
  resolve(vector: AddressVector, qpn: number): PeerPath | undefined {
    this.resolved += 1
    if (vector.destinationGid[15] === 0) return undefined
    return {
      node: 1,
      peer: 2,
      flow: 3,
      udpSourcePort: 0xc000 + qpn,
      trafficClass: vector.trafficClass,
      hopLimit: vector.hopLimit,
      flowLabel: vector.flowLabel,
      priority: vector.serviceLevel,
      sourceGid: gidOf(9),
      destinationGid: vector.destinationGid,
      lineRateBps: 25e9,
      baseRttPs: 1e6,
    }
  }
  release(): void {
    this.released += 1
  }
  kick(engine: VerbsEngine): void {
    this.kicked.push(engine)
  }
  detach(engine: VerbsEngine): void {
    this.detached.push(engine)
  }
  joinGroup(gid: Uint8Array): void {
    this.groups.push(`+${gid.join(".")}`)
  }
  leaveGroup(gid: Uint8Array): void {
    this.groups.push(`-${gid.join(".")}`)
  }
}

const transport: VerbsTransport = {
  types: ["rc", "uc", "ud", "srd"],
  makeEngine: (_now, options) => new FakeEngine(options),
}

export const capabilities = { maxSendWr: 4, maxRecvWr: 4, maxSendSge: 2, maxRecvSge: 2, maxInlineBytes: 64 }
export const vector: AddressVector = {
  port: 1,
  sourceGidIndex: 1,
  destinationGid: gidOf(7),
  trafficClass: 0,
  hopLimit: 64,
  flowLabel: 0,
  serviceLevel: 0,
}

export interface Lab {
  readonly world: FakeWorld
  readonly device: Device
  readonly pd: ProtectionDomain
  readonly cq: CompletionQueue
  readonly pool: PacketPool
  readonly qp: (options?: Partial<QpOptions>) => QueuePair
}

/** A device in a world that does nothing by itself. */
export const lab = (options: DeviceOptions = {}): Lab => {
  const world = new FakeWorld()
  const device = new Device(world, transport, options)
  const pd = device.allocPd()
  const cq = device.createCq(16)
  return {
    world,
    device,
    pd,
    cq,
    pool: new PacketPool(),
    qp: (some = {}) => pd.createQp({ type: "rc", sendCq: cq, recvCq: cq, capabilities, ...some }),
  }
}

export const engineOf = (qp: QueuePair): FakeEngine => qp.engine as FakeEngine

export const completionOf = (qp: QueuePair, id: number, more: Partial<Completion> = {}): Completion => ({
  id,
  status: WcStatus.Success,
  opcode: WcOpcode.Send,
  byteLength: 0,
  immediate: undefined,
  invalidatedKey: undefined,
  qpn: qp.qpn,
  sourceQp: 0,
  grh: false,
  vendorError: 0,
  ...more,
})

/** A completion as the world hands it over. */
export const complete = (
  at: Lab,
  qp: QueuePair,
  id: number,
  solicited = false,
  queue: "send" | "receive" = "send",
): void =>
  at.device.handleEvent(at.world.now, qp.engine, {
    type: "completion",
    queue,
    solicited,
    completion: completionOf(qp, id),
  })

/** What a verb says when it refuses: errno, and the attribute. */
export const refusal = (call: () => unknown): { readonly errno: string; readonly attribute: string | undefined } => {
  try {
    call()
  } catch (cause) {
    const { _tag, errno, attribute, problem, remedy } = cause as DeviceError
    if (_tag !== "DeviceError") throw cause
    if (problem === "" || remedy === "") throw new Error("a refusal says what is wrong, and what to do")
    return { errno, attribute }
  }
  throw new Error("it was not refused")
}

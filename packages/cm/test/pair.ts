import { NEVER, type Time } from "@rdmakit/protocol"
import { Random } from "@rdmakit/units"
import { serviceIdOf } from "@rdmakit/wire/cm"
import {
  Cm,
  type CmAddress,
  type CmCommand,
  type CmConnect,
  type CmDatagram,
  type CmEvent,
  type CmLimits,
  type CmRoute,
} from "../src/index.ts"

/** An IPv4 address as a GID. */
export const gidOf = (a: number, b: number, c: number, d: number): Uint8Array =>
  Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d)

export const clientGid = gidOf(10, 0, 0, 1)
export const serverGid = gidOf(10, 0, 0, 2)
export const clientGuid = 0x5054_00ff_fe00_0001n
export const serverGuid = 0x5054_00ff_fe00_0002n
export const service = serviceIdOf(6, 7174)

export const route: CmRoute = {
  localGid: clientGid,
  remoteGid: serverGid,
  flowLabel: 0x7a568,
  trafficClass: 0,
  hopLimit: 64,
  serviceLevel: 0,
  rate: 0,
  partition: 0xffff,
  mtuBytes: 1024,
  packetLifetime: 18,
}

/** What rping asks for. */
export const connect: CmConnect = {
  type: "connect",
  serviceId: service,
  route,
  transport: "rc",
  qpn: 0x29,
  psn: 0x0da406,
  responderResources: 1,
  initiatorDepth: 1,
  retries: 7,
  rnrRetries: 7,
  ip: { version: 4, sourcePort: 0xc25e, source: 0x0a000001, destination: 0x0a000002 },
}

export const accept = {
  type: "accept",
  qpn: 0x28,
  psn: 0x6b8cd4,
  responderResources: 1,
  initiatorDepth: 1,
  rnrRetries: 7,
} as const

export const SECOND_PS = 1e12
const DELAY_PS = 10e6

export interface Network {
  readonly loss: number
  readonly duplication: number
  /** Share of datagrams that arrive up to a second late. */
  readonly lateness: number
}

const CLEAN: Network = { loss: 0, duplication: 0, lateness: 0 }

const sameGid = (a: Uint8Array, b: Uint8Array): boolean => a.every((octet, index) => octet === b[index])

/** The same address, from the other end. */
export const mirror = ({ localGid, remoteGid, ...rest }: CmAddress): CmAddress => ({
  ...rest,
  localGid: remoteGid,
  remoteGid: localGid,
})

/** One end: its machine, and every event it has told. */
export class End {
  readonly cm: Cm
  readonly events: Array<CmEvent> = []
  /** What it does about events, beside keeping them. */
  react: (event: CmEvent) => void = () => {}

  constructor(caGuid: bigint, seed: number, limits: Partial<CmLimits>) {
    this.cm = new Cm({ caGuid, seed, limits })
  }

  types(): ReadonlyArray<CmEvent["type"]> {
    return this.events.map(({ type }) => type)
  }

  last<T extends CmEvent["type"]>(type: T): Extract<CmEvent, { type: T }> {
    const event = this.events.findLast((one) => one.type === type)
    if (event === undefined) throw new Error(`no event ${type} among ${this.types()}`)
    return event as Extract<CmEvent, { type: T }>
  }
}

interface InFlight {
  readonly time: Time
  readonly order: number
  readonly to: End
  readonly datagram: CmDatagram
}

/** Two machines and what is between them, in virtual time. */
export class Pair {
  now: Time = 0
  readonly client: End
  readonly server: End
  /** Every datagram that was sent, lost ones too. */
  readonly wire: Array<CmDatagram & { readonly from: End; readonly time: Time }> = []
  network: Network
  /** Datagrams it is true for are lost. */
  drop: (octets: Uint8Array, from: End) => boolean = () => false
  private readonly random: Random
  private inFlight: Array<InFlight> = []
  private orders = 0

  constructor(options: { seed?: number; network?: Network; limits?: Partial<CmLimits> } = {}) {
    const { seed = 1, network = CLEAN, limits = {} } = options
    this.random = new Random(seed, 77)
    this.network = network
    this.client = new End(clientGuid, 2 * seed, limits)
    this.server = new End(serverGuid, 2 * seed + 1, limits)
  }

  /** Does a command that has to be done, and gives its id. */
  do(end: End, command: CmCommand): number {
    const result = end.cm.command(this.now, command)
    if (!result.ok) throw new Error(result.message)
    this.drain(end)
    return result.id
  }

  private drain(end: End): void {
    for (let datagram = end.cm.pollTransmit(); datagram !== undefined; datagram = end.cm.pollTransmit())
      this.carry(end, datagram)
    for (let event = end.cm.pollEvent(); event !== undefined; event = end.cm.pollEvent()) {
      end.events.push(event)
      end.react(event)
    }
  }

  private carry(from: End, datagram: CmDatagram): void {
    this.wire.push({ ...datagram, from, time: this.now })
    const to = sameGid(datagram.destination.remoteGid, serverGid) ? this.server : this.client
    if (this.drop(datagram.octets, from) || this.chance(this.network.loss)) return
    const copies = this.chance(this.network.duplication) ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      const late = this.chance(this.network.lateness) ? Math.floor((this.random.bits() / 2 ** 32) * SECOND_PS) : 0
      this.inFlight.push({ time: this.now + DELAY_PS + late, order: this.orders++, to, datagram })
    }
    this.inFlight.sort((a, b) => a.time - b.time || a.order - b.order)
  }

  private chance(share: number): boolean {
    return share > 0 && this.random.bits() / 2 ** 32 < share
  }

  get nextTime(): Time {
    const arrival = this.inFlight[0]?.time ?? NEVER
    return Math.min(arrival, this.client.cm.nextTimeout, this.server.cm.nextTimeout)
  }

  /** Runs until nothing is due before `end`, or for ever. */
  run(end: Time = NEVER): void {
    while (this.nextTime <= end && this.nextTime !== NEVER) {
      this.now = this.nextTime
      const arrival = this.inFlight[0]
      if (arrival !== undefined && arrival.time === this.now) {
        this.inFlight.shift()
        arrival.to.cm.handleMad(this.now, arrival.datagram.octets, mirror(arrival.datagram.destination))
        this.drain(arrival.to)
        continue
      }
      for (const one of [this.client, this.server]) {
        if (one.cm.nextTimeout > this.now) continue
        one.cm.handleTimeout(this.now)
        this.drain(one)
      }
    }
    if (end !== NEVER) this.now = end
  }

  /** An established connection: the ids of both ends. */
  establish(command: CmConnect = connect): { readonly client: number; readonly server: number } {
    this.do(this.server, { type: "listen", serviceId: service })
    this.server.react = (event) => {
      if (event.type === "request") this.do(this.server, { ...accept, id: event.id })
    }
    this.client.react = (event) => {
      if (event.type === "reply") this.do(this.client, { type: "ready", id: event.id })
    }
    const client = this.do(this.client, command)
    this.run(this.now + SECOND_PS)
    return { client, server: this.server.last("established").id }
  }
}

import { hash32, Random } from "@rdmakit/units"
import type { EfaRdmAddress, EfaRdmTarget } from "@rdmakit/wire/efa-rdm"
import { MemoryTable, RdmEndpoint, type RdmEvent, type RdmOptions } from "../src/index.ts"

/** One thing on its way: a packet or an RDMA operation, or the completion of one. */
interface Flight {
  readonly due: number
  readonly order: number
  readonly land: () => void
}

export interface Host {
  readonly number: number
  readonly endpoint: RdmEndpoint
  readonly memory: MemoryTable
  readonly events: Array<RdmEvent>
}

export interface NetworkOptions {
  readonly seed: number
  readonly hosts: ReadonlyArray<Partial<RdmOptions>>
  /** Steps that a packet may take, at most. 0: it arrives in order. */
  readonly delayMax?: number
  /** Says no to an RDMA READ of host `from`, by a number below 1,000. */
  readonly refuses?: (from: number, draw: number) => boolean
  /** Receivers do not tell who sends: they know it by the raw address. */
  readonly anonymous?: boolean
  /** Sees each packet as it is sent. */
  readonly watch?: (from: number, to: number, packet: Uint8Array) => void
  readonly mtuBytes?: number
}

export const addressOf = (number: number): EfaRdmAddress => ({
  gid: new Uint8Array(16).fill(number + 1),
  qpn: number + 1,
  connid: hash32(77, number, 0),
})

/**
 * A datagram service as SRD's: reliable, at most once, in an order that the seed shuffles. RDMA runs on the peer's memory
 * without its endpoint. A packet that an endpoint has no room for is handed in again.
 */
export class Network {
  readonly hosts: ReadonlyArray<Host>
  private readonly options: NetworkOptions
  private readonly random: Random
  private flights: Array<Flight> = []
  private held: Array<{ readonly host: Host; readonly from: number; readonly octets: Uint8Array }> = []
  private now = 0
  private launched = 0
  private readonly dead = new Set<number>()

  constructor(options: NetworkOptions) {
    this.options = options
    this.random = new Random(options.seed, 1)
    this.hosts = options.hosts.map((each, number) => {
      const memory = (each.memory as MemoryTable | undefined) ?? new MemoryTable()
      const peerOf = ({ qpn }: EfaRdmAddress) => (qpn <= options.hosts.length ? qpn - 1 : undefined)
      const endpoint = new RdmEndpoint({
        address: addressOf(number),
        mtuBytes: options.mtuBytes ?? 1024,
        peerOf,
        ...each,
        memory,
      })
      return { number, endpoint, memory, events: [] }
    })
  }

  /** Packets that no endpoint has taken yet. */
  get heldBack(): number {
    return this.held.length
  }

  /** From now on a host answers nothing. */
  kill(number: number): void {
    this.dead.add(number)
  }

  /** Runs until nothing is on its way, or `limit` steps; returns whether it came to rest. */
  run(limit = 200_000): boolean {
    for (let step = 0; step < limit; step++) {
      for (const host of this.hosts) this.drain(host)
      this.offerHeld()
      if (this.flights.length === 0) return true
      this.now++
      const due = this.flights.filter((flight) => flight.due <= this.now)
      if (due.length === 0) continue
      this.flights = this.flights.filter((flight) => flight.due > this.now)
      due.sort((a, b) => a.order - b.order)
      for (const flight of due) flight.land()
    }
    return false
  }

  private drain(host: Host): void {
    const { endpoint, events, number } = host
    for (let request = endpoint.pollTransmit(); request !== undefined; request = endpoint.pollTransmit()) {
      const { token, kind, peer, local, remote } = request
      if (this.dead.has(peer)) {
        this.launch(() => endpoint.handleCompletion(token, "unreachable"))
        continue
      }
      const target = this.hosts[peer]!
      if (kind === "send") {
        const octets = request.packet.slice(0, request.bytes)
        this.options.watch?.(number, peer, octets)
        this.launch(() => this.deliver(target, number, octets))
        this.launch(() => endpoint.handleCompletion(token, "done"))
      } else this.launch(() => this.rdma(host, target, kind, token, local, remote))
    }
    for (let event = endpoint.pollEvent(); event !== undefined; event = endpoint.pollEvent()) events.push(event)
  }

  private rdma(
    host: Host,
    target: Host,
    kind: "read" | "write",
    token: number,
    local: Uint8Array,
    remote: EfaRdmTarget,
  ): void {
    const { refuses } = this.options
    const memory = target.memory.resolve(remote, kind)
    if (memory === undefined || (kind === "read" && refuses?.(host.number, this.random.int(1000)))) {
      host.endpoint.handleCompletion(token, "refused")
      return
    }
    if (kind === "read") local.set(memory)
    else memory.set(local)
    host.endpoint.handleCompletion(token, "done")
  }

  private deliver(host: Host, from: number, octets: Uint8Array): void {
    if (this.dead.has(host.number)) return
    if (!host.endpoint.handlePacket(this.options.anonymous ? undefined : from, octets))
      this.held.push({ host, from, octets })
  }

  private offerHeld(): void {
    const { held } = this
    this.held = []
    for (const { host, from, octets } of held) this.deliver(host, from, octets)
    if (held.length > 0) for (const host of this.hosts) this.drain(host)
  }

  private launch(land: () => void): void {
    const { delayMax = 40 } = this.options
    const delay = delayMax === 0 ? 0 : this.random.int(delayMax)
    const flight = { due: this.now + 1 + delay, order: this.launched++, land }
    this.flights.push(flight)
  }
}

/** Octets that tell themselves apart by their seed. */
export const pattern = (bytes: number, seed: number): Uint8Array => {
  const words = new Uint32Array((bytes + 3) >> 2)
  let word = hash32(seed, bytes, 0)
  for (let at = 0; at < words.length; at++) {
    word = (Math.imul(word, 1_664_525) + 1_013_904_223) >>> 0
    words[at] = word ^ (word >>> 16)
  }
  return new Uint8Array(words.buffer, 0, bytes)
}
